"""`generate`: tokens drawn from a model one by one, greedily at temperature 0."""

import torch

from grading.exercises.exercise import EXERCISE, Script, exercise, generator, helper, method, ref, sample_model

from ..common import gentle, windowed
from .cases import CONTRARY, chances, cycle, written, written_twice

SAMPLING = "5. Writing"

generate = exercise(
    "generate",
    see=SAMPLING,
    hints=(
        "The model gives logits for every position. Which position's logits predict the next token? And what does it "
        "see when you call it for the token after that?",
        "A loop over n_tokens: show the last block_size tokens, take the last position's logits, choose a token for "
        "each row, append it. Around the loop, what the model's mode and gradients need. temperature = 0 is a case of "
        "its own.",
        "`logits = model(tokens[:, -…:])[:, -1]`; `chosen = logits.argmax(…)` where temperature is 0, else "
        "`torch.multinomial(torch.softmax(logits / …, …), 1, generator=…)`; `tokens = torch.cat([tokens, …], dim=1)`.",
    ),
)


@generate.oracle
def generate_oracle(model, prompt, n_tokens, temperature=1.0, generator=None):
    modes = [(part, part.training) for part in model.modules()]
    model.eval()
    tokens = prompt.clone()
    with torch.no_grad():
        for _ in range(n_tokens):
            logits = model(tokens[:, -model.block_size :])[:, -1]
            if temperature == 0:
                chosen = logits.max(-1).indices
            else:
                p = torch.softmax(logits / temperature, -1).cpu()
                chosen = torch.multinomial(p, 1, generator=generator)[:, 0].to(tokens.device)
            tokens = torch.cat([tokens, chosen[:, None]], 1)
    for part, training in modes:
        part.training = training
    return tokens


@generate.example("greedy: each token's likeliest successor", check_types=True)
def _():
    s = Script(model=sample_model("Bigram", cycle(), n_tokens=4, block_size=3), prompt=torch.tensor([[0], [2]]))
    s.call(EXERCISE, s.model, s.prompt, 5, temperature=0, name="tokens")
    yield s.case(ref("tokens")).label("generate(model, torch.tensor([[0], [2]]), 5, temperature=0); 3 follows 2, …")


@generate.example("sampled, where there is no doubt")
def _():
    s = Script(model=sample_model("Bigram", cycle(), n_tokens=4, block_size=3), prompt=torch.tensor([[3, 1, 2]]))
    s.call(EXERCISE, s.model, s.prompt, 3, generator=generator(0), name="tokens")
    yield s.case(ref("tokens")).label("generate(model, torch.tensor([[3, 1, 2]]), 3, generator=generator)")


@generate.example("a model that looks back over all it is shown")
def _():
    s = Script(model=windowed(gentle()), prompt=torch.tensor([[0, 1, 1, 0], [1, 0, 0, 0]]))
    s.call(EXERCISE, s.model, s.prompt, 4, 0.0, name="tokens")
    yield s.case(ref("tokens")).label("generate(model, prompt (2, 4), 4, temperature=0.0), block_size 2")


@generate.example("nothing to add")
def _():
    s = Script(model=sample_model("Bigram", cycle(), n_tokens=4, block_size=3), prompt=torch.tensor([[0, 3]]))
    s.call(EXERCISE, s.model, s.prompt, 0, name="tokens")
    yield s.case(ref("tokens")).label("generate(model, torch.tensor([[0, 3]]), 0)")


@generate.example("the same generator, the same text")
def _():
    flat = {"table.weight": torch.zeros(50, 50)}
    s = Script(model=sample_model("Bigram", flat, n_tokens=50, block_size=3), prompt=torch.tensor([[7]]))
    s.call(helper("seed"), 1)
    s.call(EXERCISE, s.model, s.prompt, 8, generator=generator(4), name="first")
    s.call(helper("seed"), 2)
    s.call(EXERCISE, s.model, s.prompt, 8, generator=generator(4), name="again")
    s.call(method(ref("first"), "sub"), ref("again"), name="difference")
    yield s.case(ref("difference")).label("the tokens of two calls with equal generators, subtracted")


@generate.example("in eval mode, without gradients, and back in training mode")
def _():
    s = Script(model=windowed(gentle(), dropout=0.5), prompt=torch.tensor([[0, 1]]))
    s.call(method(s.model, "train"))
    s.call(EXERCISE, s.model, s.prompt, 2, 0, name="tokens")
    s.call(helper("modes_of"), s.model, name="modes")
    s.call(helper("attribute"), s.model, "calls", name="calls")
    wrong = ([2, True, True], [2, True, False], [2, False, True])
    counts = [s.call(method(ref("calls"), "count"), call, name=f"count{i}") for i, call in enumerate(wrong)]
    text = "the modes after generate, and how often it called the model in training mode or with gradients"
    yield s.case(ref("modes"), *counts).label(text)


@generate.criterion("temperature 0: prompt and likeliest tokens, int64, any device", points=0.75, check_types=True)
def _(draw):
    for n_tokens, length, batch in ((4, 2, 5), (1, 1, 1), (0, 3, 2), (6, 1, 3)):
        s, text = written(draw, n_tokens, length=length, batch=batch, block_size=8)
        yield s.case(ref("tokens")).exact_in_float32().does_not_mutate().label(text)
    s, text = written(draw, 2)
    yield s.case(ref("tokens")).device_only().label(text)
    yield written_twice(draw, "random at 0")
    s, text = written(draw, 2, length=9, block_size=4)
    yield s.case(ref("tokens")).check_with("prompt_unchanged").tries("window").label(f"the prompt after {text}")
    s = Script(model=sample_model("Bigram", cycle(5), n_tokens=5, block_size=9), prompt=torch.tensor([[3]]))
    s.call(EXERCISE, s.model, s.prompt, 7, temperature=0, name="tokens")
    yield s.case(ref("tokens")).label("generate(model, torch.tensor([[3]]), 7, temperature=0), through all 5 tokens")


