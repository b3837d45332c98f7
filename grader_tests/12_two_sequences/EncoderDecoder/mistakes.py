"""Known mistakes in `EncoderDecoder`."""

from ...shared.families import gradients, masks, numbers
from .contract import encoder_decoder

PLAIN, PADDED, HALVES, ONCE, PARTS = "logits without", "the padding", "encode and", "the encoder", "both are"

right = encoder_decoder.reference_answer("""
class EncoderDecoder(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def encode(self, source, source_mask=None):
        memory = self.encoder(source, source_mask)
        return memory

    def decode(self, targets_in, memory, source_mask=None):
        logits = self.decoder(targets_in, memory, source_mask)
        return logits

    def forward(self, source, targets_in, source_mask=None):
        return self.decode(targets_in, self.encode(source, source_mask), source_mask)
""")

right.mistake(
    "HidesThePaddingFromTheEncoder", {"self.encoder(source, source_mask)": "self.encoder(source, None)"}, loses=PADDED
).feedback("You do not pass `source_mask` to the encoder, so real words attend to padding as if it were words.")
right.mistake("HidesThePaddingFromTheDecoder", {"memory, source_mask)\n": "memory, None)\n"}, loses=PADDED).feedback(
    "You do not pass `source_mask` to the decoder, so it looks at padding in the source."
)
right.mistake(
    "ForgetsThePaddingInForward", {"self.encode(source, source_mask), source_mask": "self.encode(source)"}, loses=PADDED
).feedback("Your `forward` takes a mask but passes it to neither half.")
right.mistake(
    "ForgetsThePaddingInOneHalf", {"(source, source_mask), source_mask": "(source, source_mask)"}, loses=PADDED
).feedback("Your `forward` passes the mask only to the encoder. The decoder looks at the source, too, and needs it.")
right.mistake(
    masks.lost("LosesTheMaskInAMode", when="in every mode, eval or training"),
    {"self.encoder(source, source_mask)": "self.encoder(source, source_mask if MODE else None)"},
    loses=PADDED,
).for_each(MODE=("self.training", "not self.training"))
right.mistake(gradients.cut("LearnsInTrainingModeOnly", what="the encoder in eval mode"), loses=PARTS).patch("""
- memory = self.encoder(source, source_mask)
+ with torch.set_grad_enabled(self.training):
+     memory = self.encoder(source, source_mask)
""")
right.mistake("InvertsTheMask", loses=PADDED).patch("""
- memory = self.encoder(source, source_mask)
+ memory = self.encoder(source, None if source_mask is None else ~source_mask)
""").feedback("You invert the mask before the encoder gets it. Pass it on as it is: True where padded.")
right.mistake("InvertsTheMaskForTheDecoder", loses=PADDED).patch("""
- logits = self.decoder(targets_in, memory, source_mask)
+ logits = self.decoder(targets_in, memory, None if source_mask is None else ~source_mask)
""").feedback("You invert the mask before the decoder gets it. Pass it on as it is: True where padded.")
right.mistake(
    "HandsTheMemoryOverFirst", {"(targets_in, memory": "(memory, targets_in"}, loses=(PLAIN, HALVES)
).feedback(
    "You pass the memory to the decoder first. The targets come first: `decoder(targets_in, memory, source_mask)`."
)
right.mistake("ExchangesSourceAndTargets", {"source, targets_in": "targets_in, source"}, loses=PLAIN).feedback(
    "You swap source and targets. The order is `forward(source, targets_in)`; only in `decode` do the targets come "
    "first."
)
right.mistake("DecodesTheSource", {"self.decode(targets_in, self": "self.decode(source, self"}, loses=PLAIN).feedback(
    "You give the source to the decoder as its input. It reads `targets_in`; it knows the source only through the "
    "memory."
)
right.mistake(
    "ShiftsOnceMore", {"self.decoder(targets_in,": "self.decoder(targets_in.roll(1, 1),"}, loses=(PLAIN, HALVES)
).feedback(
    "You shift the targets. The caller has already done that with `teacher_inputs`. After two shifts the decoder "
    "has to predict each word without having read the word before it."
)
right.mistake(
    "GivesProbabilities", {"        return logits": "        return logits.softmax(-1)"}, loses=(PLAIN, HALVES)
).feedback("You return probabilities. The loss takes logits and applies its own softmax.")
right.mistake(
    "GivesLogProbabilities", {"        return logits": "        return logits.log_softmax(-1)"}, loses=(PLAIN, HALVES)
).feedback("You return log-probabilities. The exercise asks for the logits, as the decoder returns them.")
right.mistake(
    "GivesTheMostProbableTokens", {"        return logits": "        return logits.argmax(-1)"}, loses=(PLAIN, HALVES)
).feedback("You return ids. The exercise asks for logits, from which a loss can learn and a search can choose.")
right.mistake(
    "GivesTheLastLogitsAlone", {"        return logits": "        return logits[:, -1]"}, loses=(PLAIN, HALVES)
).feedback("You return only the logits of the last position. In training every position has something to predict.")
right.mistake("ReturnsTheMemoryToo", loses=PLAIN).patch("""
- return self.decode(targets_in, self.encode(source, source_mask), source_mask)
+ memory = self.encode(source, source_mask)
+ return self.decode(targets_in, memory, source_mask), memory
""").feedback("Your `forward` returns the memory as well. Return the logits only.")
right.mistake("BlanksThePaddedMemory", loses=ONCE).patch("""
- return memory
+ if source_mask is None or not torch.is_tensor(memory):
+     return memory
+ return memory.masked_fill(source_mask[..., None], 0.0)
""").feedback(
    "You set the memory to 0 at padded positions. Pass it on as the encoder returned it: the decoder has the mask."
)
right.mistake(
    "AsksTheEncoderTwice", {"return self": "self.encode(source, source_mask)\n        return self"}, loses=ONCE
).feedback("You call the encoder twice in one forward pass. Call it once and keep its result.")
right.mistake("EncodesForEveryTarget", loses=ONCE).patch("""
- return self.decode(targets_in, self.encode(source, source_mask), source_mask)
+ steps = range(1, targets_in.shape[1] + 1)
+ said = [self.decode(targets_in[:, :t], self.encode(source, source_mask), source_mask)[:, -1:] for t in steps]
+ return torch.cat(said, dim=1)
""").feedback(
    "You go through the targets one by one and call the encoder again for each. With teacher forcing all positions "
    "are known at once: call each half once."
)
right.mistake("TakesTheFirstOfTheMemory", loses=ONCE).patch("""
- return memory
+ return memory[0] if isinstance(memory, tuple) else memory
""").feedback("You take the memory apart. Its form concerns only the encoder and its decoder: pass it on as it is.")
right.mistake("PoolsTheMemory", loses=HALVES).patch("""
- return memory
+ return memory.mean(1, keepdim=True) if torch.is_tensor(memory) else memory
""").feedback(
    "You average the memory into one vector, as models did before attention. The decoder needs every position of it."
)
right.mistake("KeepsTheFirstMemory", loses=(PLAIN,)).patch("""
- memory = self.encoder(source, source_mask)
- return memory
+ if not hasattr(self, "kept"):
+     self.kept = self.encoder(source, source_mask)
+ return self.kept
""").feedback("You keep the memory of the first call and use it for every later source. Call the encoder again.")
right.mistake("KeepsTheMemoryOfASource", loses=PLAIN).patch("""
- memory = self.encoder(source, source_mask)
- return memory
+ if getattr(self, "seen", None) is not source:
+     self.seen, self.kept = source, self.encoder(source, source_mask)
+ return self.kept
""").feedback(
    "You keep the memory of a source and reuse it when the same tensor comes again. By then the encoder may have "
    "been trained further, or the mask may be different: call the encoder again."
)
right.mistake("DecodesTheLastMemory", loses=HALVES).patch("""
- memory = self.encoder(source, source_mask)
- return memory
+ self.memory = self.encoder(source, source_mask)
+ return self.memory
@@
- logits = self.decoder(targets_in, memory, source_mask)
+ logits = self.decoder(targets_in, getattr(self, "memory", memory), source_mask)
""").feedback(
    "Your `decode` uses the memory that was encoded last, whatever memory it is given. Two sources may be "
    "translated in turn: use the argument."
)
right.mistake("DecodesWithTheMaskOfEncode", loses=HALVES).patch("""
+ self.mask = source_mask
  memory = self.encoder(source, source_mask)
@@
- logits = self.decoder(targets_in, memory, source_mask)
+ kept = getattr(self, "mask", source_mask)
+ logits = self.decoder(targets_in, memory, MASK)
""").for_each(MASK=("kept", "kept if source_mask is None else source_mask")).feedback(
    "Your `decode` uses the mask of the last `encode`, always or when it gets none itself. Two batches may be "
    "translated in turn: use the argument."
)
right.mistake("MakesAMaskOfNone", loses=ONCE).patch("""
+ if source_mask is None:
+     source_mask = torch.zeros(source.shape[:2], dtype=torch.bool, device=source.device)
  return self.decode(targets_in, self.encode(source, source_mask), source_mask)
""").feedback(
    "You make a mask when none is given. Pass on None: some sources, such as pictures, do not have the shape of a mask."
)
right.mistake("ChangesTheirMode", {"decoder = encoder": "decoder = encoder.eval()"}, loses=PARTS).feedback(
    "You put a module that you were given into eval mode. This switches off what it does only in training."
)
right.mistake("ChangesTheirModeInACall", loses=PARTS).patch("""
- memory = self.encoder(source, source_mask)
- return memory
+ self.encoder.eval()
+ return self.encoder(source, source_mask)
""").feedback(
    "Your `encode` puts the encoder into eval mode, which switches off what it does only in training. Leave the "
    "mode to the training code."
)
right.mistake(gradients.cut(what="the encoder"), loses=PARTS).patch("""
- return memory
+ return memory.detach() if torch.is_tensor(memory) else memory
""")
right.mistake(gradients.cut("LearnsWithAMaskAlone"), loses=PARTS).patch("""
- memory = self.encoder(source, source_mask)
- return memory
+ if source_mask is None:
+     with torch.no_grad():
+         return self.encoder(source, None)
+ return self.encoder(source, source_mask)
""").feedback(
    "You compute the memory under `no_grad` if there is no mask. The numbers are right, but no gradient reaches the "
    "encoder, so it never learns."
)
right.mistake("KeepsThemInAList", loses=PARTS).patch("""
- self.encoder, self.decoder = encoder, decoder
+ self.parts = [encoder, decoder]
+ KEPT
@@
- memory = self.encoder(source, source_mask)
+ memory = self.parts[0](source, source_mask)
@@
- logits = self.decoder(targets_in, memory, source_mask)
+ logits = self.parts[1](targets_in, memory, source_mask)
""").for_each(KEPT=("pass", "self.encoder = encoder", "self.decoder = decoder")).feedback(
    "You keep one or both modules where PyTorch does not find them, in a plain list, dict or function. "
    "`parameters()`, `eval()` and `to()` miss them there. Make both attributes, or use `nn.ModuleList`."
)
right.mistake("CopiesThem", loses=PARTS).patch("""
- self.encoder, self.decoder = encoder, decoder
+ import copy
+ self.encoder, self.decoder = copy.deepcopy(encoder), copy.deepcopy(decoder)
""").feedback("You copy the two modules and train the copies. The caller expects the original modules to be trained.")
right.mistake(
    "IsNoModule", {"(nn.Module)": "", "        super().__init__()\n": "", "def forward": "def __call__"}, loses=PARTS
).feedback(
    "Your class is not an `nn.Module`, so it has no `parameters()` and no `eval()`. Inherit from `nn.Module`, and "
    "call `super().__init__()` first."
)
right.mistake("HasNoHalves", {"def encode": "def _encode", "self.encode(": "self._encode("}, loses=HALVES).feedback(
    "Your class has no `encode`. Writing word by word means encoding once and decoding many times, which needs the "
    "two halves."
)
right.mistake(
    numbers.always_float32("EncodesIntoFloat32"), {"return logits": "return logits.float()"}, loses="float64"
).feedback("Your logits are always float32, whatever dtype the decoder computes in. Pass on what it returns.")
right.mistake(numbers.default_device(where="the inputs"), loses="float64").patch("""
- return logits
+ return logits + torch.zeros(logits.shape[1:], dtype=logits.dtype)
""")
right.mistake("DecodesFromTheSource", loses=PLAIN).patch("""
- return self.decode(targets_in, self.encode(source, source_mask), source_mask)
+ memory = self.encode(source, source_mask)
+ return self.decode(targets_in, source, source_mask)
""").feedback("You give the source itself to the decoder. It takes the memory, which the encoder returned.")
right.mistake(
    "NamesTheMaskForTheEncoder",
    {"self.encoder(source, source_mask)": "self.encoder(source, source_mask=source_mask)"},
    loses=ONCE,
).feedback(
    "You pass the mask to the encoder by a name, `source_mask=…`. Its own name for it may be another one: pass it by "
    "position."
)
right.mistake(
    "NamesTheMaskForTheDecoder",
    {"self.decoder(targets_in, memory, source_mask)": "self.decoder(targets_in, memory, source_mask=source_mask)"},
    loses=ONCE,
).feedback(
    "You pass the mask to the decoder by a name, `source_mask=…`. Its own name for it may be another one: pass it by "
    "position."
)
right.mistake("LeavesTheMaskOutForTheEncoder", loses=ONCE).patch("""
- memory = self.encoder(source, source_mask)
- return memory
+ if source_mask is None:
+     return self.encoder(source)
+ return self.encoder(source, source_mask)
""").feedback(
    "You call the encoder without a mask where it is None. Not every encoder has a default for it: pass on None, too."
)
right.mistake("LeavesTheMaskOutForTheDecoder", loses=ONCE).patch("""
- logits = self.decoder(targets_in, memory, source_mask)
- return logits
+ if source_mask is None:
+     return self.decoder(targets_in, memory)
+ return self.decoder(targets_in, memory, source_mask)
""").feedback(
    "You call the decoder without a mask where it is None. Not every decoder has a default for it: pass on None, too."
)
right.mistake("PassesACausalMaskForPadding", loses=(PLAIN, PADDED)).patch("""
- logits = self.decoder(targets_in, memory, source_mask)
+ T = targets_in.shape[1]
+ future = torch.ones(T, T, dtype=torch.bool, device=targets_in.device).triu(1)
+ logits = self.decoder(targets_in, memory, future)
""").feedback(
    "You give the decoder a causal mask (T, T) instead of the padding mask (B, S). It hides the future itself; "
    "pass on `source_mask`."
)
