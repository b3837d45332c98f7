"""The small language model: its file, what it has learnt, and a learner's functions in it."""

from __future__ import annotations

import hashlib
import json
import math
import re
from importlib.resources import files
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

import course
from course.models import small_lm
from course.models.right_functions import (
    lesson_00,
    lesson_01,
    lesson_02,
    lesson_03,
    lesson_04,
    lesson_05,
    lesson_06,
    lesson_07,
    lesson_10,
)
from course.models.river_town import double_meanings, generate_stories
from tools import train_small_lm

SENTENCE = "The boat reached the river bank"
WATERSIDES = ("bank", "shore", "beach", "pier", "harbour", "island", "landing")
FILE = Path(str(files("course").joinpath(small_lm.FILE)))


@pytest.fixture(scope="module")
def lm():
    return small_lm.load()


def by_formulas(ids: torch.Tensor) -> torch.Tensor:
    """The logits of ids (T,), (T, N), by the formulas and the file alone: RoPE by complex numbers."""
    stored = {name: weight.double() for name, weight in load_file(FILE).items()}

    def norm(x, name):
        return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * stored[f"{name}.gain"]

    def turn(x):
        pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        speeds = 10000 ** (-2 * torch.arange(pairs.shape[-1]).double() / x.shape[-1])
        angles = torch.arange(len(x)).double()[:, None] * speeds
        return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)

    x = stored["tokens.weight"][ids]
    for i in range(3):
        name = f"blocks.{i}"
        normed, heads = norm(x, f"{name}.norm_1"), []
        q, k, v = (normed @ stored[f"{name}.attention.W_{letter}.weight"].T for letter in "qkv")
        for query, key, value in zip(*(vectors.chunk(4, -1) for vectors in (q, k, v)), strict=True):
            query, key = (query, key) if i == 0 else (turn(query), turn(key))
            heads.append(F.scaled_dot_product_attention(query[None], key[None], value[None], is_causal=True)[0])
        x = x + torch.cat(heads, -1) @ stored[f"{name}.attention.W_o.weight"].T
        normed = norm(x, f"{name}.norm_2")
        gate, up = (normed @ stored[f"{name}.mlp.W_{which}.weight"].T for which in ("gate", "up"))
        x = x + (F.silu(gate) * up) @ stored[f"{name}.mlp.W_down.weight"].T
    return norm(x, "norm") @ stored["tokens.weight"].T


def test_the_model_computes_what_its_formulas_say(lm):
    ids = lm.encode(f"{SENTENCE}. The captain tied the boat to a tree.")
    torch.testing.assert_close(lm(ids), by_formulas(ids).float(), rtol=0, atol=1e-3)
    torch.testing.assert_close(lm(torch.stack([ids, ids]))[1], lm(ids))


@pytest.mark.full
def test_its_notes_are_true(lm):
    text = generate_stories(train_small_lm.WORDS, small_lm.TEXT_SEED)
    assert lm.notes["text"] == hashlib.sha256(text.encode()).hexdigest()
    assert lm.words == train_small_lm.vocabulary(text)
    assert lm.notes["weights"] == small_lm.digest(load_file(FILE))
    assert lm.notes["seed"] == str(train_small_lm.SEED)
    held_out = small_lm.held_out(train_small_lm.HELD_OUT_WORDS)
    assert lm.loss(held_out) == pytest.approx(float(lm.notes["held-out loss"]), abs=1e-3)
    seen = set(text.splitlines())
    assert sum(story in seen for story in held_out.splitlines()) == 0


def test_it_is_small():
    assert FILE.stat().st_size < 1_500_000


def test_loading_leaves_random_numbers_alone():
    torch.manual_seed(0)
    wanted = torch.rand(1)
    torch.manual_seed(0)
    small_lm.load().compare(module=lesson_07.RotarySelfAttention)
    assert torch.rand(1) == wanted


def test_each_load_is_a_new_model(lm):
    small_lm.load().tokens.weight.zero_()
    assert small_lm.load().embedding.equal(lm.embedding)
    assert not lm.training
    assert not any(parameter.requires_grad for parameter in lm.parameters())
    assert course.small_lm is small_lm


