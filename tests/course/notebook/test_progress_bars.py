"""The progress bar: it follows a training loop from outside, looks when it was told to, and leaves nothing behind."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
import torch
from torch import nn
from torch.optim import optimizer

from course.notebook import progress_bars as module
from course.notebook.progress_bars import TrainingProgress


def train(model: nn.Module, steps: int) -> None:
    """A loop that knows nothing of being followed."""
    adamw = torch.optim.AdamW(model.parameters())
    for _ in range(steps):
        model.train()
        model(torch.zeros(1, 2)).sum().backward()
        adamw.step()


@pytest.fixture
def model() -> nn.Module:
    return nn.Linear(2, 3)


@pytest.fixture
def notebook(monkeypatch):
    """As in a notebook: what was displayed at first, and every update of it."""
    shown: list[dict[str, str]] = []

    def display(data, raw, display_id):
        assert raw and display_id
        shown.append(data)
        return SimpleNamespace(update=lambda data, raw: shown.append(data))

    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setattr(module, "in_notebook", lambda: True)
    return shown


def test_it_looks_before_the_first_step_after_every_so_many_and_at_the_end(model):
    seen = []
    with TrainingProgress(model, 10, seen.append, every=4):
        train(model, 10)
    assert seen == [0, 4, 8, 10]


def test_looking_counts_for_no_step_and_training_goes_on_as_before(model):
    modes = []
    model.bias.requires_grad_(False)

    def look(done):
        modes.append(model.training)
        model.eval().requires_grad_(False)
        model(torch.zeros(1, 2))
        model.train()
        model(torch.zeros(1, 2))
        model.eval()

    with TrainingProgress(model, 6, look, every=2) as bar:
        train(model, 6)
        assert model.training
    assert bar.done == 6
    assert modes == [True] * 4
    assert model.training
    assert (model.weight.requires_grad, model.bias.requires_grad) == (True, False)


def test_only_steps_of_this_models_parameters_count(model):
    with TrainingProgress(model, 3) as bar:
        train(model, 3)
        train(nn.Linear(2, 3), 4)
        model(torch.zeros(1, 2))
    assert bar.done == 3
    train(model, 1)
    assert bar.done == 3, "nothing is followed any longer"


def test_a_step_inside_function_transforms_counts_like_any_other(model):
    def loss(parameters):
        return torch.func.functional_call(model, parameters, (torch.ones(1, 2),)).square().sum()

    seen = []
    descent = torch.optim.SGD(model.parameters(), lr=0.1)
    with TrainingProgress(model, 4, lambda done: seen.append((done, model(torch.ones(1, 2)).sum().item())), every=2):
        for _ in range(4):
            for name, gradient in torch.func.grad(loss)(dict(model.named_parameters())).items():
                model.get_parameter(name).grad = gradient
            descent.step()
    assert [done for done, _ in seen] == [0, 2, 4]


def test_a_loop_without_an_optimizer_is_looked_at_before_and_after(model):
    seen = []
    with TrainingProgress(model, 7, seen.append, every=2), torch.no_grad():
        model.weight.zero_()
    assert seen == [0, 7]


def test_outside_a_notebook_one_line_is_printed(model, capsys):
    with TrainingProgress(model, 3, lambda done: f"loss {done / 4}", every=2):
        train(model, 3)
    assert re.fullmatch(r"step 3 of 3, \d+ s, loss 0.75\n", capsys.readouterr().out)


def test_in_a_notebook_one_bar_is_redrawn(model, notebook, monkeypatch, capsys):
    monkeypatch.setattr(module, "REDRAW", -1.0)  # at every step
    with TrainingProgress(model, 3):
        train(model, 3)
    bars = [re.search(r'<progress value="(\d+)" max="3"', data["text/html"])[1] for data in notebook]
    assert bars == ["0", "1", "2", "3", "3"]
    assert notebook[-1]["text/plain"].startswith("step 3 of 3, ")
    assert capsys.readouterr().out == ""


def test_it_is_redrawn_seldom(model, notebook):
    with TrainingProgress(model, 50):
        train(model, 50)
    assert len(notebook) < 10


def test_what_look_returns_stands_beside_the_bar_until_the_next_look(model, notebook, monkeypatch):
    monkeypatch.setattr(module, "REDRAW", -1.0)
    with TrainingProgress(model, 4, lambda done: f"at {done}" if done < 4 else None, every=2):
        train(model, 4)
    said = [data["text/plain"].partition(" s")[2] for data in notebook]
    assert said == [", at 0", ", at 0", ", at 2", ", at 2", "", ""]


@pytest.mark.parametrize("fails", ["training", "looking"])
def test_an_error_is_passed_on_and_nothing_is_left_on_the_model(model, fails):
    def look(done):
        if done:
            raise RuntimeError("looking")

    def broken():
        train(model, 1)
        if fails == "training":
            raise RuntimeError("training")
        train(model, 1)

    with pytest.raises(RuntimeError, match=fails), TrainingProgress(model, 5, look, every=2):
        broken()
    assert not optimizer._global_optimizer_post_hooks
