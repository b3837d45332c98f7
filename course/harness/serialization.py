"""Conversion of values to bytes and back, by JSON and safetensors.

Covers: None, bool, int, float, str, list, tuple, dict with str keys, tensors of any dtype that safetensors knows (with
the order of their strides, so that a non-contiguous argument stays non-contiguous) and `Node`, a tagged record.
Unpacking builds nothing else and runs no code, so untrusted bytes are safe to read, in time and memory proportional to
their number (at most ten times, plus `MAX_PARTS` values). The caller checks what the values claim.

Does not cover: what a node means (`course.harness.runner`), whether a value is right (`course.harness.compare`).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

import torch
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

MAX_BYTES = 16 * 2**20
MAX_DEPTH = 32
MAX_PARTS = 250_000  # values, counted by separators
MAX_DIMENSIONS = 64
MAX_BITS = 256  # per int
SURROGATES = re.compile("[\ud800-\udfff]")


class PackingError(ValueError):
    """A value cannot be packed, or bytes are not a packed value; the message says why."""


@dataclass(frozen=True, eq=False)
class Node:
    """A tagged record: a reference, a sample model, a generator, a foreign object."""

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self.fields[name]
        except KeyError:
            raise AttributeError(name) from None


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which Python and JSON can spell but no file can hold."""
    return text if text.isascii() else SURROGATES.sub("\ufffd", text)


def pack(value: Any) -> bytes:
    """Pack `value`. Raises PackingError for types that the module does not cover."""
    tensors: dict[str, torch.Tensor] = {}
    text = json.dumps(_encode(value, tensors, 0)).encode()
    try:
        body = save_tensors(tensors)
    except Exception as error:
        raise PackingError(f"safetensors cannot hold these tensors: {error}") from None
    blob = len(text).to_bytes(8, "little") + text + body
    if len(blob) > MAX_BYTES:
        raise PackingError(f"{len(blob)} bytes are more than the {MAX_BYTES} allowed")
    _parts(blob)
    return blob


def unpack(blob: bytes) -> Any:
    """Undo `pack`. Raises only PackingError, for bytes that `pack` did not make."""
    if len(blob) > MAX_BYTES:
        raise PackingError(f"{len(blob)} bytes are more than the {MAX_BYTES} allowed")
    try:
        text, tensors = _parts(blob)
        return _decode(json.loads(text), load_tensors(tensors), 0)
    except PackingError:
        raise
    except Exception as error:
        raise PackingError(f"not a packed value: {type(error).__name__}: {str(error)[:200]}") from None


def _parts(blob: bytes) -> tuple[bytes, bytes]:
    """Split into text and tensors; safetensors begins with a text, too."""
    text, tensors = _cut(blob)
    _cut(tensors)
    return text, tensors


def _cut(blob: bytes) -> tuple[bytes, bytes]:
    """Split off the text after its size, if it has at most MAX_PARTS values."""
    end = 8 + int.from_bytes(blob[:8], "little")
    if len(blob) < max(end, 8):
        raise PackingError("truncated")
    text = blob[8:end]
    if sum(map(text.count, (b",", b"[", b"{"))) > MAX_PARTS:
        raise PackingError(f"more than {MAX_PARTS} values")
    return text, blob[end:]


def _encode(value: Any, tensors: dict[str, torch.Tensor], depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise PackingError(f"nested deeper than {MAX_DEPTH} levels")
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return _small(int(value))
    if isinstance(value, float):
        return float(value)  # json writes NaN and Infinity, and reads them back
    if isinstance(value, torch.Tensor):
        key = str(len(tensors))
        order, dense = _layout(value)
        plain = value.detach().as_subclass(torch.Tensor)
        if not (plain.device.type == "cpu" and value.is_contiguous()):
            plain = plain.cpu().permute(order).contiguous()
        elif plain.is_conj() or plain.is_neg():
            plain = plain.resolve_conj().resolve_neg()
        # safetensors rejects tensors that share memory; the copy is small
        tensors[key] = plain.clone()
        record: dict[str, Any] = {"$": "tensor", "key": key}
        if order != list(range(value.ndim)):
            record["order"] = order
        if not dense:
            record["dense"] = False
        return record
    if isinstance(value, (list, tuple)):
        items = [_encode(item, tensors, depth + 1) for item in value]
        return items if isinstance(value, list) else {"$": "tuple", "items": items}
    if isinstance(value, dict):
        return {"$": "dict", "items": [[_key(k), _encode(v, tensors, depth + 1)] for k, v in value.items()]}
    if isinstance(value, Node):
        return {"$": "node", "kind": value.kind, "fields": _encode(value.fields, tensors, depth + 1)}
    raise PackingError(f"a {type(value).__name__} cannot be packed")


def _decode(value: Any, tensors: dict[str, torch.Tensor], depth: int) -> Any:
    if depth > 2 * MAX_DEPTH:
        raise PackingError("nested too deeply")
    if isinstance(value, list):
        return [_decode(item, tensors, depth + 1) for item in value]
    if not isinstance(value, dict):
        if isinstance(value, int):
            return _small(value)
        return without_surrogates(value) if isinstance(value, str) else value
    kind = value["$"]
    if kind == "tensor":  # each key once: a second use of the same bytes would be a second tensor
        return _restride(tensors.pop(value["key"]), value.get("order"), value.get("dense", True))
    if kind == "tuple":
        return tuple(_decode(item, tensors, depth + 1) for item in value["items"])
    if kind == "dict":
        return {_key(k): _decode(v, tensors, depth + 1) for k, v in value["items"]}
    if kind == "node":
        fields = _decode(value["fields"], tensors, depth + 1)
        if not (isinstance(value["kind"], str) and isinstance(fields, dict)):
            raise PackingError("malformed node")
        return Node(value["kind"], fields)
    raise PackingError(f"unknown record {str(kind)[:80]!r}")


def _key(key: Any) -> str:
    """Allow only str keys: unlike ints, they cannot be chosen to collide in a dict."""
    if not isinstance(key, str):
        raise PackingError("a dict has keys of text")
    return without_surrogates(key)


def _small(number: int) -> int:
    """Return an int. Raises PackingError if it is too large."""
    if number.bit_length() > MAX_BITS:
        raise PackingError(f"an int of more than {MAX_BITS} bits")
    return number


def _layout(tensor: torch.Tensor) -> tuple[list[int], bool]:
    """Dimensions by descending stride, and whether the tensor has no gaps in memory."""
    if tensor.is_contiguous() or tensor.layout != torch.strided:
        return list(range(tensor.ndim)), True
    order = sorted(range(tensor.ndim), key=tensor.stride, reverse=True)
    return order, tensor.permute(order).is_contiguous()


def _restride(tensor: torch.Tensor, order: list[int] | None, dense: bool) -> torch.Tensor:
    """Restore the strides of a tensor, as `_layout` described them."""
    if tensor.ndim > MAX_DIMENSIONS:
        raise PackingError(f"more than {MAX_DIMENSIONS} dimensions")
    if not dense and tensor.ndim:
        wide = tensor.new_zeros((*tensor.shape[:-1], 2 * tensor.shape[-1]))
        wide[..., ::2] = tensor
        tensor = wide[..., ::2]
    if order is not None:
        if sorted(order) != list(range(tensor.ndim)):
            raise PackingError("malformed order of dimensions")
        tensor = tensor.permute([order.index(d) for d in range(len(order))])
    return tensor