def test_a_missing_and_a_damaged_file_are_reported(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(small_lm, "files", lambda package: tmp_path)
    with pytest.raises(FileNotFoundError, match=r"is missing: no file .*small_lm\.safetensors\. Install .* again"):
        small_lm.load()
    path = tmp_path / small_lm.FILE
    path.parent.mkdir()
    content = bytearray(FILE.read_bytes())
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"is damaged: .* is unreadable"):
        small_lm.load()
    content[-1000] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"is damaged: .* does not match its digest\. Install .* again"):
        small_lm.load()
    save_file({"wte.weight": torch.zeros(2)}, path)
    with pytest.raises(ValueError, match="does not match its digest"):
        small_lm.load()


def test_words_are_encoded_and_decoded(lm):
    assert [lm.words[i] for i in lm.encode(SENTENCE)] == ["the", "boat", "reached", "the", "river", "bank"]
    for story in small_lm.held_out().splitlines():
        assert lm.decode(lm.encode(story)) == story
    assert lm.decode(lm.encode(small_lm.held_out())) == small_lm.held_out()
    with pytest.raises(ValueError, match=r"does not know 'boatz' \(but knows 'boat'\), 'xyzzy'; `lm\.words` lists"):
        lm.encode("The boatz and xyzzy")


def test_similar_words_have_similar_embeddings(lm):
    def similarity(a, b):
        return F.cosine_similarity(*(lm.embedding[lm.words.index(word)] for word in (a, b)), dim=0)

    for word, near, far in (
        ("boat", "ship", "bread"), ("Mara", "Ida", "river"), ("bread", "cheese", "boat"), ("red", "blue", "two"),
        ("three", "four", "red"), ("Monday", "Friday", "bread"), ("river", "lake", "hat"), ("king", "queen", "apples"),
    ):  # fmt: skip
        assert similarity(word, near) > similarity(word, far) + 0.1, (word, near, far)


def test_it_continues_texts_sensibly(lm):
    assert lm.words[lm.next_scores("The boat reached the river").argmax()] in WATERSIDES
    assert lm.words[lm.next_scores("Mara kept her money in the").argmax()] == "bank"
    assert lm.words[lm.next_scores("The boat reached").argmax()] == "the"
    assert lm.words[lm.next_scores('Mara found a red key near the garden. "Whose').argmax()] == "key"
    assert lm.words[lm.next_scores("The horse ate").argmax()] == "hay"
    assert lm.loss(small_lm.held_out()) < 1.0


def test_its_heads_look_at_the_same_word_the_word_before_and_what_came_after_it(lm):
    once = torch.randperm(800, generator=torch.Generator().manual_seed(0))[:12] + 100
    text = " ".join(lm.words[i] for i in once.repeat(2))
    again = range(12, 24)
    same = lm.look(text, layer=0, head=2).weights
    assert sum(same[i, [i - 12, i]].sum() for i in again) > 0.8 * 12
    before, after = lm.look(text, layer=1, head=2).weights, lm.look(text, layer=2, head=1).weights
    assert before.diagonal(-1).mean() > 0.8
    assert after.diagonal(-11)[4:].mean() > 0.8  # by then it has noticed that words repeat
    losses = lm.losses(once.repeat(2)[None])[0]
    assert losses[15:].mean() < 0.5 < 5 < losses[:11].mean()


def test_a_head_is_made_of_its_parts(lm):
    for layer in range(3):
        for head in range(4):
            seen = lm.look(SENTENCE, layer, head)
            assert seen.words == SENTENCE.split()
            torch.testing.assert_close(seen.scores, seen.q @ seen.k.T / 24**0.5)
            masked = seen.scores.masked_fill(lesson_05.causal_mask(6), -torch.inf)
            torch.testing.assert_close(seen.weights, masked.softmax(-1))
            torch.testing.assert_close(seen.output, seen.weights @ seen.v)
            query, key = seen.x @ seen.W_q, seen.x @ seen.W_k
            if layer > 0:
                query, key = (lesson_07.apply_rope(vectors, torch.arange(6)) for vectors in (query, key))
            torch.testing.assert_close(seen.q, query, rtol=0, atol=1e-4)
            torch.testing.assert_close(seen.k, key, rtol=0, atol=1e-4)
            torch.testing.assert_close(seen.v, seen.x @ seen.W_v, rtol=0, atol=1e-4)
    with pytest.raises(ValueError, match="layer is 3 and head is 0; layers are 0 to 2, heads are 0 to 3"):
        lm.look(SENTENCE, layer=3)


