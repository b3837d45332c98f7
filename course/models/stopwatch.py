"""How long calls take on this machine, for lessons 09 and 10."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn


def milliseconds(function: Callable[..., Any], *args: Any, times: int = 5) -> float:
    """The shortest of several calls of `function(*args)`, in milliseconds."""
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        function(*args)
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        spent.append(1000 * (time.perf_counter() - started))
    return min(spent)


@torch.no_grad()
def next_tokens(cached: Any, model: nn.Module, ids: torch.Tensor) -> tuple[list[int], dict[str, list[float]]]:
    """Milliseconds for the next token after 32 to 512 tokens of `ids` (1, 512), without a cache and with one.

    cached  called as cached(ids, cache, n) with the cache of `cached.new_cache(1, 512)`
    """
    lengths = list(range(32, 513, 80))
    model(ids[:, :32])  # the first call is slow
    room = cached.new_cache(1, 512)
    with_it = [milliseconds(cached, ids[:, n - 1 : n], room, n - 1) for n in lengths]
    without_it = [milliseconds(model, ids[:, :n]) for n in lengths]
    return lengths, {"without a cache": without_it, "with a cache": with_it}


def compare_attention(whole: Callable[..., Any]) -> None:
    """Print how long `whole(q, k, v)`, which makes all scores at once, takes beside PyTorch's attention."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    T = 8192 if device == "cuda" else 2048
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    qkv = torch.randn(3, 1, 8, T, 64, device=device, dtype=dtype)
    functions = {"all at once": whole, "PyTorch's attention": F.scaled_dot_product_attention}
    took = {name: milliseconds(function, *qkv, times=3) for name, function in functions.items()}
    where = torch.cuda.get_device_name() if device == "cuda" else "a CPU: there is no GPU here"
    print(f"8 heads of width 64, {T} queries and keys, {dtype}, on {where}")
    for name, ms in took.items():
        print(f"{name:20} {ms:8.1f} ms")
    slow, fast = took.values()
    print(f"ratio {slow / fast:.1f}")
