"""Small functions and models that exercises take as arguments, chosen by name.

`sees_the_future` (lesson 05) and `is_order_blind` (lesson 07) examine a function that maps (T, D) to (T, D).
`mixture`, `biased_attention` and `turned_attention` make such functions from tensors, so that what one does is data
and not code; `suspect` gives the eight of lesson 05 by letter. All are made of plain differentiable operations:
backward and forward mode, `torch.func` and `vmap` work on them; none is random and none keeps anything between calls.
Where an output does not depend on an input, it does not change by a single bit when that input does.

`Projections`, `torch_attention` and `assembled` (lesson 06) are modules whose weights are copied or counted. `Bigram`,
`Windowed` and `Slope` (lesson 08) are models in that lesson's sense: ids (B, T) to logits (B, T, N), with a
`block_size`. What they give depends on how they are called, so that a judge who sees what came out needs no record.
`Reader`, `Writer` and `story` (lesson 12) are an encoder, a decoder and the step of a search.

`GPT` (lesson 11) is the model of `gpt.py`, `layer_norm` and `Scaled` are modules that stand at a model's end.

None of them answers an exercise: they are what answers are tried on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import torch
from torch import Tensor, nn

from .gpt import GPT as GPT

Attention = Callable[[Tensor], Tensor]
Memory = Tensor | tuple[Tensor, Tensor] | dict[str, Tensor]


def mixture(
    matrix: Tensor, features: Tensor | None = None, normalised: bool = False, even: Tensor | None = None
) -> Attention:
    """x (T, D) -> matrix @ x, for a matrix (T, T): output i holds input j `matrix[i, j]` times.

    With `even` (T, T) output i holds the square of input j `even[i, j]` times beside, whatever the sign of that input.
    `features` (D, D) makes it matrix @ x @ features. With `normalised` each output is brought to mean 0 and variance 1
    over its D features, as by a layer norm; the sum of its features is then 0 whatever the input is.
    """

    def mix(x: Tensor) -> Tensor:
        mixed = torch.einsum("ts,sd->td", matrix.to(x), x)
        if even is not None:
            mixed = mixed + torch.einsum("ts,sd->td", even.to(x), x.square())
        if features is not None:
            mixed = torch.einsum("td,de->te", mixed, features.to(x))
        return _finish(mixed, normalised)

    return mix


def biased_attention(
    bias: Tensor,
    gate: Tensor | None = None,
    positions: Tensor | None = None,
    normalised: bool = False,
) -> Attention:
    """Self-attention on x (T, D) without projections, with `bias` (T, T) added to its scaled scores.

    `gate` (T, T) multiplies the weights after the softmax; `positions` (T, D) is added to x beforehand. A shorter x
    gets the first rows and columns of all three. A row of `bias` must hold at least one finite number.
    """

    def attend(x: Tensor) -> Tensor:
        length = len(x)
        if positions is not None:
            x = x + positions[:length].to(x)
        weights = _weights(x, x, bias[:length, :length])
        if gate is not None:
            weights = weights * gate[:length, :length].to(x)
        return _finish(torch.einsum("ts,sd->td", weights, x), normalised)

    return attend


def turned_attention(turns: Tensor) -> Attention:
    """Self-attention on x (T, D) whose query and key number t are both multiplied by the matrix turns[t], (D, D).

    `turns` is (T, D, D); the values are x as it is. A shorter x gets the first matrices.
    """

    def attend(x: Tensor) -> Tensor:
        turned = torch.einsum("tde,te->td", turns[: len(x)].to(x), x)
        return torch.einsum("ts,sd->td", _weights(turned, turned, torch.zeros(len(x), len(x))), x)

    return attend


def suspect(letter: str) -> Attention:
    """One of the attention functions of lesson 05; see `SUSPECTS` for what each one does.

    Raises ValueError for a letter that names none.
    """
    if letter not in SUSPECTS:
        raise ValueError(f"letter is {letter!r}; the suspects are {', '.join(SUSPECTS)}")
    return SUSPECTS[letter]


def _weights(queries: Tensor, keys: Tensor, bias: Tensor) -> Tensor:
    scores = torch.einsum("td,sd->ts", queries, keys) * queries.shape[1] ** -0.5
    return torch.softmax(scores + bias.to(scores), dim=1)


def _finish(outputs: Tensor, normalised: bool) -> Tensor:
    if not normalised:
        return outputs
    centred = outputs - outputs.mean(dim=1, keepdim=True)
    return centred / (centred.square().mean(dim=1, keepdim=True) + 1e-5).sqrt()


def _reach(queries: int, keys: int, ahead: int, outside: float = -torch.inf) -> Tensor:
    """A bias (queries, keys): 0 for keys up to `ahead` places after the query's own row, `outside` beyond them."""
    distance = torch.arange(keys)[None, :] - torch.arange(queries)[:, None]
    return torch.zeros(queries, keys).masked_fill(distance > ahead, outside)


