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
).feedback(
    "The encoder is not told what is padded, so real words read padding as if it were words. It gets `source_mask`."
)
right.mistake("HidesThePaddingFromTheDecoder", {"memory, source_mask)\n": "memory, None)\n"}, loses=PADDED).feedback(
    "The decoder is not told what is padded in the source, and looks at padding. It gets `source_mask`, too."
)
right.mistake(
    "ForgetsThePaddingInForward", {"self.encode(source, source_mask), source_mask": "self.encode(source)"}, loses=PADDED
).feedback("`forward` takes a mask and hands it to nobody.")
right.mistake(
    "ForgetsThePaddingInOneHalf", {"(source, source_mask), source_mask": "(source, source_mask)"}, loses=PADDED
).feedback("`forward` hands the mask to the encoder alone. The decoder looks at the source, too, and needs it.")
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
""").feedback("You turn the mask round on the way to the encoder. It is handed on as it is: True where padded.")
right.mistake("InvertsTheMaskForTheDecoder", loses=PADDED).patch("""
- logits = self.decoder(targets_in, memory, source_mask)
+ logits = self.decoder(targets_in, memory, None if source_mask is None else ~source_mask)
""").feedback("You turn the mask round on the way to the decoder. It is handed on as it is: True where padded.")
right.mistake(
    "HandsTheMemoryOverFirst", {"(targets_in, memory": "(memory, targets_in"}, loses=(PLAIN, HALVES)
).feedback(
    "The decoder is handed the memory first. It takes the targets first: `decoder(targets_in, memory, source_mask)`."
)
right.mistake("ExchangesSourceAndTargets", {"source, targets_in": "targets_in, source"}, loses=PLAIN).feedback(
    "Source and targets are exchanged: `forward(source, targets_in)`, in this order. (In `decode` the targets come "
    "first.)"
)
right.mistake("DecodesTheSource", {"self.decode(targets_in, self": "self.decode(source, self"}, loses=PLAIN).feedback(
    "The decoder is given the source to go on from. It reads `targets_in`; what it knows of the source is the memory."
)
right.mistake(
    "ShiftsOnceMore", {"self.decoder(targets_in,": "self.decoder(targets_in.roll(1, 1),"}, loses=(PLAIN, HALVES)
).feedback(
    "You shift the targets. Whoever calls has done that already, with `teacher_inputs`; done twice, the decoder has to "
    "predict a word from the one before the last."
)
right.mistake(
    "GivesProbabilities", {"        return logits": "        return logits.softmax(-1)"}, loses=(PLAIN, HALVES)
).feedback("You return probabilities. The loss takes logits, and makes its own softmax of them.")
right.mistake(
    "GivesLogProbabilities", {"        return logits": "        return logits.log_softmax(-1)"}, loses=(PLAIN, HALVES)
).feedback("You return log-probabilities. What is asked for are the logits, as the decoder gives them.")
right.mistake(
    "GivesTheMostProbableTokens", {"        return logits": "        return logits.argmax(-1)"}, loses=(PLAIN, HALVES)
).feedback("You return ids. What is asked for is logits, from which a loss can learn and a search can choose.")
right.mistake(
    "GivesTheLastLogitsAlone", {"        return logits": "        return logits[:, -1]"}, loses=(PLAIN, HALVES)
).feedback("You return the logits of the last place alone. In training every place has something to predict.")
right.mistake("ReturnsTheMemoryToo", loses=PLAIN).patch("""
- return self.decode(targets_in, self.encode(source, source_mask), source_mask)
+ memory = self.encode(source, source_mask)
+ return self.decode(targets_in, memory, source_mask), memory
""").feedback("`forward` returns the logits alone, without the memory.")
right.mistake("BlanksThePaddedMemory", loses=ONCE).patch("""
- return memory
+ if source_mask is None or not torch.is_tensor(memory):
+     return memory
+ return memory.masked_fill(source_mask[..., None], 0.0)
""").feedback(
    "You set the memory to 0 at padded positions. Hand it on as the encoder gave it: the decoder has the mask."
)
right.mistake(
    "AsksTheEncoderTwice", {"return self": "self.encode(source, source_mask)\n        return self"}, loses=ONCE
).feedback("The encoder is asked twice in one forward pass. Ask it once, and keep what it gave.")
right.mistake("EncodesForEveryTarget", loses=ONCE).patch("""
- return self.decode(targets_in, self.encode(source, source_mask), source_mask)
+ steps = range(1, targets_in.shape[1] + 1)
+ said = [self.decode(targets_in[:, :t], self.encode(source, source_mask), source_mask)[:, -1:] for t in steps]
+ return torch.cat(said, dim=1)
""").feedback(
    "You go through the targets one by one, and ask the encoder anew for each. With teacher forcing all places are "
    "known at once: one call of each half."
)
right.mistake("TakesTheFirstOfTheMemory", loses=ONCE).patch("""
- return memory
+ return memory[0] if isinstance(memory, tuple) else memory
""").feedback("You open the memory. What an encoder gives is a matter between it and its decoder: hand it on as it is.")
right.mistake("PoolsTheMemory", loses=HALVES).patch("""
- return memory
+ return memory.mean(1, keepdim=True) if torch.is_tensor(memory) else memory
""").feedback(
    "You average the memory into one vector, as was done before attention. The decoder needs every position of it."
)
right.mistake("KeepsTheFirstMemory", loses=(PLAIN,)).patch("""
- memory = self.encoder(source, source_mask)
- return memory
+ if not hasattr(self, "kept"):
+     self.kept = self.encoder(source, source_mask)
+ return self.kept
""").feedback(
    "You keep the memory of the first call and use it for every source that comes later. Ask the encoder anew."
)
right.mistake("KeepsTheMemoryOfASource", loses=PLAIN).patch("""
- memory = self.encoder(source, source_mask)
- return memory
+ if getattr(self, "seen", None) is not source:
+     self.seen, self.kept = source, self.encoder(source, source_mask)
+ return self.kept
""").feedback(
    "You keep the memory of a source and use it when the same tensor comes again. By then the encoder may have "
    "learnt, or the mask be another: ask it anew."
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
    "`decode` goes on from what was encoded last, whatever memory it is given. Two sources may be translated in turn: "
    "take the argument."
)
right.mistake("DecodesWithTheMaskOfEncode", loses=HALVES).patch("""
+ self.mask = source_mask
  memory = self.encoder(source, source_mask)
