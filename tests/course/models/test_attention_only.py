"""The attention-only model of lesson 11: its file, what it computes, and the circuits in it."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file

import course
from course.models import attention_only, small_lm
from tools import train_attention_only

FILE = Path(str(files("course").joinpath(attention_only.FILE)))
PERIOD = 12


@pytest.fixture(scope="module")
def model():
    return attention_only.load()


@pytest.fixture(scope="module")
def ids():
    once = torch.rand(16, 26, generator=torch.Generator().manual_seed(5)).argsort(-1)[:, :PERIOD]
    return once.repeat(1, 2)


def by_formulas(ids: torch.Tensor) -> torch.Tensor:
    """The logits of ids (T,), (T, N), by the formulas and the file alone: RoPE by complex numbers."""
    stored = {name: weight.double() for name, weight in load_file(FILE).items()}

    def turn(x):
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        speeds = 10000 ** (-2 * torch.arange(pairs.shape[-1]).double() / x.shape[-1])
        angles = torch.arange(len(x)).double()[:, None] * speeds
        return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)

    x = stored["tokens.weight"][ids]
    for i in range(2):
        q, k, v = (x @ stored[f"blocks.{i}.W_{letter}.weight"].T for letter in "qkv")
        heads = []
        for query, key, value in zip(*(vectors.chunk(4, -1) for vectors in (q, k, v)), strict=True):
            query, key = (turn(query), turn(key)) if i == 0 else (query, key)
            heads.append(F.scaled_dot_product_attention(query[None], key[None], value[None], is_causal=True)[0])
        x = x + torch.cat(heads, -1) @ stored[f"blocks.{i}.W_o.weight"].T
    return x @ stored["unembed.weight"].T


def loss_again(run, ids):
    """The loss on the letters that come again."""
    return F.cross_entropy(run.logits[:, PERIOD:-1].transpose(1, 2), ids[:, PERIOD + 1 :]).item()


def without(heads):
    """A change that sets pairs (layer, head) to 0."""

    def change(layer, outputs):
        kept = [(layer, head) not in heads for head in range(outputs.shape[1])]
        return outputs * torch.tensor(kept)[:, None, None]

    return change


def test_the_model_computes_what_its_formulas_say(model, ids):
    torch.testing.assert_close(model(ids)[0], by_formulas(ids[0]).float(), rtol=0, atol=1e-3)


def test_a_run_has_all_activations(model, ids):
    run = model.run(ids)
    torch.testing.assert_close(run.logits, model(ids), rtol=0, atol=1e-4)
    assert run.hidden.shape == (3, 16, 24, 64)
    assert run.heads.shape == (2, 16, 4, 24, 16)
    assert run.weights.shape == (2, 16, 4, 24, 24)
    torch.testing.assert_close(run.weights.sum(-1), torch.ones(2, 16, 4, 24))
    assert not run.weights[..., torch.ones(24, 24).triu(1).bool()].any()
    added = run.heads[1].transpose(1, 2).flatten(2) @ model.blocks[1].W_o.weight.T
    torch.testing.assert_close(run.hidden[2] - run.hidden[1], added, rtol=0, atol=1e-4)
    torch.testing.assert_close(model.unembed(run.hidden[-1]), run.logits)


def test_a_change_replaces_the_heads_of_a_layer(model, ids):
    every = [(1, head) for head in range(4)]
    run = model.run(ids, without(every))
    assert not run.heads[1].any()
    assert run.hidden[2].equal(run.hidden[1])
    assert model.run(ids, lambda layer, outputs: outputs).logits.equal(model.run(ids).logits)


def test_its_notes_are_true(model):
    assert model.notes["weights"] == small_lm.digest(load_file(FILE))
    assert model.notes["seed"] == str(train_attention_only.SEED)
    losses = [float(model.notes[f"loss of {which} letters"]) for which in ("new", "repeated")]
    assert train_attention_only.tested(model) == pytest.approx(losses, abs=1e-3)
    assert losses[1] < 0.05 < 3 < losses[0]


def test_it_is_small():
    assert FILE.stat().st_size < 100_000


def test_each_load_is_a_new_model(model):
    torch.manual_seed(0)
    wanted = torch.rand(1)
    torch.manual_seed(0)
    attention_only.load().tokens.weight.zero_()
    assert torch.rand(1) == wanted
    assert model.tokens.weight.any()
    assert not model.training
    assert not any(parameter.requires_grad for parameter in model.parameters())
    assert course.attention_only is attention_only


def test_a_missing_and_a_damaged_file_are_reported(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(attention_only, "files", lambda package: tmp_path)
    with pytest.raises(FileNotFoundError, match=r"the attention-only model is missing: no file .*only\.safetensors\."):
        attention_only.load()
    path = tmp_path / attention_only.FILE
    path.parent.mkdir()
    content = bytearray(FILE.read_bytes())
    content[-1000] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"the attention-only model is damaged: .* does not match its digest"):
        attention_only.load()


def test_layer_1_consists_of_induction_heads_and_layer_0_has_a_previous_token_head(model, ids):
    run = model.run(ids)
    t = torch.arange(PERIOD, 2 * PERIOD)
    induction = run.weights[..., t, t - PERIOD + 1].mean((1, -1))  # (L, H)
    assert induction[0].max() < 0.1 < 0.9 < induction[1].min()
    previous = run.weights.diagonal(-1, dim1=-2, dim2=-1).mean((1, -1))
    assert previous[0].max() > 0.85
    assert previous[0].sort().values[-2] < 0.4
    assert previous[1].max() < 0.2


def test_its_heads_can_be_removed(model, ids):
    previous = int(model.run(ids).weights[0].diagonal(-1, dim1=-2, dim2=-1).mean((0, -1)).argmax())
    whole = loss_again(model.run(ids), ids)
    alone = [loss_again(model.run(ids, without([(1, head)])), ids) for head in range(4)]
    assert whole < 0.05 < max(alone) < 1  # the others do most of its work
    assert loss_again(model.run(ids, without([(1, head) for head in range(4)])), ids) > 2.5
    assert loss_again(model.run(ids, without([(0, previous)])), ids) > 2


def test_training_makes_a_file_of_this_form(tmp_path: Path, model, capsys):
    made = train_attention_only.train(steps=2)
    notes = train_attention_only.write(made, 1.0, tmp_path / "made.safetensors")
    stored = load_file(tmp_path / "made.safetensors")
    assert {name: weight.shape for name, weight in stored.items()} == {
        name: weight.shape for name, weight in model.state_dict().items()
    }
    assert notes["weights"] == small_lm.digest(stored)
    assert notes.keys() | {"format"} == model.notes.keys()
    assert "step 2 of 2: loss of repeats" in capsys.readouterr().out