MONEY, RIVER = "the money left the bank", "The river was long and the boat reached the bank"


def test_of_two_heads_that_find_river_one_goes_by_meaning_and_one_by_place(lm):
    """Lesson 03: they give river more than the other ten do; where the clue is elsewhere, only the first finds it."""
    found = {(layer, head): lm.look(SENTENCE, layer, head).weights[5, 4] for layer in range(3) for head in range(4)}
    meaning, place, next_one = sorted(found, key=found.get, reverse=True)[:3]
    assert (meaning, place) == ((train_small_lm.LAYER, train_small_lm.HEAD), (1, 2))
    assert found[place] > 0.8 > 0.5 > found[next_one]
    for text, clue in ((MONEY, "money"), (RIVER, "river")):
        words = text.split()
        assert lm.look(text, *meaning).weights[-1][words.index(clue)] > 0.95
        looks = lm.look(text, *place).weights[-1]
        assert int(looks.argmax()) == len(words) - 3
        assert looks[-3:-1].sum() > 0.8
    for further in range(1, 30):
        text = f"the river {'and ' * further}the bank"
        assert lm.look(text, *meaning).weights[-1].argmax() == 1


def test_lesson_04_has_a_sentence_in_which_the_scale_shows(lm):
    """Nothing in it decides which bank is meant, so the head that looks for this spreads its weights."""
    scores = lm.look("The boat left the bank", layer=0, head=3).scores[-1]
    assert scores.softmax(-1).max() < 0.4
    assert (scores * 24**0.5).softmax(-1).max() > 0.7