@@
- logits = self.decoder(targets_in, memory, source_mask)
+ kept = getattr(self, "mask", source_mask)
+ logits = self.decoder(targets_in, memory, MASK)
""").for_each(MASK=("kept", "kept if source_mask is None else source_mask")).feedback(
    "`decode` uses the mask that `encode` was given last, whatever mask it is given itself, or where it is given none. "
    "Two batches may be translated in turn: take the argument."
)
right.mistake("MakesAMaskOfNone", loses=ONCE).patch("""
+ if source_mask is None:
+     source_mask = torch.zeros(source.shape[:2], dtype=torch.bool, device=source.device)
  return self.decode(targets_in, self.encode(source, source_mask), source_mask)
""").feedback(
    "Where there is no mask you make one. Hand on None: a source need not have a mask's shape, as a picture has not."
)
right.mistake("ChangesTheirMode", {"decoder = encoder": "decoder = encoder.eval()"}, loses=PARTS).feedback(
    "You put a module that you are given into eval mode, and so switch off what it does in training alone."
)
right.mistake("ChangesTheirModeInACall", loses=PARTS).patch("""
- memory = self.encoder(source, source_mask)
- return memory
+ self.encoder.eval()
+ return self.encoder(source, source_mask)
""").feedback(
    "`encode` puts the encoder into eval mode, and so switches off what it does in training alone. Modes are for "
    "whoever trains."
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
+         return self.encoder(source)
+ return self.encoder(source, source_mask)
""").feedback(
    "Without a mask the memory is made under `no_grad`: no gradient reaches the encoder, which then never learns. The "
    "numbers are right all the same."
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
    "You keep one or both where PyTorch does not look, in a plain list, dict or function: `parameters()`, `eval()` and "
    "`to()` pass them by. Make them attributes, or use `nn.ModuleList`."
)
right.mistake("CopiesThem", loses=PARTS).patch("""
- self.encoder, self.decoder = encoder, decoder
+ import copy
+ self.encoder, self.decoder = copy.deepcopy(encoder), copy.deepcopy(decoder)
""").feedback(
    "You copy the two modules, and it is the copies that learn. Whoever handed them over expects to see them trained."
)
right.mistake(
    "IsNoModule", {"(nn.Module)": "", "        super().__init__()\n": "", "def forward": "def __call__"}, loses=PARTS
).feedback(
    "Your class is no `nn.Module`: it has no parameters and no `eval()`. Inherit from nn.Module, and call "
    "`super().__init__()` first."
)
right.mistake("HasNoHalves", {"def encode": "def _encode", "self.encode(": "self._encode("}, loses=HALVES).feedback(
    "There is no `encode`. Whoever writes word by word encodes once and decodes many times, and needs the two halves."
)
right.mistake(
    numbers.always_float32("EncodesIntoFloat32"), {"return logits": "return logits.float()"}, loses="float64"
).feedback("Your logits are float32 whatever the decoder computes in. Hand on what it gives.")
right.mistake(numbers.default_device(where="the inputs"), loses="float64").patch("""
- return logits
+ return logits + torch.zeros(logits.shape[1:], dtype=logits.dtype)
""")
right.mistake("DecodesFromTheSource", loses=PLAIN).patch("""
- return self.decode(targets_in, self.encode(source, source_mask), source_mask)
+ memory = self.encode(source, source_mask)
+ return self.decode(targets_in, source, source_mask)
""").feedback("You give the source itself to the decoder. It takes the memory, which is what the encoder returned.")
