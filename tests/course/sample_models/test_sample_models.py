"""Specimens: what each one does, that answers of every kind can examine it, and that none is an answer itself."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from course import figures, sample_models
from course.harness.helpers import load_weights
from grading.exercises.lesson import load_lesson
from grading.proof.mutation_runs import lost_criteria

GRADER_TESTS = Path(__file__).parents[3] / "grader_tests"
LEAKING, CLEAN = "ACDEFG", "BH"
T, D = 7, 3


def tokens(length=T, width=D, dtype=torch.float32, seed=0):
    return torch.randn(length, width, dtype=dtype, generator=torch.Generator().manual_seed(seed))


def bias(length=T, ahead=0):
    mask = torch.ones(length, length, dtype=torch.bool).triu(1 + ahead)
    return torch.zeros(length, length).masked_fill(mask, -math.inf)


def attentions():
    """One of every kind, by name, for x (T, D)."""
    yield from ((letter, sample_models.suspect(letter)) for letter in sample_models.SUSPECTS)
    matrix = tokens(T, T, seed=1)
    yield "mixture", sample_models.mixture(matrix)
    yield "mixture of features", sample_models.mixture(matrix, features=tokens(D, D, seed=2))
    yield "normalised mixture", sample_models.mixture(matrix, normalised=True)
    yield "mixture of squares", sample_models.mixture(matrix, even=matrix.roll(1, 1))
    yield "attention", sample_models.biased_attention(bias(), positions=tokens(seed=3), normalised=True)
    yield "turned attention", sample_models.turned_attention(torch.stack([tokens(D, D, seed=t) for t in range(T)]))
    yield "gated attention", sample_models.biased_attention(bias(ahead=1), gate=torch.ones(T, T).tril())


ATTENTIONS = dict(attentions())


def influence(attention, x):
    return torch.autograd.functional.jacobian(attention, x).abs().amax((1, 3))


@pytest.mark.parametrize("letter", sample_models.SUSPECTS)
@pytest.mark.parametrize("length", [4, 6, 7])
def test_a_suspect_leaks_or_does_not(letter, length):
    future = influence(sample_models.suspect(letter), tokens(length)).triu(1)
    assert bool((future > 1e-4).any()) == (letter in LEAKING)
    assert letter in LEAKING or not future.any()


def test_a_suspect_of_another_name_is_refused():
    with pytest.raises(ValueError, match="letter is 'Z'"):
        sample_models.suspect("Z")


@pytest.mark.parametrize("name", ATTENTIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_every_way_of_differentiating_gives_the_same(name, dtype):
    attention, x = ATTENTIONS[name], tokens(dtype=dtype)
    backward = torch.autograd.functional.jacobian(attention, x)
    assert attention(x).dtype == dtype
    for jacobian in (torch.func.jacrev(attention)(x), torch.func.jacfwd(attention)(x)):
        torch.testing.assert_close(jacobian, backward)
    batch = torch.stack([x, x + 1.0])
    torch.testing.assert_close(torch.vmap(attention)(batch)[0], attention(x))


@pytest.mark.parametrize("name", ATTENTIONS)
def test_an_output_that_does_not_depend_on_an_input_does_not_move_by_a_bit(name):
    attention, x = ATTENTIONS[name], tokens()
    depends = influence(attention, x) > 0
    for j in range(T):
        for size in (1e-3, 1.0, -1e3, 1e15):
            changed = x.clone()
            changed[j] += size
            still = ~depends[:, j]
            assert torch.equal(attention(changed)[still], attention(x)[still])


@pytest.mark.parametrize("name", ATTENTIONS)
def test_attentions_take_one_sentence_of_one_width_and_keep_nothing(name):
    attention, x = ATTENTIONS[name], tokens()
    assert torch.equal(attention(x), attention(x))
    assert torch.equal(x, tokens())
    assert attention(x).shape == (T, D)
    with pytest.raises((RuntimeError, ValueError)):
        attention(torch.stack([x, x]))


def test_the_even_part_of_a_mixture_does_not_see_a_sign():
    squares = sample_models.mixture(torch.zeros(T, T), even=tokens(T, T, seed=1))
    assert torch.equal(squares(-tokens()), squares(tokens()))
    assert not torch.equal(squares(2 * tokens()), squares(tokens()))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_detour_moves_outputs_by_rounding_and_has_no_derivative(dtype):
    x, matrix = tokens(dtype=dtype), tokens(T, T, seed=1).tril()
    attention = sample_models.mixture(matrix, detour=tokens(T, T, seed=2).triu(1))
    for differentiate in (torch.func.jacrev, torch.func.jacfwd):
        torch.testing.assert_close(differentiate(attention)(x), differentiate(sample_models.mixture(matrix))(x))
        assert not differentiate(attention)(x).abs().amax((1, 3)).triu(1).any()
    for size in (1.0, -1e3):
        changed = torch.cat([x[:-1], x[-1:] + size])
        moved = (attention(changed) - attention(x))[:-1].abs().max()
        assert 0 < moved < 10 * torch.finfo(dtype).eps


def test_a_normalised_mixture_has_outputs_that_sum_to_0():
    outputs = sample_models.mixture(tokens(T, T), normalised=True)(tokens())
    torch.testing.assert_close(outputs.sum(1), torch.zeros(T), atol=1e-5, rtol=0.0)


def test_an_assembled_module_ties_freezes_and_nests():
    module = sample_models.assembled(
        {"tokens.weight": [5, 3], "blocks.0.bias": [3], "scale": []},
        frozen=["blocks.0.bias"],
        tied={"out.weight": "tokens.weight"},
        buffers={"blocks.0.mask": [4, 4]},
        lists={"more": [[2], [2, 2]]},
    )
    sizes = {name: p.numel() for name, p in module.named_parameters() if p.requires_grad}
    assert sizes == {"tokens.weight": 15, "scale": 1, "more.0": 2, "more.1": 4}
    assert module.out.weight is module.tokens.weight
    assert {"out.weight", "blocks.0.bias", "blocks.0.mask"} <= set(module.state_dict())


@pytest.mark.parametrize("batch_first", [False, True])
def test_torch_attention_has_no_biases(batch_first):
    module = sample_models.torch_attention(6, 2, batch_first=batch_first)
    assert {n for n, _ in module.named_parameters()} == {"in_proj_weight", "out_proj.weight"}
    x = torch.randn(2, 5, 6)
    assert module(x, x, x)[0].shape == x.shape


def test_projections_with_the_weights_of_torch_attention_do_the_same():
    ours = sample_models.Projections(6, 2, order=["W_o", "W_v", "W_k", "W_q"])
    theirs = sample_models.torch_attention(6, 2, batch_first=True)
    query, key, value = theirs.in_proj_weight.chunk(3)
    weights = {"W_q": query, "W_k": key, "W_v": value, "W_o": theirs.out_proj.weight}
    load_weights(ours, {f"{name}.weight": weight.detach() for name, weight in weights.items()})
    x, mask = torch.randn(2, 5, 6), torch.ones(5, 5, dtype=torch.bool).triu(1)
    expected = theirs(x, x, x, attn_mask=mask, average_attn_weights=False)
    for got, wanted in zip(ours(x, mask=mask), expected, strict=True):
        torch.testing.assert_close(got, wanted)


def models():
    yield sample_models.Bigram(5, 4)
    yield sample_models.Windowed(5, 8, 4, dropout=0.5)
    yield sample_models.Windowed(5, 8, 4, batch_norm=True)


@pytest.mark.parametrize("model", list(models()), ids=lambda m: type(m).__name__)
def test_a_model_maps_ids_to_logits_and_notes_how_it_was_called(model):
    ids = torch.tensor([[0, 1, 4], [2, 2, 3]])
    assert model(ids).shape == (2, 3, 5)
    with torch.no_grad():
        model.eval()(ids[:, :1])
    assert model.calls == [[3, True, True], [1, False, False]]
    with pytest.raises(ValueError, match="block_size is 4"):
        model(torch.zeros(1, 5, dtype=torch.int64))


def test_a_model_notes_whether_its_parts_are_in_one_mode():
    model, ids = sample_models.Windowed(5, 8, 4, dropout=0.5), torch.tensor([[0, 1, 4]])
    model(ids)
    model.eval()(ids)
    model.inner.dropout.train()
    model(ids)
    assert [mode for _, mode, _ in model.calls] == [True, False, None]


def test_a_slope_has_the_same_gradient_at_every_place_and_shows_the_learning_rate():
    model, ids = sample_models.Slope(4), torch.zeros(3, 4, dtype=torch.int64)
    optimizer, path = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.0), [torch.zeros(4)]
    for _ in range(20):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(ids).view(-1, 2), ids.view(-1)).backward()
        torch.testing.assert_close(model.weight.grad, torch.full((4,), -0.05 / 4), rtol=0.025, atol=0.0)
        optimizer.step()
        path.append(model.weight.detach().clone())
    torch.testing.assert_close(torch.stack(path).diff(dim=0), torch.full((20, 4), 0.01), rtol=0.01, atol=0.0)
    assert model(ids[:, :2]).shape == (3, 2, 2)


def test_a_slope_tells_the_size_of_its_batch_and_has_only_so_much_patience():
    model = sample_models.Slope(4, crowd=0.1)
    assert [model(torch.zeros(rows, 4, dtype=torch.int64))[0, 0].tolist() for rows in (1, 7)] == [
        [pytest.approx(0.1), 0.0],
        [pytest.approx(0.7), 0.0],
    ]
    model.patience, ids = 1, torch.zeros(1, 4, dtype=torch.int64)
    with torch.no_grad():
        model(ids)
    model(ids)
    with pytest.raises(sample_models.Enough):
        model(ids)


@pytest.mark.parametrize(
    ("contrary", "turned"),
    [
        ("", [0, 0, 0, 0]),
        ("flowing", [1, 0, 1, 1]),
        ("training", [1, 1, 1, 0]),
        ("resting", [0, 0, 1, 1]),
        ("asleep", [0, 0, 0, 1]),
    ],
)
def test_a_contrary_model_shows_by_its_logits_how_it_was_called(contrary, turned):
    torch.manual_seed(0)
    plain, model = sample_models.Windowed(5, 8, 4), sample_models.Windowed(5, 8, 4, contrary=contrary)
    model.load_state_dict(plain.state_dict())
    ids, found = torch.tensor([[0, 1, 4]]), []

    def turns():
        found.append(int(torch.equal(model(ids), -plain(ids))))
        assert found[-1] or torch.equal(model(ids), plain(ids))

    turns()
    with torch.no_grad():
        turns()
    model.inner.eval()
    turns()
    model.eval()
    turns()
    assert found == turned


def test_a_windowed_model_looks_at_all_that_came_before_and_at_nothing_later():
    model = sample_models.Windowed(5, 8, 4).eval()
    load_weights(model, {name: torch.randn(p.shape) for name, p in model.named_parameters()})
    ids = torch.tensor([[0, 1, 2, 3]])
    for place in range(4):
        changed = ids.clone()
        changed[0, place] = 4
        moved = (model(changed) != model(ids)).any(-1)[0]
        assert moved.tolist() == [i >= place for i in range(4)]


def test_modes_matter_where_dropout_or_batch_norm_is_asked_for():
    ids = torch.tensor([[0, 1, 2, 3]])
    dropped, normed = sample_models.Windowed(5, 8, 4, dropout=0.5), sample_models.Windowed(5, 8, 4, batch_norm=True)
    assert not torch.equal(dropped(ids), dropped(ids))
    assert torch.equal(dropped.eval()(ids), dropped(ids))
    before = normed.inner.norm.running_mean.clone()
    normed.eval()(ids)
    assert torch.equal(normed.inner.norm.running_mean, before)
    normed.train()(ids)
    assert not torch.equal(normed.inner.norm.running_mean, before)


@pytest.mark.quick_cases("05_causal_mask")
@pytest.mark.parametrize("lesson", ["05_causal_mask", "06_multi_head", "07_rope", "08_training"])
def test_nothing_that_exercises_take_or_pictures_are_drawn_with_answers_one(lesson):
    lying_about = [
        v for n, v in vars(sample_models).items() if callable(v) and v.__module__.startswith(sample_models.__name__)
    ]
    for module in (figures.masks, figures.multi_head, figures.rope, figures.training):
        lying_about += [v for v in vars(module).values() if callable(v) and v.__module__ == module.__name__]
    for exercise in load_lesson(GRADER_TESTS / lesson).exercises.values():
        for answer in lying_about:
            passes = not any(lost_criteria(exercise, {exercise.name: answer}, seed=0))
            assert not passes, f"{answer.__name__} passes for {exercise.name}"


def test_a_reader_and_a_writer_see_the_source_and_its_mask_and_no_later_target():
    torch.manual_seed(0)
    source, targets = torch.tensor([[1, 2, 3], [4, 0, 1]]), torch.tensor([[2, 1], [0, 3]])
    mask = torch.tensor([[False, False, True], [True, True, True]])
    for kind in ({}, {"paired": True}, {"named": True}):
        reader, writer = sample_models.Reader(5, 4, **kind), sample_models.Writer(6, 4)
        logits = writer(targets, reader(source, mask), mask)
        assert logits.shape == (2, 2, 6) and bool(logits.isfinite().all())
        assert reader.calls == [[3, True]] and writer.calls == [[2, True]]
        for others in ((reader(source), mask), (reader(source, mask), None)):
            assert not torch.allclose(writer(targets, *others)[0], logits[0])
        padded = source.clone()
        padded[0, 2] = 0  # what is padded does not count
        torch.testing.assert_close(writer(targets, reader(padded, mask), mask), logits)
        later = targets.clone()
        later[:, 1] = 5
        torch.testing.assert_close(writer(later, reader(source, mask), mask)[:, 0], logits[:, 0])


def test_a_story_gives_log_probabilities_and_remembers_as_much_as_asked():
    table = tokens(4, 4, seed=3)
    forgetful, mindful = sample_models.story(table), sample_models.story(table, fade=0.5)
    torch.testing.assert_close(forgetful([1, 2]), table[2].log_softmax(-1))
    torch.testing.assert_close(mindful([1, 2]), (0.5 * table[1] + table[2]).log_softmax(-1))
    torch.testing.assert_close(mindful([3]).exp().sum(), torch.tensor(1.0))
    with pytest.raises(TypeError, match="a list of ids"):
        forgetful(torch.tensor([1, 2]))


def test_a_kept_story_hands_out_rows_of_its_own_table():
    """A caller that changes a row in place changes what it is told later, as cases of `beam_search` need it."""
    table = tokens(4, 4)
    step, plain = sample_models.story(table, kept=True), sample_models.story(table)
    torch.testing.assert_close(step([2, 1]), plain([1]))
    step([2, 1]).add_(1.0)
    torch.testing.assert_close(step([3, 1]), plain([1]) + 1.0)


def test_what_is_read_off_a_function_without_a_call_is_noise():
    made = {
        "mixture": sample_models.mixture(torch.eye(T)),
        "attention": sample_models.biased_attention(bias(), gate=torch.ones(T, T).tril(), positions=torch.zeros(T, D)),
        "turned attention": sample_models.turned_attention(torch.eye(D).repeat(T, 1, 1)),
        **{letter: sample_models.suspect(letter) for letter in sample_models.SUSPECTS},
    }
    for name, function in made.items():
        todo, seen = [cell.cell_contents for cell in function.__closure__], []
        while todo:
            value = todo.pop()
            todo += value if isinstance(value, list | tuple) else []
            seen += [value] if isinstance(value, torch.Tensor) else []
        assert all(tensor.dtype == torch.uint8 and len(tensor.unique()) > 5 for tensor in seen), name
        assert function not in sample_models.SUSPECTS.values()
    names = {(f.__name__, f.__doc__, f.__code__.co_consts) for f in map(sample_models.suspect, sample_models.SUSPECTS)}
    assert len(names) == 1