@generate.criterion("shows all tokens so far, at most block_size", points=1, tries="window")
def _(draw):
    for n_tokens, length, block_size in ((9, 3, 5), (4, 11, 6), (5, 4, 4), (3, 2, 1)):
        s, text = written(draw, n_tokens, length=length, block_size=block_size, temperature=0.0)
        yield s.case(ref("tokens")).exact_in_float32().label(text)


@generate.criterion("samples follow softmax(logits / temperature)", points=1.5, tries="drawn")
def _(draw):
    prompt = torch.arange(5).repeat(800)[:, None]
    for options, seeded in (({}, True), ({}, False), *(({"temperature": t}, True) for t in (0.05, 0.5, 3.0))):
        temperature = options.get("temperature", 1.0)
        table = draw.normal(5, 5, scale=1.5 * min(1.0, temperature))
        s = Script(model=sample_model("Bigram", {"table.weight": table}, n_tokens=5, block_size=2), prompt=prompt)
        dice = {"generator": generator(draw.integer(0, 10**6))} if seeded else {}
        s.call(EXERCISE, s.model, s.prompt, 2, **options, **dice, name="tokens")
        given = {"wanted": chances(table, temperature), "n_tokens": 2, "temperature": temperature}
        made = s.case(ref("tokens")).check_with("matches_distribution", **given)
        without = "" if seeded else ", no generator"
        yield made.label(f"generate on 4000 prompts of one token, temperature {temperature}{without}")
    # More tokens, all almost equally likely, than an answer considers that keeps only the likeliest ones
    flat = 0.2 * torch.linspace(0.0, 1.0, 64)[draw.permutation(64)].expand(64, 64)
    model = sample_model("Bigram", {"table.weight": flat}, n_tokens=64, block_size=2)
    s = Script(model=model, prompt=torch.zeros(8000, 1, dtype=torch.int64))
    s.call(EXERCISE, s.model, s.prompt, 1, generator=generator(draw.integer(0, 10**6)), name="tokens")
    made = s.case(ref("tokens")).check_with("matches_distribution", wanted=chances(flat, 1.0), n_tokens=1)
    yield made.label("generate on 8000 prompts of one token, with 64 tokens that are nearly alike")


@generate.criterion("all randomness comes from the generator", points=0.75, tries="dice")
def _(draw):
    table, seed = torch.zeros(60, 60), draw.integer(0, 10**6)
    table[:, 0] = -60.0  # never drawn: an answer that stops at token 0 loses nothing here with any seed
    model = sample_model("Bigram", {"table.weight": table}, n_tokens=60, block_size=30)
    s = Script(model=model, prompt=torch.tensor([[3], [3]]), generator=generator(seed))
    s.call(helper("seed"), 1)
    s.call(helper("generator_state"), s.generator, name="before")
    s.call(EXERCISE, s.model, s.prompt, 20, 1.0, s.generator, name="one")
    s.call(helper("generator_state"), s.generator, name="after")
    s.call(EXERCISE, s.model, s.prompt, 20, 1.0, s.generator, name="later")
    s.call(helper("seed"), 2)
    s.call(EXERCISE, s.model, s.prompt, 20, generator=generator(seed), name="again")
    s.call(EXERCISE, s.model, s.prompt, 20, generator=generator(seed + 1), name="other")
    made = s.case(*(ref(name) for name in ("one", "again", "other", "later", "before", "after")))
    yield made.check_with("texts_follow_generator").label("calls with equal and with different generators")
    s = Script(model=sample_model("Bigram", {"table.weight": draw.normal(9, 9)}, n_tokens=9, block_size=30))
    s.inputs["prompt"] = draw.integers(0, 9, 50, 1)
    s.call(EXERCISE, s.model, s.prompt, 20, generator=generator(seed), name="default")
    s.call(EXERCISE, s.model, s.prompt, 20, 1.0, generator(seed), name="one")
    made = s.case(ref("default"), ref("one")).check_with("default_temperature_is_one")
    yield made.label("generate without a temperature, and with 1.0, with equal generators")


@generate.criterion("eval mode, no gradients, mode restored", points=0.75, tries="quiet")
def _(draw):
    for training in (True, False):
        s, text = written(draw, 4, block_size=8, training=training, dropout=0.8)
        mode = f"the model is in {'training' if training else 'eval'} mode before"
        yield s.case(ref("tokens")).exact_in_float32().label(f"{text}; {mode}, and has dropout")
        for contrary, where in CONTRARY.items():
            s, text = written(draw, 4, block_size=8, training=training, contrary=contrary)
            s.call(s.model, s.prompt, name="logits")  # as in the next training step
            made = s.case(ref("tokens"), ref("logits")).exact_in_float32().tries("quiet", "restored")
            yield made.label(f"{text}, and a call of the model; {mode}, and gives other logits {where}")
    yield written_twice(draw, "dropout falls", training=True, dropout=0.8)


@generate.sizes(points=0.25, B=(1, 4, 60), T=(1, 3, 40), n_tokens=(0, 2, 40))
def _(draw, B, T, n_tokens):
    s, text = written(draw, n_tokens, length=T, batch=B, block_size=90, with_zero=False)
    return s.case(ref("tokens")).exact_in_float32().label(text)
