"""The model of GPT-2's form that the course ships, its file, and how published ones are read."""

from __future__ import annotations

import json
import math
import socket
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

from course.models import gpt, pretrained
from tools import train_bundled_model
from tools.story_corpus import generate_stories


def published(checkpoint: gpt.Checkpoint, n_heads: int, ids: torch.Tensor) -> torch.Tensor:
    """GPT-2 by its formulas and its names alone, (T,) -> (T, N): none of the course's modules."""

    def norm(x, name):
        centred = x - x.mean(-1, keepdim=True)
        scaled = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
        return scaled * checkpoint[f"{name}.weight"] + checkpoint[f"{name}.bias"]

    def conv(x, name):
        return x @ checkpoint[f"{name}.weight"] + checkpoint[f"{name}.bias"]

    def gelu(x):
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))

    T = len(ids)
    x = checkpoint["wte.weight"][ids] + checkpoint["wpe.weight"][:T]
    future = torch.ones(T, T).triu(1).bool()
    for i in range(gpt.Sizes.of(checkpoint, n_heads).n_layers):
        query, key, value = conv(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn").chunk(3, -1)
        heads = []
        for q, k, v in zip(*(t.chunk(n_heads, -1) for t in (query, key, value)), strict=True):
            scores = (q @ k.T / q.shape[-1] ** 0.5).masked_fill(future, -torch.inf)
            heads.append(scores.softmax(-1) @ v)
        x = x + conv(torch.cat(heads, -1), f"h.{i}.attn.c_proj")
        x = x + conv(gelu(conv(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc")), f"h.{i}.mlp.c_proj")
    return norm(x, "ln_f") @ checkpoint["wte.weight"].T


@pytest.fixture(scope="module")
def shipped():
    return gpt.load_bundled_model()


def test_the_model_computes_what_gpt_2s_formulas_say(shipped):
    checkpoint, sizes, letters = shipped
    ids = torch.tensor(letters.encode("There he found a blue stone."))
    found = gpt.model_over_checkpoint(checkpoint, sizes.n_heads)(ids[None])[0]
    torch.testing.assert_close(found, published(checkpoint, sizes.n_heads, ids), rtol=0, atol=1e-4)


def test_the_shipped_file_has_the_names_and_the_layout_of_a_published_one(shipped):
    checkpoint, sizes, _ = shipped
    assert checkpoint["h.0.attn.c_attn.weight"].shape == (sizes.d_model, 3 * sizes.d_model)
    assert checkpoint["h.2.mlp.c_fc.weight"].shape == (sizes.d_model, 4 * sizes.d_model)
    assert checkpoint["h.1.attn.bias"].shape == (1, 1, sizes.block_size, sizes.block_size)
    assert len(checkpoint) == 4 + 13 * sizes.n_layers


def test_the_shipped_model_has_learnt_the_tales_and_to_repeat(shipped):
    checkpoint, sizes, letters = shipped
    model = gpt.model_over_checkpoint(checkpoint, sizes.n_heads)
    unseen = generate_stories(410_000)[405_000:][: sizes.block_size]  # it was trained on the first 400,000
    ids = torch.tensor([letters.encode(unseen)])
    assert F.cross_entropy(model(ids)[0, :-1], ids[0, 1:]) < 1.0
    generator = torch.Generator().manual_seed(0)
    again = torch.randperm(sizes.n_tokens, generator=generator)[:20].repeat(3)[None]
    assert F.cross_entropy(model(again)[0, 20:-1], again[0, 21:]) < 1.0


def test_training_makes_a_file_of_this_form(tmp_path: Path, capsys):
    model, alphabet = train_bundled_model.trained(steps=2)
    train_bundled_model.write(model, alphabet, tmp_path / "made.safetensors")
    from safetensors.torch import load_file

    made = load_file(tmp_path / "made.safetensors")
    known, sizes, letters = gpt.load_bundled_model()
    assert {name: t.shape for name, t in made.items()} == {name: t.shape for name, t in known.items()}
    assert letters.alphabet == alphabet
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    torch.testing.assert_close(
        gpt.model_over_checkpoint(made, sizes.n_heads)(ids), model(ids)[..., :], rtol=0, atol=1e-4
    )


def test_strange_letters_are_named():
    with pytest.raises(ValueError, match="'é'"):
        gpt.CharTokenizer("abc").encode("abé")


def test_a_published_folder_is_read_with_its_prefix_and_its_byte_pairs(tmp_path: Path):
    checkpoint, sizes, _ = gpt.load_bundled_model()
    save_file({f"transformer.{name}": t for name, t in checkpoint.items()}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps({"n_head": 4}))
    (tmp_path / "vocab.json").write_text(json.dumps({"l": 0, "o": 1, "w": 2, "lo": 3, "Ġ": 4, "Ġlo": 5, "!": 6}))
    (tmp_path / "merges.txt").write_text("#version: 0.2\nl o\nĠ lo\n")
    found = pretrained.read(tmp_path)
    assert found.checkpoint.keys() == checkpoint.keys()
    assert found.sizes == sizes
    assert found.tokens.encode("low lo!") == [3, 2, 5, 6]
    assert found.tokens.decode([3, 2, 5, 6]) == ["lo", "w", " lo", "!"]


def test_what_cannot_be_fetched_is_named_and_nothing_is_kept(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(pretrained, "ADDRESS", "file://" + str(tmp_path / "{model}" / "{file}"))
    with pytest.raises(OSError, match=r"config\.json could not be fetched"):
        pretrained.fetch("nobody/nothing", tmp_path / "cache")
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def hub_is_near() -> bool:
    try:
        socket.create_connection(("huggingface.co", 443), timeout=5).close()
    except OSError:
        return False
    return True


def test_a_published_model_is_fetched_and_read(tmp_path: Path):
    if not hub_is_near():
        pytest.skip("no network here, or none that leads to the hub: nothing was fetched")
    found = pretrained.fetch("sshleifer/tiny-gpt2", tmp_path)
    ids = found.tokens.encode("Hello there")
    assert found.tokens.decode(ids) == ["Hello", " there"]
    assert gpt.model_over_checkpoint(found.checkpoint, found.sizes.n_heads)(torch.tensor([ids])).isfinite().all()