def _next_key_is_open(x: Tensor) -> Tensor:
    """A causal mask whose diagonal lies one place too far to the right."""
    return biased_attention(_reach(len(x), len(x), 1))(x)


def _inverted(x: Tensor) -> Tensor:
    """A causal mask handed over with the meaning of True turned round: only the future can be seen."""
    future = torch.ones(len(x), len(x)).triu(1)
    bias = torch.zeros_like(future).masked_fill(future == 0, -torch.inf)
    bias[-1] = 0.0  # the last token sees nothing; its gate is shut
    return biased_attention(bias, gate=future)(x)


def _softmax_first(x: Tensor) -> Tensor:
    """The softmax over everything, and the weights on the future set to 0 afterwards."""
    return biased_attention(torch.zeros(len(x), len(x)), gate=_reach(len(x), len(x), 0).exp())(x)


def _timid(x: Tensor) -> Tensor:
    """A causal mask whose blocked scores are lowered by 6 instead of being removed."""
    return biased_attention(_reach(len(x), len(x), 0, outside=-6.0))(x)


def _roomy_buffer(x: Tensor) -> Tensor:
    """Keys in a buffer with two unused places at its end, and a mask that takes the queries for its last rows."""
    buffer = torch.nn.functional.pad(x, (0, 0, 0, 2))
    return _weights(x, buffer, _reach(len(x), len(buffer), 2)) @ buffer


def _reads_the_prompt_at_once(x: Tensor) -> Tensor:
    """Causal, but the first three positions see one another: a prompt that is read as a whole."""
    bias = _reach(len(x), len(x), 0)
    bias[:3, :3] = 0.0
    return biased_attention(bias)(x)


def _honest(x: Tensor) -> Tensor:
    """Causal attention as it should be."""
    return biased_attention(_reach(len(x), len(x), 0))(x)


def _short_sighted(x: Tensor) -> Tensor:
    """The upper half of the queries aligned with the first keys: it sees too little, and nothing of the future."""
    half = len(x) // 2
    bias = torch.cat([_reach(half, len(x), 0), _reach(len(x) - half, len(x), 0)])
    return biased_attention(bias)(x)


SUSPECTS: dict[str, Attention] = {
    "A": _timid,
    "B": _honest,
    "C": _roomy_buffer,
    "D": _softmax_first,
    "E": _reads_the_prompt_at_once,
    "F": _inverted,
    "G": _next_key_is_open,
    "H": _short_sighted,
}


def torch_attention(width: int, n_heads: int, batch_first: bool = False) -> nn.MultiheadAttention:
    """PyTorch's layer as the lesson uses it, without biases."""
    return nn.MultiheadAttention(width, n_heads, bias=False, batch_first=batch_first)


