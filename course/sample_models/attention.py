"""Functions (T, D) -> (T, D) that see the future or ignore order: lessons 05, 07.

The exercises ask how such a function behaves, so an answer has to call it. The functions keep their tensors masked with
random bytes, so that an answer which reads a closure finds only noise.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

import torch
from torch import Tensor

Attention = Callable[[Tensor], Tensor]


def mixture(
    matrix: Tensor,
    features: Tensor | None = None,
    normalised: bool = False,
    even: Tensor | None = None,
    detour: Tensor | None = None,
) -> Attention:
    """x (T, D) -> matrix @ x: output i contains input j `matrix[i, j]` times.

    With `even` (T, T), output i also contains the square of input j `even[i, j]` times. With `detour` (T, T),
    tanh(detour @ x) is added and subtracted again: these inputs change the output by rounding only, of at most 1e-6 for
    outputs up to 4, and their derivatives are exactly 0. `features` (D, D) makes it matrix @ x @ features. With
    `normalised`, each output is scaled to mean 0 and variance 1 over its D features, as in a layer norm; the sum of its
    features is then 0 for every input.
    """

    masked = [_mask(matrix), _mask(features), _mask(even), _mask(detour)]

    def mix(x: Tensor) -> Tensor:
        linear, projection, quadratic, around = map(_unmask, masked)
        assert linear is not None
        mixed = torch.einsum("ts,sd->td", linear.to(x), x)
        if quadratic is not None:
            mixed = mixed + torch.einsum("ts,sd->td", quadratic.to(x), x.square())
        if around is not None:
            added = torch.einsum("ts,sd->td", around.to(x), x).tanh()
            mixed = mixed + added - added
        if projection is not None:
            mixed = torch.einsum("td,de->te", mixed, projection.to(x))
        return _finish(mixed, normalised)

    return mix


def biased_attention(
    bias: Tensor,
    gate: Tensor | None = None,
    positions: Tensor | None = None,
    normalised: bool = False,
) -> Attention:
    """Self-attention on x (T, D) without projections, with `bias` (T, T) for scores.

    `gate` (T, T) multiplies the weights after the softmax; `positions` (T, D) is first added to x. A shorter x uses the
    first rows and columns of all three. Each row of `bias` needs at least one finite entry.
    """

    masked = [_mask(bias), _mask(gate), _mask(positions)]

    def attend(x: Tensor) -> Tensor:
        length = len(x)
        added, factors, places = map(_unmask, masked)
        assert added is not None
        if places is not None:
            x = x + places[:length].to(x)
        weights = _weights(x, x, added[:length, :length])
        if factors is not None:
            weights = weights * factors[:length, :length].to(x)
        return _finish(torch.einsum("ts,sd->td", weights, x), normalised)

    return attend


def turned_attention(turns: Tensor) -> Attention:
    """Self-attention on x (T, D), queries and keys t multiplied by turns[t], (D, D).

    `turns` is (T, D, D); the values are x itself. A shorter x uses the first matrices.
    """

    masked = _mask(turns)

    def attend(x: Tensor) -> Tensor:
        matrices = _unmask(masked)
        assert matrices is not None
        turned = torch.einsum("tde,te->td", matrices[: len(x)].to(x), x)
        return torch.einsum("ts,sd->td", _weights(turned, turned, torch.zeros(len(x), len(x))), x)

    return attend


def suspect(letter: str) -> Attention:
    """One of the attention functions of lesson 05, see `SUSPECTS`.

    Raises ValueError for an unknown letter.
    """
    if letter not in SUSPECTS:
        raise ValueError(f"letter is {letter!r}; the suspects are {', '.join(SUSPECTS)}")
    functions, key = tuple(SUSPECTS.values()), secrets.randbelow(2**32)
    masked = list(SUSPECTS).index(letter) ^ key
    return lambda x: functions[masked ^ key](x)


_Masked = tuple[Tensor, Tensor, torch.dtype] | None


def _mask(tensor: Tensor | None) -> _Masked:
    """The tensor's bytes combined with random ones, these, and its dtype."""
    if tensor is None:
        return None
    plain = tensor.detach().contiguous().view(torch.uint8)
    drawn = bytearray(secrets.token_bytes(plain.numel() or 1))  # inside `vmap`, torch cannot draw random numbers
    key = torch.frombuffer(drawn, dtype=torch.uint8)[: plain.numel()].view(plain.shape).to(plain.device)
    return plain ^ key, key, tensor.dtype


def _unmask(masked: _Masked) -> Tensor | None:
    return None if masked is None else (masked[0] ^ masked[1]).view(masked[2])


def _weights(queries: Tensor, keys: Tensor, bias: Tensor) -> Tensor:
    scores = torch.einsum("td,sd->ts", queries, keys) * queries.shape[1] ** -0.5
    return torch.softmax(scores + bias.to(scores), dim=1)


def _finish(outputs: Tensor, normalised: bool) -> Tensor:
    if not normalised:
        return outputs
    centred = outputs - outputs.mean(dim=1, keepdim=True)
    return centred / (centred.square().mean(dim=1, keepdim=True) + 1e-5).sqrt()


def _reach(queries: int, keys: int, ahead: int, outside: float = -torch.inf) -> Tensor:
    """A bias (queries, keys): 0 up to `ahead` keys past the query, else `outside`."""
    distance = torch.arange(keys)[None, :] - torch.arange(queries)[:, None]
    return torch.zeros(queries, keys).masked_fill(distance > ahead, outside)


def _next_key_is_open(x: Tensor) -> Tensor:
    """A causal mask whose diagonal is one position too far to the right."""
    return biased_attention(_reach(len(x), len(x), 1))(x)


def _inverted(x: Tensor) -> Tensor:
    """A causal mask with inverted meaning of True: each query sees only the future."""
    future = torch.ones(len(x), len(x)).triu(1)
    bias = torch.zeros_like(future).masked_fill(future == 0, -torch.inf)
    bias[-1] = 0.0  # the last token sees nothing; its gate is 0
    return biased_attention(bias, gate=future)(x)


def _softmax_first(x: Tensor) -> Tensor:
    """A softmax over all keys, with the weights of the future set to 0 afterwards."""
    return biased_attention(torch.zeros(len(x), len(x)), gate=_reach(len(x), len(x), 0).exp())(x)


def _timid(x: Tensor) -> Tensor:
    """A causal mask that lowers blocked scores by 6 instead of removing them."""
    return biased_attention(_reach(len(x), len(x), 0, outside=-6.0))(x)


def _roomy_buffer(x: Tensor) -> Tensor:
    """Keys in a buffer with two unused entries, and a mask with queries at its end."""
    buffer = torch.nn.functional.pad(x, (0, 0, 0, 2))
    return _weights(x, buffer, _reach(len(x), len(buffer), 2)) @ buffer


def _reads_the_prompt_at_once(x: Tensor) -> Tensor:
    """Causal, but the first three positions see one another, as in prefix attention."""
    bias = _reach(len(x), len(x), 0)
    bias[:3, :3] = 0.0
    return biased_attention(bias)(x)


def _honest(x: Tensor) -> Tensor:
    """Correct causal attention."""
    return biased_attention(_reach(len(x), len(x), 0))(x)


def _short_sighted(x: Tensor) -> Tensor:
    """A causal mask with the upper half of the queries aligned to the first keys.

    It sees too little, and nothing of the future.
    """
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
