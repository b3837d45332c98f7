"""A learner's functions as parts of the small language model, and its loss with them.

Each function has the signature of its exercise. The model adds what the exercise lacks: lesson 00's attention takes one
head of one text, and the `attention` of lesson 03 knows no mask, so each query is given only the keys before it.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from .modern_lm import BUILT_IN, Attention, ModernLM, Parts
from .right_functions.lesson_05 import causal_mask

Changes = dict[str, Any]  # field of `Parts` -> what replaces it
ROUNDING = 1e-5  # nats; two right computations in float32 differ by less
TILE = 16  # queries and keys, for lesson 10
SHORT = 24  # tokens of the one text for `dot_product`, which is called once per score


def compare(model: ModernLM, ids: Tensor, yours: Mapping[str, Any]) -> tuple[float, float]:
    """Print and return the model's loss on ids (B, T) with a learner's functions, and with the built-in ones.

    If a function fails, print that instead, and return NaN as its loss. Raises TypeError for a name that is not in
    SWAPS, and for two names that replace the same part.
    """
    _refuse_unknown(yours)
    ids = ids[:1, :SHORT] if "dot_product" in yours else ids
    named = _named(yours)
    parts = _swapped(named)
    with torch.no_grad():
        builtin = float(model.losses(ids).mean())
        try:
            loss = float(model.losses(ids, parts).mean())
        except Refused as failure:
            print(f"{failure}. Loss with the built-in: {builtin:.4f}.")
            return math.nan, builtin
    difference, with_what = loss - builtin, " and ".join(function.shown for function in named.values())
    print(
        f"Loss on {ids[:, 1:].numel()} held-out words. With {with_what}: {loss:.4f}. With the built-in: {builtin:.4f}. "
        f"Difference: {_shown_difference(difference)}."
    )
    return loss, builtin


def parts_with(yours: Mapping[str, Any]) -> Parts:
    """The model's parts with a learner's functions in place of some. Raises TypeError like `compare`."""
    _refuse_unknown(yours)
    return _swapped(_named(yours))


def _refuse_unknown(yours: Mapping[str, Any]) -> None:
    unknown = [name for name in yours if name not in SWAPS]
    if unknown or not yours:
        known = ", ".join(f"{name}=" for name in SWAPS)
        raise TypeError(f"expected one of {known}, got {', '.join(unknown) or 'nothing'}")


def _named(yours: Mapping[str, Any]) -> dict[str, Yours]:
    return {name: Yours(_shown_name(name, function), function) for name, function in yours.items()}


class Refused(Exception):
    """A learner's function failed, or returned something that the model cannot use; the text says which."""


@dataclass(frozen=True)
class Yours:
    """A learner's function, and its name in sentences. Calling it raises `Refused` for any error in it."""

    name: str
    function: Any

    @property
    def shown(self) -> str:
        """The function in a sentence: its name, or a number."""
        return f"{self.name} = {self.function:.4g}" if isinstance(self.function, int | float) else self.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = [arg.clone() if isinstance(arg, Tensor) else arg for arg in args]  # it may change its arguments
        try:
            return self.function(*given, **kwargs)
        except NotImplementedError:
            raise Refused(f"{self.name} is not written yet") from None
        except Exception as error:
            raise Refused(f"{self.name} raised {_one_line(error)}") from None

    def tensor(self, shape: tuple[int, ...], dtype: torch.dtype, *args: Any, **kwargs: Any) -> Tensor:
        """Call it. Raises `Refused` unless it returns a tensor of this shape and dtype."""
        return self.checked(self(*args, **kwargs), shape, dtype)

    def output(self, shape: tuple[int, ...], *args: Any, **kwargs: Any) -> Tensor:
        """Call it. Raises `Refused` unless it returns (output, weights) with an output of this shape."""
        return self.checked(self.several(2, "(output, weights)", *args, **kwargs)[0], shape, torch.float32)

    def several(self, count: int, wanted: str, *args: Any, **kwargs: Any) -> Any:
        """Call it. Raises `Refused` unless it returns this many values."""
        result = self(*args, **kwargs)
        if not isinstance(result, tuple | list) or len(result) != count:
            raise Refused(f"{self.name}: expected {wanted}, got {_described(result)}")
        return result

    def checked(self, result: Any, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        """The result. Raises `Refused` unless it is a tensor of this shape and dtype."""
        if not isinstance(result, Tensor) or result.shape != shape or result.dtype != dtype:
            raise Refused(f"{self.name}: expected {dtype} of shape {tuple(shape)}, got {_described(result)}")
        return result


def _shown_name(name: str, function: Any) -> str:
    """A class has a name of its own; a function is called like its argument."""
    return str(getattr(function, "__name__", name)) if name == "module" else name


def _shown_difference(difference: float) -> str:
    if math.isnan(difference):
        return "nan, so a result has NaN in it"
    if abs(difference) < ROUNDING:
        return f"below {ROUNDING:.5f} (rounding)" if difference else "0"
    return f"{difference:+.4f}" if abs(difference) >= 1e-3 else f"{difference:+.1e}"


def _described(result: Any) -> str:
    if isinstance(result, Tensor):
        return f"{result.dtype} of shape {tuple(result.shape)}"
    if isinstance(result, tuple | list):
        return f"a {type(result).__name__} of {len(result)}"
    return "None" if result is None else f"a value of type {type(result).__name__}"


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}".removesuffix(": ").removesuffix(".")


