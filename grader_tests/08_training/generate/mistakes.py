"""Known mistakes in `generate`."""

from ...shared.families import calls, gradients, numbers
from .contract import generate

EVERYWHERE = ("temperature", "shows")  # what an answer loses whose every result is wrong

right = generate.reference_answer("""
class Writer:
    def __init__(self, model, generator=None):
        self.model, self.generator = model, generator

    def context(self, tokens):
        return tokens[:, -self.model.block_size :]

    def logits(self, tokens):
        return self.model(self.context(tokens))[:, -1]

    def probabilities(self, logits, temperature):
        return torch.softmax(logits / temperature, -1)

    def choose(self, logits, temperature):
        if temperature == 0:
            return logits.argmax(-1, keepdim=True)
        p = self.probabilities(logits, temperature)
        return torch.multinomial(p.cpu(), 1, generator=self.generator).to(logits.device)

    def append(self, tokens, chosen):
        return torch.cat([tokens, chosen], dim=1)

    def write(self, prompt, n_tokens, temperature):
        tokens = prompt
        for _ in range(n_tokens):
            tokens = self.append(tokens, self.choose(self.logits(tokens), temperature))
        return tokens

    def run(self, prompt, n_tokens, temperature):
        was = self.model.training
        self.model.eval()
        with torch.no_grad():
            tokens = self.write(prompt, n_tokens, temperature)
        self.model.train(was)
        return tokens


def generate(model, prompt, n_tokens, temperature=1.0, generator=None):
    return Writer(model, generator).run(prompt, n_tokens, temperature)
""")

