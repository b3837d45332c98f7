"""`continuation_log_probability`: how probable a model finds a continuation."""

import torch

from grading.exercises.exercise import EXERCISE, Script, exercise, helper, method, ref, sample_model

continuation_log_probability = exercise(
    "continuation_log_probability",
    see="Exercise 7: `continuation_log_probability(model, prompt, continuation)`",
    hints=(
        "The logits at position `t` are for the token at `t + 1`. At which position does the model predict the first "
        "token of the continuation?",
        "Put prompt and continuation together, as a batch of one text, and call the model once. Log-softmax over the "
        "vocabulary, the entries of the tokens that do follow, and their sum.",
        "The logits of the one text are (T + M, N), or one row fewer if the last token is left out. Keep the M rows "
        "that predict the continuation, take `log_softmax`, and `gather` one entry per row: `gather` takes indices of "
        "the shape (M, 1).",
    ),
)


@continuation_log_probability.oracle
def continuation_log_probability_oracle(model, prompt, continuation):
    ids = torch.cat((prompt, continuation)).unsqueeze(0)
    logits = model(ids)[0]
    total = logits.new_zeros(())
    for i, token in enumerate(continuation):
        row = logits[prompt.numel() - 1 + i]
        total = total + row[token] - torch.logsumexp(row, 0)
    return total


def asked(state, prompt, continuation, *, count=False, plain=False, modes=False, **options):
    """A script that asks a model; "result", and with `count` how often the model was called.

    plain  the model is a strict function; modes  observe the modes of the model's parts
    """
    sizes = {name: tensor.shape for name, tensor in state.items()}
    if "table.weight" in sizes:
        made = sample_model("Bigram", state, n_tokens=sizes["table.weight"][0], block_size=64, **options)
    else:
        (n_tokens, width), (block_size, _) = sizes["tokens.weight"], sizes["places.weight"]
        made = sample_model("Windowed", state, n_tokens=n_tokens, width=width, block_size=block_size, **options)
    s = Script(model=made, prompt=prompt, continuation=continuation)
    s.inputs["given"] = sample_model("strict", model=s.model) if plain else s.model
    if modes:
        s.call(method(s.model, "train"))
    s.call(EXERCISE, s.given, s.prompt, s.continuation, name="result")
    observed = [ref("result")]
    if modes:
        observed.append(s.call(helper("modes_of"), s.model, name="modes"))
    if count:
        calls = s.call(helper("attribute"), s.model, "calls", name="calls")
        s.call(method(calls, "__len__"), name="number of calls")
        observed.append(ref("number of calls"))
    text = f"a prompt of {len(prompt)} and a continuation of {len(continuation)}"
    text += (
        ", and how often the model is called" * count + ", and which parts of the model are in training mode" * modes
    )
    return s.case(*observed).label(text)


def weights(draw, N=7, width=5, block_size=32, **options):
    """Of a model whose logits depend on all tokens so far, and on their positions."""
    return draw.state(tokens__weight=(N, width), places__weight=(block_size, width), out__weight=(N, width), **options)


def asked_of(draw, T, M, N=7, *, block_size=32, dtype=torch.float32, **how):
    state = weights(draw, N, block_size=block_size, dtype=dtype)
    return asked(state, draw.integers(0, N, T), draw.integers(0, N, M), **how)


HALF = {"table.weight": torch.tensor([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5], [0.125, 0.75, 0.125]]).log()}

continuation_log_probability.example(
    "two tokens: log(0.25 · 0.5)",
    asked(HALF, torch.tensor([0]), torch.tensor([1, 2])).label("rows of probabilities 1/2 1/4 1/4, 1/4 1/4 1/2, …"),
)
continuation_log_probability.example(
    "only the last token of the prompt matters to this model",
    asked(HALF, torch.tensor([1, 0, 2]), torch.tensor([1])).label("the same rows, a prompt of three: log 0.75"),
)
continuation_log_probability.example(
    "one call, with gradients, in float32",
    asked(HALF, torch.tensor([2, 1]), torch.tensor([2, 1, 0]), count=True).with_gradients(),
    check_types=True,
)


@continuation_log_probability.criterion("the sum of the log-probabilities of the continuation", points=0.5)
def _(draw):
    yield asked_of(draw, 4, 3)
    yield asked_of(draw, 3, 2, plain=True).tries("function")
    yield asked_of(draw, 2, 5, plain=True).tries("function")
    yield asked_of(draw, 1, 5)
    yield asked_of(draw, 6, 1)
    yield asked_of(draw, 1, 1)
    yield asked_of(draw, 3, 9, N=11)
    table = {"table.weight": draw.normal(6, 6)}
    yield asked(table, draw.integers(0, 6, 3), draw.integers(0, 6, 4))
    twice = draw.integers(0, 7, 3)
    yield asked(weights(draw), twice, twice).label("a continuation that repeats the prompt")


@continuation_log_probability.criterion("the model is called once", points=0.5, tries="call")
def _(draw):
    yield asked_of(draw, 3, 4, count=True)
    yield asked_of(draw, 1, 2, count=True)
    yield asked_of(draw, 5, 6, count=True, block_size=11)  # the whole text just fits
    yield asked_of(draw, 2, 1, count=True)


@continuation_log_probability.criterion("improbable continuations", points=0.25, tries="improbable")
def _(draw):
    for size in (200, 2000):
        table = {"table.weight": size * draw.uniform(5, 5, low=-1.0, high=1.0)}
        yield asked(table, draw.integers(0, 5, 2), draw.integers(0, 5, 6)).label(f"logits from -{size} to {size}")
    table = {"table.weight": draw.normal(5, 5) + 300}
    yield asked(table, draw.integers(0, 5, 2), draw.integers(0, 5, 6)).label("logits of about 300")
    table = -draw.uniform(5, 5, low=120.0, high=300.0)
    table[:, 0] = 0.0  # the other tokens have probabilities below 1e-52
    given = draw.integers(0, 5, 2), draw.integers(1, 5, 6)
    yield asked({"table.weight": table}, *given).label("a logit of 0 and others from -300 to -120")
    table = {"table.weight": draw.normal(6, 6)}
    yield asked(table, draw.integers(0, 6, 2), draw.integers(0, 6, 60)).label("a continuation of 60 tokens")


@continuation_log_probability.criterion("differentiable; float64, any device", points=0.5, check_types=True)
def _(draw):
    yield asked_of(draw, 4, 3).with_gradients()
    yield asked_of(draw, 2, 6).with_gradients()
    # Logits for which float32 is too coarse, while no probability is small
    table = {"table.weight": draw.uniform(7, 7, dtype=torch.float64) + 300}
    yield asked(table, draw.integers(0, 7, 3), draw.integers(0, 7, 2)).with_gradients()
    yield asked_of(draw, 1, 4, dtype=torch.float64)
    yield asked_of(draw, 2, 3)
    yield asked_of(draw, 3, 4, modes=True).does_not_mutate()
    yield asked_of(draw, 3, 4).device_only()


@continuation_log_probability.sizes(points=0.25, T=(1, 4, 300), M=(1, 3, 300), N=(1, 7, 300))
def _(draw, T, M, N):
    return asked_of(draw, T, M, N, block_size=T + M)