def _swapped(named: Mapping[str, Yours]) -> Parts:
    """The built-in parts, a learner's in place of some."""
    changes: Changes = {}
    owner: dict[str, str] = {}
    for name, function in named.items():
        found = SWAPS[name](function)
        for part in itertools.chain(found, *(INCLUDES.get(part, ()) for part in found)):
            if owner.setdefault(part, name) != name:
                raise TypeError(f"{owner[part]}= and {name}= replace the same part; compare one of them at a time")
        changes |= found
    return replace(BUILT_IN, **changes)


def _swap_dot_product(dot: Yours) -> Changes:
    def scores(query: Tensor, key: Tensor) -> Tensor:
        found = query.new_zeros(*query.shape[:-1], key.shape[-2])
        for b, h, t in itertools.product(*map(range, query.shape[:-1])):
            for s in range(t + 1):  # later keys are masked
                found[b, h, t, s] = dot.tensor((), query.dtype, query[b, h, t], key[b, h, s])
        return found

    return {"scores": scores}


def _swap_similarity_scores(f: Yours) -> Changes:
    return {"scores": lambda q, k: f.tensor((*q.shape[:-1], k.shape[-2]), q.dtype, q, k)}


def _swap_softmax(softmax: Yours) -> Changes:
    def weights(scores: Tensor, mask: Tensor) -> Tensor:
        return softmax.tensor(scores.shape, scores.dtype, scores.masked_fill(mask, -torch.inf), dim=-1)

    return {"weights": weights}