right.mistake("shows_everything", {"[:, -self.model.block_size :]": ""}, loses="shows", clause="window").feedback(
    "You show the model more than block_size tokens: all of them, or still too many. It has positions for only "
    "block_size tokens, the last ones."
)
right.mistake("shows_the_first", {"-self.model.block_size :": ": self.model.block_size"}, loses="shows").feedback(
    "You show the model the *first* block_size tokens, which soon stop changing. It needs the last ones."
)
right.mistake("shows_the_last_token", {"self.model.block_size": "1"}, loses=EVERYWHERE).feedback(
    "You show the model only the last token. It can use all of the last block_size tokens."
)
right.mistake(
    "shows_one_too_few", {"self.model.block_size": "max(1, self.model.block_size - 1)"}, loses="shows"
).feedback("You show the model one token too few. It can use its last block_size tokens.")
right.mistake("shows_the_prompt_only", loses=("temperature", "shows", "samples")).patch("""
- return Writer(model, generator).run(prompt, n_tokens, temperature)
+ class Forgetful(Writer):
+     def context(self, tokens):
+         return prompt[:, -self.model.block_size :]
+
+ return Forgetful(model, generator).run(prompt, n_tokens, temperature)
""").feedback(
    "You never show the model the tokens that you have chosen. It sees the prompt every time and forgets what it wrote."
)
right.mistake("reads_the_first_position", {":, -1": ":, 0"}, loses=EVERYWHERE).feedback(
    "You take the logits of the first position. Those of the last position predict what comes next."
)
right.mistake("returns_the_new_tokens", loses=EVERYWHERE).patch("""
- return Writer(model, generator).run(prompt, n_tokens, temperature)
+ return Writer(model, generator).run(prompt, n_tokens, temperature)[:, prompt.shape[1] :]
""").feedback("You return only the new tokens. The prompt comes first.")
right.mistake("writes_one_too_many", {"run(prompt, n_tokens": "run(prompt, n_tokens + 1"}, loses=EVERYWHERE).feedback(
    "You write one token too many."
)
right.mistake("writes_one_too_few", {"run(prompt, n_tokens": "run(prompt, n_tokens - 1"}, loses=EVERYWHERE).feedback(
    "You write one token too few."
)
right.mistake(
    "keeps_what_it_shows", {"self.append": "self.context(tokens)\n            tokens = self.append"}, loses="shows"
).feedback(
    "You lose the tokens that the model is no longer shown, because the window has replaced the text. The window is "
    "for the model only."
)
right.mistake("counts_the_prompt", loses=EVERYWHERE).patch("""
- return Writer(model, generator).run(prompt, n_tokens, temperature)
+ return Writer(model, generator).run(prompt, n_tokens - prompt.shape[1], temperature)
""").feedback("You write n_tokens in total, including the prompt. There should be n_tokens after the prompt.")
right.mistake("puts_it_in_front", {"[tokens, chosen]": "[chosen, tokens]"}, loses=EVERYWHERE).feedback(
    "You put each new token at the front. Text grows at its end."
)
right.mistake("divides_by_zero", loses=EVERYWHERE).patch("""
- if temperature == 0:
-     return logits.argmax(-1, keepdim=True)
""").feedback("You divide by 0 when temperature is 0. Temperature 0 means: take the most likely token.")
right.mistake("stops_at_token_zero", loses="temperature").patch("""
- tokens = self.append(tokens, self.choose(self.logits(tokens), temperature))
+ chosen = self.choose(self.logits(tokens), temperature)
+ if (chosen == 0).all():
+     break
+ tokens = self.append(tokens, chosen)
""").feedback("You stop as soon as token 0 is written. No token means “the end” here: always write n_tokens.")
right.mistake("fills_up_with_zeros", loses=EVERYWHERE).patch("""
- return tokens[:, -self.model.block_size :]
+ return F.pad(tokens, (self.model.block_size, 0))[:, -self.model.block_size :]
""").feedback(
    "You pad what the model is shown with zeros, up to block_size. Token 0 is a token like any other, and the model "
    "takes it for text: show only what there is."
)
right.mistake("takes_zero_for_not_given", loses=EVERYWHERE, when="random at 0").patch("""
- return Writer(model, generator).run(prompt, n_tokens, temperature)
+ return Writer(model, generator).run(prompt, n_tokens, temperature or 1.0)
""").feedback(
    "You draw at random at temperature 0 instead of taking the most likely token. Check whether 0 is taken for “not "
    "given” (`if not temperature`, `temperature or 1.0`)."
)
right.mistake("lifts_the_temperature", loses="samples", when="too hot").patch("""
- return Writer(model, generator).run(prompt, n_tokens, temperature)
+ class Lifted(Writer):
+     def probabilities(self, logits, temperature):
+         return super().probabilities(logits, temperature + 0.1)
+
+ return Lifted(model, generator).run(prompt, n_tokens, temperature)
""").feedback(
    "You add something to the temperature, or keep it above some value, so that it is never 0. Low temperatures are "
    "then far too high. Handle 0 separately, and divide by the temperature as given."
)
right.mistake("is_always_greedy", loses=("samples", "all randomness")).patch("""
- return Writer(model, generator).run(prompt, n_tokens, temperature)
+ return Writer(model, generator).run(prompt, n_tokens, 0)
""").feedback("You always take the most likely token. With a temperature above 0, tokens are drawn at random.")
right.mistake("takes_the_least_likely", loses=EVERYWHERE).patch("""
- return Writer(model, generator).run(prompt, n_tokens, temperature)
+ class Contrary(Writer):
+     def choose(self, logits, temperature):
+         return super().choose(-logits if temperature == 0 else logits, temperature)
+
+ return Contrary(model, generator).run(prompt, n_tokens, temperature)
""").feedback(
    "You take the token with the smallest logit at temperature 0. The most likely token has the greatest logit."
)
right.mistake(
    "ignores_the_temperature", {"logits / temperature": "logits"}, loses="samples", when="as at 1.0"
).feedback(
    "Your temperature has no effect. Check that it is used. Dividing the probabilities by it, after the softmax, "
    "changes nothing once they are normalised: divide the logits."
)
right.mistake(
    "multiplies_by_the_temperature",
    {"/ temperature": "* temperature"},
    loses="samples",
    when="multiplied",
    clause="drawn",
).feedback(
    "You multiply the logits by the temperature instead of dividing by it. A low temperature makes sharp choices."
)
right.mistake("compounds_the_temperature", loses="samples", when="compounded").patch("""
- tokens = self.append(tokens, self.choose(self.logits(tokens), temperature))
+ length = tokens.shape[1] - prompt.shape[1] + 1
+ tokens = self.append(tokens, self.choose(self.logits(tokens), temperature**length))
""").feedback(
    "You apply the temperature once more for every token that you write. The first token is drawn correctly, but "
    "each later one from sharper or flatter logits. Divide fresh logits, and change nothing that the next token uses."
)
right.mistake("softens_twice", loses="samples", when="a softmax of the softmax").patch("""
- return torch.softmax(logits / temperature, -1)
+ return torch.softmax(torch.softmax(logits / temperature, -1), -1)
""").feedback("You draw from a softmax of a softmax, which is almost uniform.")
right.mistake(calls.global_dice(what="your tokens"), loses="all randomness", when="not of the generator").patch("""
+ import random
+
+ dice = random.Random(1)  # a seed, so that the recorded results are the same again
+
- return torch.multinomial(p.cpu(), 1, generator=self.generator).to(logits.device)
+ return DRAW.to(logits.device)
""").for_each(
    DRAW=(
        "torch.multinomial(p.cpu(), 1)",
        "torch.tensor([dice.choices(range(len(row)), row.tolist()) for row in p.cpu()])",
    )
)
right.mistake("seeds_the_generator", loses="all randomness", when="every text is the same", clause="dice").patch("""
  def generate(model, prompt, n_tokens, temperature=1.0, generator=None):
+     if generator is not None:
+         generator.manual_seed(generator.initial_seed())
""").feedback("You reseed the generator in every call, so every call writes the same text.")
right.mistake("seeds_for_every_token", loses="all randomness", when="every text is the same").patch("""
- return Writer(model, generator).run(prompt, n_tokens, temperature)
+ class Stuck(Writer):
+     def choose(self, logits, temperature):
+         if self.generator is not None:
+             self.generator.manual_seed(self.generator.initial_seed())
+         return super().choose(logits, temperature)
+
+ return Stuck(model, generator).run(prompt, n_tokens, temperature)
""").feedback("You reseed the generator for every token, so the same random number decides them all.")
right.mistake("draws_one_for_all_rows", loses=("temperature", "samples", "all randomness")).patch("""
- return Writer(model, generator).run(prompt, n_tokens, temperature)
+ class Uniform(Writer):
+     def choose(self, logits, temperature):
+         return super().choose(logits[:1], temperature).expand(len(logits), 1)
+
+ return Uniform(model, generator).run(prompt, n_tokens, temperature)
""").feedback("You draw one token, for the first row, and use it in all rows. Each row has its own probabilities.")
right.mistake("writes_in_training_mode", loses="eval mode", when="dropout falls").patch("""
- return Writer(model, generator).run(prompt, n_tokens, temperature)
+ with torch.no_grad():
+     return Writer(model, generator).write(prompt, n_tokens, temperature)
""").feedback("You write in whatever mode the model is in; in training mode, dropout disturbs every token.")
right.mistake("stays_a_reader", loses="eval mode", clause="restored").patch("""
- return Writer(model, generator).run(prompt, n_tokens, temperature)
+ model.eval()
+ with torch.no_grad():
+     return Writer(model, generator).write(prompt, n_tokens, temperature)
""").feedback("You leave the model in eval mode. If it was being trained, put it back into training mode.")
right.mistake("always_back_to_training", loses="eval mode").patch("""
- return Writer(model, generator).run(prompt, n_tokens, temperature)
+ model.eval()
+ with torch.no_grad():
+     tokens = Writer(model, generator).write(prompt, n_tokens, temperature)
+ model.train()
+ return tokens
""").feedback("You always put the model into training mode afterwards. Remember which mode it was in.")
right.mistake("writes_with_gradients", loses="eval mode", clause="quiet").patch("""
- return Writer(model, generator).run(prompt, n_tokens, temperature)
+ was = model.training
+ model.eval()
+ tokens = Writer(model, generator).write(prompt, n_tokens, temperature)
+ model.train(was)
+ return tokens
""").feedback("You leave gradients on, so every token's computation is kept for a backward() that never comes.")
right.mistake(gradients.gradients_switched_off, loses="eval mode").patch("""
  def generate(model, prompt, n_tokens, temperature=1.0, generator=None):
+     torch.set_grad_enabled(False)
""")
right.mistake("restores_the_model_only", loses="eval mode").patch("""
- return Writer(model, generator).run(prompt, n_tokens, temperature)
+ was = model.training
+ model.eval()
+ with torch.no_grad():
+     tokens = Writer(model, generator).write(prompt, n_tokens, temperature)
+ model.training = was
+ return tokens
""").feedback(
    "You restore the mode of the model itself but not of its parts, which stay in eval mode. `model.train(mode)` "
    "reaches them all."
)
right.mistake("cuts_the_prompt", {"run(prompt": "run(prompt[:, -model.block_size :]"}, loses="shows").feedback(
    "You cut the prompt to block_size in the result. The model is shown that much at most, but the text keeps "
    "everything."
)
right.mistake("writes_into_the_prompt", loses="temperature").patch("""
- return Writer(model, generator).run(prompt, n_tokens, temperature)
+ tokens = Writer(model, generator).run(prompt, n_tokens, temperature)
+ return prompt.resize_(tokens.shape).copy_(tokens)
""").feedback("You write into the prompt, which changes the caller's tensor. The result must be a new one.")
right.mistake("is_greedy_when_cool", loses="samples").patch("""
- return Writer(model, generator).run(prompt, n_tokens, temperature)
+ return Writer(model, generator).run(prompt, n_tokens, 0 if temperature < 1 else temperature)
""").feedback("You take the most likely token at low temperatures too (1/2 or less, or any below 1). Only 0 is greedy.")
right.mistake("draws_from_the_likeliest", loses="samples", when="the likeliest only").patch("""
- return Writer(model, generator).run(prompt, n_tokens, temperature)
+ class Picky(Writer):
+     def probabilities(self, logits, temperature):
+         p = super().probabilities(logits, temperature)
+         return torch.where(p >= p.topk(min(KEPT, p.shape[-1])).values[:, -1:], p, 0.0)
+
+ return Picky(model, generator).run(prompt, n_tokens, temperature)
""").for_each(KEPT=(3, 5, 10, 40, 50)).feedback(
    "You draw only from the few most likely tokens. Each token has the probability that the softmax gives it."
)
right.mistake("slides_a_window_over_the_prompt", loses="temperature").patch("""
- tokens = prompt
+ size = self.model.block_size
+ tokens, window = prompt.clone(), prompt[:, -size:]
@@
- tokens = self.append(tokens, self.choose(self.logits(tokens), temperature))
+ chosen = self.choose(self.logits(window), temperature)
+ tokens = self.append(tokens, chosen)
+ if window.shape[1] < size:
+     window = self.append(window, chosen)
+ else:
+     window[:] = self.append(window[:, 1:], chosen)
""").feedback(
    "You write into a window that is a view of the prompt, which changes the caller's tensor. This happens when the "
    "prompt is longer than block_size: a change to a slice also changes the tensor that it was taken from."
)
generate.mistake("a_default_that_is_cooler", loses="all randomness", when="another default").full_code("""
def generate(model, prompt, n_tokens, temperature=0.95, generator=None):
    was = model.training
    model.eval()
    tokens = prompt
    with torch.no_grad():
        for _ in range(n_tokens):
            logits = model(tokens[:, -model.block_size :])[:, -1]
            if temperature == 0:
                chosen = logits.argmax(-1, keepdim=True)
            else:
                p = torch.softmax(logits / temperature, -1)
                chosen = torch.multinomial(p.cpu(), 1, generator=generator).to(logits.device)
            tokens = torch.cat([tokens, chosen], dim=1)
    model.train(was)
    return tokens
""").feedback("You use the wrong temperature when none is given: the default is 1.0.")
right.mistake(
    numbers.default_device(where="the prompt", what="the tensor that you begin with", how="`prompt.new_zeros`"),
    {"tokens = prompt": "tokens = torch.cat([torch.zeros(len(prompt), 0, dtype=torch.int64), prompt], dim=1)"},
    loses="temperature",
)
