"""Planted circuits: the sets of heads that a behaviour needs, found by brute force, and the checker of a claim."""

from __future__ import annotations

import re
from itertools import combinations

import pytest
import torch

from course.checkers.circuits import removes_the_behaviour
from course.harness.program import Observation
from course.sample_models import PlantedCircuits

JOBS = [["previous 0", "question", "previous 0"], ["unused 0", "induction 0", "idle"], ["idle", "backup 0", "question"]]
ROWS = [["previous 0", "previous 1", "idle"], ["induction 0", "induction 1", "distance"]]


def given(jobs, known=0.0, seed=0):
    generator = torch.Generator().manual_seed(seed)
    shape = (len(jobs), len(jobs[0]))
    return {
        "jobs": jobs,
        "text": 1 + torch.randperm(10, generator=generator)[:7],
        "n_tokens": 12,
        "strengths": 2.5 + 3 * torch.rand(shape, generator=generator),
        "looks": 0.6 + 0.15 * torch.rand(shape, generator=generator),
        "known": known,
    }


def subsets(jobs):
    heads = [(layer, head) for layer, row in enumerate(jobs) for head in range(len(row))]
    return [frozenset(some) for size in range(len(heads) + 1) for some in combinations(heads, size)]


def least(jobs, seed=0):
    """The smallest sets of heads without which the behaviour is gone; no loss is near chance, and none falls again."""
    model = PlantedCircuits(**given(jobs, seed=seed))
    losses = {heads: model(heads) for heads in subsets(jobs)}
    assert min(abs(loss - model.chance) for loss in losses.values()) > 0.1
    gone = {heads for heads, loss in losses.items() if loss >= model.chance}
    assert all(other in gone for heads in gone for other in losses if heads <= other)
    return {heads for heads in gone if not any(heads - {pair} in gone for pair in heads)}


@pytest.mark.parametrize("seed", range(2))
def test_backups_stand_in_for_what_is_removed(seed):
    assert least(JOBS, seed) == {frozenset({(0, 0), (0, 2)}), frozenset({(1, 1), (2, 1)})}


def test_of_heads_in_a_row_one_is_enough_and_a_head_that_counts_needs_no_other():
    ways = {frozenset({(1, 2), (a, 0), (b, 1)}) for a in (0, 1) for b in (0, 1)}
    assert least(ROWS) == ways


def test_only_the_question_needs_the_heads_of_the_question():
    model = PlantedCircuits(**given(JOBS))
    assert model([(0, 1), (2, 2)]) == model([])
    whole, _ = model.run()
    without, _ = model.run(frozenset({(0, 1), (2, 2)}))
    out = slice(-model.n_tokens, None)
    assert whole[-1, out].argmax() == model.ids[1]
    assert without[-1, out].abs().max() < 1e-9


def test_a_score_says_where_a_head_looks():
    scores = PlantedCircuits(**given(JOBS)).scores
    assert scores.dtype == torch.float32
    assert (scores > 0.5).tolist() == [[False] * 3, [True, True, False], [False] * 3]  # the backup waits


@pytest.mark.parametrize("heads", [3, [(0, 1, 2)], [5], [(0, 0.5)], (0, 1)])
def test_what_is_no_list_of_pairs_is_refused(heads):
    with pytest.raises(TypeError, match="list of pairs"):
        PlantedCircuits(**given(JOBS))(heads)


@pytest.mark.parametrize("pair", [(3, 0), (0, 3), (-1, 0)])
def test_a_head_that_does_not_exist_is_refused(pair):
    with pytest.raises(IndexError, match="there is no head"):
        PlantedCircuits(**given(JOBS))([pair])


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ([(0, 0), (0, 2)], None),
        (((2, 1), [1, torch.tensor(1)]), None),
        ([(1, 1)], "expected a loss of at least 2.48"),
        ([], "without removing any head: expected a loss of at least 2.48"),
        ([(0, 0), (0, 2), (1, 0)], r"got 2\.\d+; \(1, 0\) is not needed"),
        ([(0, 0), (0, 2), (0, 0)], "each head once"),
        ([(9, 0)], "there is no head"),
        ([3, 4], "pairs"),
        ([(0.0, 1.0)], "pairs"),
        (None, "got None"),
        (torch.tensor([[0, 0], [0, 2]]), "got a Tensor"),
    ],
)
def test_a_claim_is_measured(named, problem):
    model = given(JOBS)
    found = removes_the_behaviour(Observation(values={"result": named}), model, PlantedCircuits(**model).chance)
    assert (found is None) if problem is None else re.search(problem, found)