def _swap_softmax_with_temperature(softmax: Yours) -> Changes:
    """Scores divided by √K are scores with the temperature √K."""

    def attend(parts: Parts, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        scores = parts.scores(query, key).masked_fill(parts.mask(query.shape[-2]), -torch.inf)
        return softmax.tensor(scores.shape, scores.dtype, scores, math.sqrt(query.shape[-1]), dim=-1) @ value

    return {"attend": attend}


def _swap_log_softmax(f: Yours) -> Changes:
    return {"log_softmax": lambda logits: f.tensor(logits.shape, logits.dtype, logits, dim=-1)}


def _swap_embed(f: Yours) -> Changes:
    return {"embed": lambda ids, table: f.tensor((*ids.shape, table.shape[-1]), table.dtype, ids, table)}


def _swap_attention(attention: Yours) -> Changes:
    """Lesson 03's attention, which does not scale: its queries are scaled before."""
    return {"attend": lambda _, q, k, v: _row_by_row(attention, q * q.shape[-1] ** -0.5, k, v)}


def _swap_my_attention(attention: Yours) -> Changes:
    """Lesson 00's attention, of one head of one text; it scales, and hides later keys, itself."""

    def attend(_: Parts, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        heads = zip(*(vectors.flatten(0, 1) for vectors in (query, key, value)), strict=True)
        return torch.stack([attention.output(v.shape, q, k, v) for q, k, v in heads]).view_as(value)

    return {"attend": attend}


def _swap_scale(scale: Yours) -> Changes:
    """Lesson 04's attention, or a number to multiply the scores by."""
    if isinstance(scale.function, int | float):
        return {"scale": float(scale.function)}
    return {"attend": lambda _, q, k, v: _row_by_row(scale, q, k, v)}


def _row_by_row(attention: Yours, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Causal attention by a function without a mask: each query with the keys up to its position."""
    rows = []
    for t in range(query.shape[-2]):
        row, so_far = query[..., t : t + 1, :], slice(0, t + 1)
        rows.append(attention.output(row.shape, row, key[..., so_far, :], value[..., so_far, :]))
    return torch.cat(rows, dim=-2)


def _swap_mask(mask: Yours) -> Changes:
    return {"mask": lambda T: mask.tensor((T, T), torch.bool, T)}


def _swap_masked_softmax(f: Yours) -> Changes:
    return {"weights": lambda scores, mask: f.tensor(scores.shape, scores.dtype, scores, mask)}


def _swap_masked_attention(f: Yours) -> Changes:
    return {"attend": lambda parts, q, k, v: f.output(v.shape, q, k, v, parts.mask(q.shape[-2]))}


def _swap_tiled_attention(f: Yours) -> Changes:
    """Lesson 10's attention, which returns a log-sum-exp in place of the weights.

    A text of `compare` is shorter than the default tile, so it is cut into smaller ones.
    """

    def attend(parts: Parts, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        found = f.several(2, "(output, lse)", query, key, value, mask=parts.mask(query.shape[-2]), tile=TILE)
        return f.checked(found[0], value.shape, value.dtype)

    return {"attend": attend}


def _swap_causal_tiled_attention(f: Yours) -> Changes:
    def attend(_: Parts, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return f.checked(f.several(2, "(output, lse)", query, key, value, tile=TILE)[0], value.shape, value.dtype)

    return {"attend": attend}


def _swap_split(split: Yours) -> Changes:
    def heads(x: Tensor, n_heads: int) -> Tensor:
        B, T, D = x.shape
        return split.tensor((B, n_heads, T, D // n_heads), x.dtype, x, n_heads)

    return {"split": heads}


def _swap_merge(merge: Yours) -> Changes:
    return {"merge": lambda x: merge.tensor((x.shape[0], x.shape[2], x.shape[1] * x.shape[3]), x.dtype, x)}


def _swap_rope(rope: Yours) -> Changes:
    return {"rope": lambda x, positions: rope.tensor(x.shape, x.dtype, x, positions)}


def _swap_module(module: Yours) -> Changes:
    """A class for the whole attention.

    Lesson 07's, which takes positions, replaces all layers; where a layer does not rotate, all positions are 0. Lesson
    06's does not rotate, and replaces the layer that does not either.
    """

    def whole(attention: Attention, x: Tensor) -> Tensor:
        with torch.random.fork_rng(devices=[]):  # the learner's next random numbers stay the same
            made = module(attention.d_model, attention.n_heads)
        if not isinstance(made, nn.Module):
            raise Refused(f"{module.name}: expected an nn.Module, got {_described(made)}")
        rotates = "positions" in inspect.signature(made.forward).parameters
        if attention.rotates and not rotates:
            return attention.forward(x)
        try:
            made.load_state_dict(attention.state_dict())
        except RuntimeError as error:
            raise Refused(f"{module.name} does not take the model's weights: {_one_line(error)}") from None
        T = x.shape[1]
        positions = torch.arange(T) if attention.rotates else torch.zeros(T, dtype=torch.int64)
        more = {"positions": positions} if rotates else {}
        return Yours(module.name, made.eval()).output(x.shape, x, mask=causal_mask(T), **more)

    return {"whole": whole}


INCLUDES = {
    "attend": ("scores", "scale", "mask", "weights"),
    "whole": ("split", "rope", "attend", "scores", "scale", "mask", "weights", "merge"),
}  # field of `Parts` -> the fields that it replaces as well

# The names of `compare`, by lesson -> how to put such a function into the model
SWAPS: dict[str, Callable[[Yours], Changes]] = {
    "my_attention": _swap_my_attention,  # 00
    "dot_product": _swap_dot_product,  # 01: dot
    "similarity_scores": _swap_similarity_scores,
    "softmax": _swap_softmax,  # 02
    "log_softmax": _swap_log_softmax,
    "softmax_with_temperature": _swap_softmax_with_temperature,
    "embed": _swap_embed,  # 03
    "attention": _swap_attention,
    "scale": _swap_scale,  # 04: scaled_dot_product_attention, or a number
    "mask": _swap_mask,  # 05: causal_mask
    "masked_softmax": _swap_masked_softmax,
    "masked_attention": _swap_masked_attention,
    "split": _swap_split,  # 06: split_heads
    "merge": _swap_merge,  # merge_heads
    "rope": _swap_rope,  # 07: apply_rope
    "module": _swap_module,  # MultiHeadAttention, RotarySelfAttention
    "tiled_attention": _swap_tiled_attention,  # 10
    "causal_tiled_attention": _swap_causal_tiled_attention,
}