def bank_sentences(number: int) -> list[tuple[str, int, tuple[str, ...], tuple[str, ...]]]:
    """Sentences up to *bank* that are not in the text of training, half of them for each meaning.

    With each, the position of its clue, what may follow, and what may follow in the other meaning.
    """
    training, stories = generate_stories(train_small_lm.WORDS, small_lm.TEXT_SEED), small_lm.held_out(250_000)
    found = []
    meanings = double_meanings()["bank"]
    for (follow, clues), other in zip(meanings.items(), reversed(meanings), strict=True):
        sentences = re.findall(rf'[^.!?"\n]+ bank(?= (?:{"|".join(follow)})\b)', stories)
        unseen = []
        for sentence in dict.fromkeys(sentences):
            words = small_lm.split_words(sentence.lower())
            at = [i for i, word in enumerate(words) if word in clues]
            if len(at) == 1 and 2 <= len(words) - 1 - at[0] <= 12 and sentence not in training:
                unseen.append((sentence, at[0], follow, other))
        assert len(unseen) >= number // 2
        found += unseen[: number // 2]
    return found


def test_one_head_finds_the_clue_that_decides_what_a_bank_does(lm):
    layer, head = train_small_lm.LAYER, train_small_lm.HEAD
    sentences = bank_sentences(100)

    def silent(at: int, heads: torch.Tensor) -> torch.Tensor:
        heads = heads.clone()
        heads[:, head] *= at != layer
        return heads

    def right(change=None) -> int:
        """In how many sentences the words that may follow are more probable than those of the other meaning."""
        count = 0
        for sentence, _, *sets in sentences:
            probabilities = lm.run(lm.encode(sentence)[None], change).logits[0, -1].softmax(-1)
            follow, other = (probabilities[lm.encode(" ".join(words))].sum() for words in sets)
            count += int(follow > other)
        return count

    assert right() >= 95
    looks = [lm.look(sentence, layer, head).weights[-1] for sentence, *_ in sentences]
    assert sum(bool(weights[clue] >= 0.5) for weights, (_, clue, *_) in zip(looks, sentences, strict=True)) >= 60
    assert right(silent) <= 65
    # It is no head that looks at the word before
    assert max(weights[-2] for weights in looks) < 0.5
    words = torch.randperm(len(lm.words), generator=torch.Generator().manual_seed(0))[:48]
    assert lm.look(" ".join(lm.words[i] for i in words), layer, head).weights.diagonal(-1).mean() < 0.2


def in_two_dimensions(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The attention that learners put together in lesson 00."""
    weights = lesson_00.past_weights(lesson_00.rooted_scores(q, k))
    return weights @ v, weights


RIGHT = {
    "my_attention": in_two_dimensions,
    "dot_product": lesson_01.dot,
    "similarity_scores": lesson_01.similarity_scores,
    "softmax": lambda x, dim=-1: (x - x.amax(dim, True)).exp() / (x - x.amax(dim, True)).exp().sum(dim, True),
    "log_softmax": lambda x, dim=-1: x - x.logsumexp(dim, keepdim=True),
    "softmax_with_temperature": lesson_02.softmax_with_temperature,
    "embed": lambda token_ids, table: F.one_hot(token_ids, len(table)).to(table) @ table,
    "attention": lesson_03.attention,
    "scale": lesson_04.scaled_dot_product_attention,
    "mask": lesson_05.causal_mask,
    "masked_softmax": lesson_05.masked_softmax,
    "masked_attention": lesson_05.masked_attention,
    "split": lambda x, n_heads: x.view(*x.shape[:2], n_heads, -1).transpose(1, 2),
    "merge": lambda x: x.transpose(1, 2).flatten(2),
    "rope": lesson_07.apply_rope,
    "module": lesson_07.RotarySelfAttention,
    "tiled_attention": lesson_10.tiled_attention,
    "causal_tiled_attention": lambda q, k, v, tile=64: lesson_10.partial_attention(
        q, k, v, lesson_05.causal_mask(q.shape[-2])
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_function_changes_the_loss_by_rounding_only(lm, name: str, capsys):
    yours, builtin = lm.compare(**{name: RIGHT[name]})
    assert yours == pytest.approx(builtin, abs=1e-5)
    told = capsys.readouterr().out
    assert told.count("\n") == 1
    assert told.endswith(("(rounding).\n", "Difference: 0.\n"))
    assert f"With {'RotarySelfAttention' if name == 'module' else name}: " in told


def test_every_part_has_a_right_function_here():
    from course.models.swapped_parts import SWAPS

    assert RIGHT.keys() == SWAPS.keys()


def test_attention_without_rotation_is_put_where_the_model_does_not_rotate(lm):
    yours, builtin = lm.compare(module=lesson_06.MultiHeadAttention)
    assert yours == pytest.approx(builtin, abs=1e-5)


def test_two_functions_at_once(lm, capsys):
    yours, builtin = lm.compare(softmax=RIGHT["softmax"], mask=RIGHT["mask"])
    assert yours == pytest.approx(builtin, abs=1e-5)
    assert "With softmax and mask: " in capsys.readouterr().out


def test_the_loss_of_each_token_with_a_function_in_the_model(lm):
    ids = lm.encode("The boat reached the river bank")[None]
    assert lm.losses_with(ids, rope=RIGHT["rope"]) == pytest.approx(lm.losses(ids), abs=1e-5)
    assert (lm.losses_with(ids, rope=lambda x, positions: x) - lm.losses(ids)).abs().max() > 0.01
    with pytest.raises(TypeError, match="got ropes"):
        lm.losses_with(ids, ropes=RIGHT["rope"])


def halves(x: torch.Tensor) -> torch.Tensor:
    """Pair entry i with entry i + K / 2, as the other convention does."""
    return x.unflatten(-1, (2, -1)).mT.flatten(-2)


WRONG = {
    "softmax over the wrong dimension": {"softmax": lambda x, dim=-1: torch.softmax(x, -2)},
    "softmax without its sum": {"softmax": lambda x, dim=-1: x.exp()},
    "temperature the other way round": {
        "softmax_with_temperature": lambda x, temperature, dim=-1: torch.softmax(x * temperature, dim)
    },
    "no scaling": {"scale": 1.0},
    "no root": {"my_attention": lambda q, k, v: (lesson_00.past_weights(q @ k.T) @ v, k)},
    "no triangle": {"my_attention": lesson_04.scaled_dot_product_attention},
    "attention that scales by itself": {"attention": lesson_04.scaled_dot_product_attention},
    "no mask": {"mask": lambda T: torch.zeros(T, T, dtype=torch.bool)},
    "a mask that is off by one": {"mask": lambda T: torch.ones(T, T).triu(2).bool()},
    "heads taken in the wrong order": {"split": lambda x, n_heads: x.view(x.shape[0], n_heads, x.shape[1], -1)},
    "heads merged in the wrong order": {"merge": lambda x: x.reshape(x.shape[0], x.shape[2], -1)},
    "no rotation": {"rope": lambda x, positions: x},
    "rotation in halves": {"rope": lambda x, p: lesson_07.apply_rope(halves(x), p)},
    "queries and keys swapped": {"similarity_scores": lambda q, k: k @ q.mT},
}  # fmt: skip


@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_function_changes_the_loss(lm, mistake: str, capsys):
    yours, builtin = lm.compare(**WRONG[mistake])
    assert abs(yours - builtin) > 0.01
    assert "rounding" not in capsys.readouterr().out


def not_written(x, dim=-1):
    raise NotImplementedError


def raising(x, dim=-1):
    raise ValueError("no\nnumber")


FAILING = {
    "softmax is not written yet": {"softmax": not_written},
    "softmax raised ValueError: no number": {"softmax": raising},
    "softmax: expected torch.float32 of shape (4, 4, 48, 48), got None": {"softmax": lambda x, dim=-1: None},
    "softmax: expected torch.float32 of shape (4, 4, 48, 48), got torch.float64 of shape (4, 4, 48, 48)": {
        "softmax": lambda x, dim=-1: torch.softmax(x.double(), dim)
    },
    "mask: expected torch.bool of shape (48, 48), got torch.float32 of shape (48, 48)": {
        "mask": lambda T: torch.zeros(T, T)
    },
    "attention: expected (output, weights), got torch.float32 of shape (4, 4, 1, 24)": {"attention": lambda q, k, v: q},
    "my_attention: expected torch.float32 of shape (48, 24), got torch.float32 of shape (48, 48)": {
        "my_attention": lambda q, k, v: (q @ k.T, v)
    },
    "dot_product: expected torch.float32 of shape (), got a value of type float": {"dot_product": lambda a, b: 0.5},
    "<lambda>: expected an nn.Module, got a value of type int": {"module": lambda d_model, n_heads: 4},
}


@pytest.mark.parametrize("told", FAILING)
def test_what_goes_wrong_in_a_function_is_reported_in_one_line(lm, told: str, capsys):
    yours, builtin = lm.compare(**FAILING[told])
    assert math.isnan(yours)
    assert builtin == pytest.approx(lm.compare(mask=lesson_05.causal_mask)[1], rel=0.5)
    assert capsys.readouterr().out.startswith(f"{told}. Loss with the built-in: {builtin:.4f}.\n")


def test_a_module_with_other_weights_is_reported(lm, capsys):
    assert math.isnan(lm.compare(module=torch.nn.Linear)[0])
    assert capsys.readouterr().out.startswith("Linear does not take the model's weights: RuntimeError: ")


START = "The boat reached the river"


def test_it_writes_with_an_attention_of_lesson_00(lm):
    text = lm.write(START, in_two_dimensions)
    assert text == lm.write(START, in_two_dimensions)
    assert text.startswith(START)
    ids, drawn = lm.encode(START), torch.Generator().manual_seed(0)
    for _ in range(30):
        ids = torch.cat([ids, torch.multinomial(lm(ids)[-1].softmax(-1), 1, generator=drawn)])
    assert text == lm.decode(ids)
    assert lm.write(START, in_two_dimensions, words=0) == START
    assert lm.write(START, in_two_dimensions, seed=1) != text


def test_lesson_00_is_right_about_texts_without_the_root_and_without_the_triangle(lm):
    """The model's own loss on what it wrote: of the lesson's seed, and of others, so that it is not luck."""

    def without_the_root(q, k, v):
        weights = lesson_00.past_weights(q @ k.T)
        return weights @ v, weights

    def losses(attention):
        texts = [lm.encode(lm.write(start, attention, seed=seed)) for seed in range(5)]
        return torch.stack([lm.losses(ids[None])[0, written:].mean() for ids in texts])

    start = "Mara told Tom about the river, but then the bank"
    written = len(lm.encode(start)) - 1

    assert losses(in_two_dimensions).max() < 1.3
    assert losses(without_the_root).min() > 2.5
    assert losses(lesson_04.scaled_dot_product_attention).mean() < 1.5


def test_lesson_00_is_right_about_two_heads(lm):
    heads = [lm.look(SENTENCE, *place) for place in ((0, 3), (1, 1))]
    for head in heads:
        mine = lesson_00.past_weights(lesson_00.rooted_scores(head.q, head.k))
        torch.testing.assert_close(mine, head.weights, rtol=0, atol=1e-5)
    clue, verb = (head.weights for head in heads)
    assert clue[5, 4] > 0.95  # bank -> river
    assert lm.look("The money left the bank", 0, 3).weights[4, 1] > 0.95  # bank -> money
    assert (train_small_lm.LAYER, train_small_lm.HEAD) == (0, 3)
    assert verb[3:].argmax(-1).tolist() == [2, 2, 2]
    assert verb[3:, 2].min() > 0.8


def test_what_goes_wrong_while_it_writes_is_a_sentence(lm):
    def unwritten(q, k, v):
        raise NotImplementedError

    assert lm.write(START, unwritten) == "my_attention is not written yet."
    assert lm.write(START, lambda q, k, v: v) == (
        "my_attention: expected (output, weights), got torch.float32 of shape (5, 24)."
    )
    assert lm.write(START, lambda q, k, v: (v / 0, v)) == "my_attention: a result has NaN or infinity in it."


def test_the_record_of_a_model_without_the_triangle_says_what_the_lesson_says():
    found = json.loads(files("course").joinpath(small_lm.WITHOUT_TRIANGLE).read_text(encoding="utf-8"))
    assert found["seen"] < 0.05
    assert found["unseen"] > 4
    shown = small_lm.without_triangle()
    assert f"{found['seen']:.3f}; where it does not: {found['unseen']:.2f}." in shown
    assert shown.endswith(found["text"])


def test_a_function_that_changes_its_arguments_does_not_harm_the_model(lm):
    def emptying(token_ids, table):
        result = table[token_ids]
        table.zero_()
        return result

    before = lm.embedding.clone()
    yours, builtin = lm.compare(embed=emptying)
    assert yours == builtin
    assert lm.embedding.equal(before)


def test_names_that_do_not_fit_are_refused(lm):
    with pytest.raises(TypeError, match=r"expected one of my_attention=, .* got nothing"):
        lm.compare()
    with pytest.raises(TypeError, match="got softmacks"):
        lm.compare(softmacks=torch.softmax)
    with pytest.raises(TypeError, match="softmax= and attention= replace the same part"):
        lm.compare(softmax=torch.softmax, attention=lesson_03.attention)


def test_training_makes_a_file_of_this_form(tmp_path: Path, lm, capsys):
    text = generate_stories(3000)
    words = train_small_lm.vocabulary(text)
    model = train_small_lm.with_the_weights_of(lm, words)
    train_small_lm.train(model, text, steps=2)
    notes = train_small_lm.write(model, text, 1.0, tmp_path / "made.safetensors", unseen=text)
    made = load_file(tmp_path / "made.safetensors")
    assert {name: weight.shape[1:] for name, weight in made.items()} == {
        name: weight.shape[1:] for name, weight in lm.state_dict().items()
    }
    assert notes["weights"] == small_lm.digest(made)
    assert notes.keys() | {"format"} == lm.notes.keys()
    assert "step 2 of 2: loss of stories" in capsys.readouterr().out


@pytest.mark.full
def test_the_ids_of_training_are_the_beginning_of_its_text(lm):
    ids = small_lm.training_ids(words=500)
    assert ids.dtype == torch.int64
    text = generate_stories(train_small_lm.WORDS, small_lm.TEXT_SEED)
    assert text.startswith(lm.decode(ids).splitlines()[0])


def test_an_empty_model_learns_and_has_random_weights_of_its_seed(lm):
    state = torch.get_rng_state()
    empty, again, other = small_lm.empty(), small_lm.empty(), small_lm.empty(seed=1)
    assert torch.equal(torch.get_rng_state(), state)
    assert empty.training and all(parameter.requires_grad for parameter in empty.parameters())
    assert empty.words == lm.words and {n: w.shape for n, w in empty.state_dict().items()} == {
        n: w.shape for n, w in lm.state_dict().items()
    }
    assert torch.equal(empty.tokens.weight, again.tokens.weight)
    assert not torch.equal(empty.tokens.weight, other.tokens.weight)
    loss = empty.losses(empty.encode(SENTENCE)[None]).mean()
    loss.backward()
    assert abs(float(loss.detach()) - math.log(len(lm.words))) < 1
    assert all(parameter.grad.abs().sum() > 0 for parameter in empty.parameters())


@pytest.fixture
def saving(monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_MEMORY", str(tmp_path / "progress.json"))
    return tmp_path / small_lm.KEPT


def test_the_model_that_a_learner_kept_is_opened(saving, capsys):
    small_lm.load(yours=True)
    assert capsys.readouterr().out == "This is the course's model, until you keep yours in lesson 8.\n"
    yours = small_lm.empty(seed=3)
    small_lm.keep(yours)
    assert capsys.readouterr().out == f"Your model is kept in {saving}.\n"
    opened = small_lm.load(yours=True)
    assert not opened.training and capsys.readouterr().out == ""
    assert not any(parameter.requires_grad for parameter in opened.parameters())
    torch.testing.assert_close(opened.state_dict(), yours.state_dict())
    assert small_lm.load().notes["seed"] == str(train_small_lm.SEED)


@pytest.mark.parametrize("damage", ["not a model", "another shape", "another digest"])
def test_a_kept_model_that_cannot_be_used_is_named_and_left(saving, capsys, lm, damage):
    if damage == "not a model":
        saving.write_bytes(b"not a model")
    elif damage == "another shape":
        weights = {"tokens.weight": torch.zeros(3, 4)}
        save_file(weights, saving, {"weights": small_lm.digest(weights)})
    else:
        save_file(dict(lm.state_dict()), saving, {"weights": "0" * 64})
    opened = small_lm.load(yours=True)
    torch.testing.assert_close(opened.state_dict(), lm.state_dict())
    assert str(saving) in capsys.readouterr().out and saving.exists()


def test_what_cannot_be_kept_is_refused(saving, monkeypatch, capsys):
    with pytest.raises(TypeError, match="expected the model that"):
        small_lm.keep(torch.nn.Linear(2, 3))
    model = small_lm.empty()
    model.tokens.weight.data[0, 0] = math.nan
    with pytest.raises(ValueError, match="expected finite numbers"):
        small_lm.keep(model)
    model = small_lm.empty()
    model.blocks[1].mlp = torch.nn.Linear(96, 96)
    with pytest.raises(ValueError, match="expected no such weight, got"):
        small_lm.keep(model)
    assert not saving.exists()
    monkeypatch.setenv("ATTENTION_MEMORY", "off")
    small_lm.keep(small_lm.empty())
    assert capsys.readouterr().out == "Your model is not kept: saving is off here.\n"


def test_a_run_has_all_activations_and_its_heads_can_be_changed(lm):
    ids = lm.encode(f"{SENTENCE}.")[None]
    run = lm.run(ids)
    torch.testing.assert_close(run.logits, lm(ids), rtol=0, atol=1e-4)
    assert run.hidden.shape == (4, 1, 7, 96)
    assert run.heads.shape == (3, 1, 4, 7, 24)
    torch.testing.assert_close(run.weights[2, 0, 1], lm.look(f"{SENTENCE}.", 2, 1).weights)
    torch.testing.assert_close(run.heads[1, 0, 3], lm.look(f"{SENTENCE}.", 1, 3).output)
    changed = lm.run(ids, lambda layer, outputs: outputs * 0 if layer == 1 else outputs)
    assert changed.hidden[1].equal(run.hidden[1])
    assert not changed.heads[1].any()
    assert not changed.logits.equal(run.logits)