class Projections(nn.Module):
    """Multi-head attention with W_q, W_k, W_v, W_o, registered in the given order; PyTorch does the attending."""

    def __init__(self, width: int, n_heads: int, order: Sequence[str] = ("W_q", "W_k", "W_v", "W_o")) -> None:
        super().__init__()
        self.n_heads = n_heads
        for name in order:
            self.add_module(name, nn.Linear(width, width, bias=False))

    def forward(
        self, x: Tensor, context: Tensor | None = None, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """x (B, T, D), context (B, S, D), mask (T, S) -> output (B, T, D), weights (B, H, T, S)."""
        query, source = x.transpose(0, 1), (x if context is None else context).transpose(0, 1)
        packed = torch.cat([self.get_parameter(f"W_{letter}.weight") for letter in "qkv"])
        output, weights = nn.functional.multi_head_attention_forward(
            query,
            source,
            source,
            x.shape[-1],
            self.n_heads,
            packed,
            None,
            None,
            None,
            False,
            0.0,
            self.get_parameter("W_o.weight"),
            None,
            attn_mask=mask,
            average_attn_weights=False,
        )
        return output.transpose(0, 1), weights


def assembled(
    parameters: Mapping[str, Sequence[int]],
    frozen: Iterable[str] = (),
    tied: Mapping[str, str] | None = None,
    buffers: Mapping[str, Sequence[int]] | None = None,
    lists: Mapping[str, Sequence[Sequence[int]]] | None = None,
) -> nn.Module:
    """A module from the names and shapes of its parameters; a dot in a name leads into a part.

    frozen   names of those that are not trained
    tied     name -> the name of the parameter (or the part) that is used there once more
    buffers  names and shapes of tensors that are no parameters
    lists    name -> shapes of the parameters in an nn.ParameterList
    All parameters are 1, so that none can be told from another by its values.
    """
    whole = nn.Module()
    for name, shape in parameters.items():
        weight = nn.Parameter(torch.ones(tuple(shape)), name not in set(frozen))
        _part(whole, name).register_parameter(_last(name), weight)
    for name, shapes in (lists or {}).items():
        weights = nn.ParameterList(nn.Parameter(torch.ones(tuple(shape))) for shape in shapes)
        _part(whole, name).add_module(_last(name), weights)
    for name, other in (tied or {}).items():
        setattr(_part(whole, name), _last(name), getattr(_part(whole, other), _last(other)))
    for name, shape in (buffers or {}).items():
        _part(whole, name).register_buffer(_last(name), torch.ones(tuple(shape)))
    return whole


def _part(root: nn.Module, name: str) -> nn.Module:
    """The module that holds `name`, made with all that lies between where it is missing."""
    for step in name.split(".")[:-1]:
        if step not in root._modules:
            root.add_module(step, nn.Module())
        root = root.get_submodule(step)
    return root


def _last(name: str) -> str:
    return name.rpartition(".")[2]


class Enough(Exception):
    """A model has been called as often as it may be; see `Slope`."""


class _Model(nn.Module):
    """A model whose logits show in which state it was called.

    contrary  where that state holds, the logits are multiplied by -1: "flowing", gradients could flow; "training", not
              all parts are in eval mode; "resting", not all are in training mode; "asleep", all are in eval mode. What
              an answer makes of a contrary model, beside what it makes of a plain one, tells how it called it, and
              nothing that is noted here needs to be believed.
    calls     for every call how many tokens were shown, the mode (True in training, False in eval mode, None where
              not all parts are in the same) and whether gradients could flow: for a learner's own eyes

    Raises ValueError for more tokens than `block_size`.
    """

    def __init__(self, block_size: int, contrary: str = "") -> None:
        super().__init__()
        self.block_size, self.contrary = block_size, contrary
        self.calls: list[list[int | bool | None]] = []

    def forward(self, ids: Tensor) -> Tensor:
        """int64 (B, T) -> (B, T, N)."""
        if ids.shape[1] > self.block_size:
            raise ValueError(f"ids has the shape {tuple(ids.shape)}, and block_size is {self.block_size}")
        flows = torch.is_grad_enabled() and any(p.requires_grad for p in self.parameters())
        modes = {part.training for part in self.modules()}
        self.calls.append([ids.shape[1], modes.pop() if len(modes) == 1 else None, flows])
        mode = self.calls[-1][1]
        whole = {"training": mode is not False, "resting": mode is not True, "asleep": mode is False}
        turned = flows if self.contrary == "flowing" else whole.get(self.contrary, False)
        return -self.logits(ids) if turned else self.logits(ids)

    def logits(self, ids: Tensor) -> Tensor:
        raise NotImplementedError


class Bigram(_Model):
    """The next token by the last one only: logits are the rows of `table.weight` (N, N)."""

    def __init__(self, n_tokens: int, block_size: int, contrary: str = "") -> None:
        super().__init__(block_size, contrary)
        self.table = nn.Embedding(n_tokens, n_tokens)

    def logits(self, ids: Tensor) -> Tensor:
        logits: Tensor = self.table(ids)
        return logits


class Windowed(_Model):
    """The next token by all tokens shown so far, each place with a weight of its own in a running sum.

    Parameters: tokens.weight (N, D), places.weight (block_size, D), out.weight (N, D). Dropout falls on what goes into
    `out`, in training mode only; `inner.norm`, where `batch_norm` asks for it, keeps running statistics.
    """

    def __init__(
        self,
        n_tokens: int,
        width: int,
        block_size: int,
        dropout: float = 0.0,
        batch_norm: bool = False,
        contrary: str = "",
    ) -> None:
        super().__init__(block_size, contrary)
        self.tokens, self.places = nn.Embedding(n_tokens, width), nn.Embedding(block_size, width)
        norm = nn.BatchNorm1d(width, affine=False) if batch_norm else nn.Identity()
        self.inner = nn.ModuleDict({"norm": norm, "dropout": nn.Dropout(dropout)})
        self.out = nn.Linear(width, n_tokens, bias=False)

    def logits(self, ids: Tensor) -> Tensor:
        seen = (self.tokens(ids) * self.places.weight[: ids.shape[1]]).cumsum(1).tanh()
        seen = self.inner["norm"](seen.transpose(1, 2)).transpose(1, 2)
        logits: Tensor = self.out(self.inner["dropout"](seen))
        return logits


class Slope(_Model):
    """Two tokens and one weight for each place, all 0 at first.

    At place t the logit of token 0 is `weight[t] / 10 + crowd * B`, that of token 1 is 0. On a text of nothing but
    token 0, with `crowd` 0, the gradient of the mean loss of T places is -0.05 / T for each weight, and changes by less
    than 2.5 % while the weight is below 1. So what an optimizer makes of a constant gradient, its learning rate above
    all, can be read off the weights; a place that was not trained has not moved; and with a `crowd` the loss tells how
    many rows a batch has.

    patience  after so many calls in which gradients could flow it raises Enough, so that the weights can be seen as
              they are on the way; None: never
    """

    def __init__(self, block_size: int, crowd: float = 0.0) -> None:
        super().__init__(block_size)
        self.weight = nn.Parameter(torch.zeros(block_size))
        self.crowd = crowd
        self.patience: int | None = None

    def logits(self, ids: Tensor) -> Tensor:
        if self.calls[-1][2] and self.patience is not None:
            if self.patience == 0:
                raise Enough
            self.patience -= 1
        slope = self.weight / 10 + self.crowd * len(ids)
        logits = torch.stack([slope, torch.zeros_like(slope)], dim=-1)
        return logits[: ids.shape[1]].repeat(len(ids), 1, 1)


def layer_norm(width: int, eps: float = 1e-5) -> nn.LayerNorm:
    """PyTorch's layer norm over `width` features."""
    return nn.LayerNorm(width, eps)


class Scaled(nn.Module):
    """A module that takes the part of a norm and is none: each feature times its own `weight` (width,)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """(..., width) -> (..., width)"""
        return x * self.weight


def _open_mean(values: Tensor, mask: Tensor | None) -> Tensor:
    """(B, S, D), bool (B, S) True where padded -> (B, 1, D): the mean over open positions, 0 where there is none."""
    open_ = torch.ones_like(values[..., :1]) if mask is None else (~mask)[..., None].to(values)
    return (values * open_).sum(1, keepdim=True) / open_.sum(1, keepdim=True).clamp(min=1.0)


class Reader(nn.Module):
    """An encoder: int64 (B, S) and a mask (B, S) or None -> a memory (B, S, D), each position with the mean of all.

    With `paired` the memory is a pair of two such tensors, with `named` a dict of them: what an encoder gives is its
    decoder's business. `calls` holds for every call the number of positions and whether there was a mask.
    """

    def __init__(self, n_tokens: int, width: int, paired: bool = False, named: bool = False) -> None:
        super().__init__()
        self.table, self.paired, self.named = nn.Embedding(n_tokens, width), paired, named
        self.calls: list[list[int | bool]] = []

    def forward(self, source: Tensor, source_mask: Tensor | None = None) -> Memory:
        """int64 (B, S), bool (B, S) -> (B, S, D), or a pair or a dict of those."""
        self.calls.append([source.shape[1], source_mask is not None])
        read = self.table(source)
        memory = (read + _open_mean(read, source_mask)).tanh()
        if self.named:
            return {"memory": memory, "read": -2 * read}
        return (memory, -2 * read) if self.paired else memory


class Writer(nn.Module):
    """A decoder: int64 (B, T), a `Reader`'s memory and its mask -> logits (B, T, N), from the tokens up to each."""

    def __init__(self, n_tokens: int, width: int) -> None:
        super().__init__()
        self.table, self.out = nn.Embedding(n_tokens, width), nn.Linear(width, n_tokens, bias=False)
        self.calls: list[list[int | bool]] = []

    def forward(self, targets_in: Tensor, memory: Memory, source_mask: Tensor | None = None) -> Tensor:
        """int64 (B, T), (B, S, D) or a pair or a dict of those, bool (B, S) -> (B, T, N)."""
        self.calls.append([targets_in.shape[1], source_mask is not None])
        named = tuple(memory.values()) if isinstance(memory, dict) else memory
        parts = named if isinstance(named, tuple) else (named,)
        asked = torch.stack([_open_mean(part, source_mask) for part in parts]).sum(0)
        logits: Tensor = self.out((self.table(targets_in).cumsum(1) + 3 * asked).tanh())
        return logits


def story(table: Tensor, fade: float = 0.0) -> Callable[[Sequence[int]], Tensor]:
    """The step of a search: a list of ids -> log-probabilities (N,) of the next one. TypeError for a tensor.

    `table` (N, N) holds logits, a row for each token that came before. The last token counts in full, each one before
    it `fade` times as much as the one after it.
    """

    def step(ids: Sequence[int]) -> Tensor:
        if isinstance(ids, Tensor):
            raise TypeError("step takes a list of ids, and was given a tensor")
        logits = torch.zeros_like(table[0])
        for i in ids:
            logits = fade * logits + table[i]
        return logits.log_softmax(-1)

    return step
