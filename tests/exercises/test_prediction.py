"""Predictions and experiments in grader_tests: what is read, and what an author is told of a file that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from grading.errors import ExerciseError
from grading.exercises.experiment import load_experiment
from grading.exercises.prediction import load_predictions

from ..support.acting_lesson import EXPERIMENT, PREDICTIONS

NUMBER = '["the sum"]\nanswer = 0.5\nbecause = "So."\nproof = "True"\n'
CHOICE = '["the sign"]\nchoices = ["+", "-", "0"]\nanswer = "+"\nbecause = "So."\nproof = "True"\n["the sign".wrong]\n'
REASONS = '"-" = "No."\n"0" = "No."\n'


def write(folder: Path, file: str, text: str) -> Path:
    (folder / "01_small").mkdir(exist_ok=True)
    (folder / "01_small" / file).write_text(text, encoding="utf-8")
    return folder / "01_small"


def test_a_lesson_without_the_files_has_none(tmp_path):
    assert load_predictions(tmp_path) == {}
    assert load_experiment(tmp_path) == {}


def test_predictions_are_read_in_their_order_with_their_kinds(tmp_path):
    code = '["the line"]\nkind = "code"\nanswer = "x.sum()"\nbecause = "So."\nproof = "True"\n'
    found = load_predictions(write(tmp_path, "predictions.toml", PREDICTIONS + NUMBER + code))
    assert [(name, one.kind) for name, one in found.items()] == [
        ("the weights that grow", "choice"),
        ("the shape", "list"),
        ("the sum", "number"),
        ("the line", "code"),
    ]
    assert found["the shape"].wrong == {"(1, 3)": "That is `scores[None, :]`, with the new dimension in front."}
    assert "proof" not in found["the shape"].to_data()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('["the sum"\n', "01_small/predictions.toml: "),
        ("answer = 3\n", '["answer"]: expected a table'),
        (NUMBER.replace("because", "becuase"), "[\"the sum\"]: unknown key 'becuase' (did you mean 'because'?)"),
        (NUMBER.replace("0.5", '"half"'), 'add `choices`, or `kind = "code"`'),
        (NUMBER.replace("0.5", "true"), "'answer': expected a text, a number or a list, got True"),
        (NUMBER.replace("0.5", '["a", "b"]'), "expected a list of numbers, got ['a', 'b']"),
        (NUMBER + 'kind = "shape"\n', "'kind': expected \"code\", or no such key, got 'shape'"),
        (NUMBER.replace('"True"', '"x ="'), "'proof': expected one expression of Python, got 'x ='"),
        (NUMBER.replace('proof = "True"\n', ""), "'proof' is missing: expected a text"),
        (NUMBER + 'tolerance = "small"\n', "'tolerance': expected a number, got 'small'"),
        (CHOICE.replace('answer = "+"', 'answer = "1"') + REASONS, "'answer': expected one of the choices, got '1'"),
        (CHOICE.replace('["+", "-", "0"]', '["+"]'), "'choices': expected two or more texts, got ['+']"),
        (CHOICE + REASONS + '"1" = "No."\n', "'wrong': '1' is not a wrong choice; these are ['-', '0']"),
        (CHOICE + REASONS + '"+" = "No."\n', "'wrong': '+' is not a wrong choice"),
        (CHOICE + REASONS + 'other = "No."\n', "'wrong': 'other' is not a wrong choice"),
        (CHOICE + '"-" = "No."\n', "'wrong': add a sentence for '0': each wrong choice has a reason of its own"),
        (CHOICE + REASONS.replace("No.", "", 1), "'wrong', '-': expected a sentence, got ''"),
    ],
)
def test_a_wrong_prediction_is_reported_with_file_entry_and_remedy(tmp_path, text, fault):
    with pytest.raises(ExerciseError) as refused:
        load_predictions(write(tmp_path, "predictions.toml", text))
    assert str(refused.value).startswith("01_small/predictions.toml: ")
    assert fault in str(refused.value)


def test_an_experiment_is_read(tmp_path):
    found = load_experiment(write(tmp_path, "experiment.toml", EXPERIMENT))
    assert (found["kind"], found["range"], len(found["wrong"])) == ("number", [0.4, 0.6], 1)


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('kind = "number"', 'kind = "size"', "'kind': expected one of number, sign, order, got 'size'"),
        ('kind = "number"', 'kind = "sign"', "unknown key 'range'"),
        ("[0.4, 0.6]", "[0.6, 0.4]", "'range': expected two numbers, the smaller one first, got [0.6, 0.4]"),
        ("[0.4, 0.6]", "0.5", "'range': expected a list, got 0.5"),
        ('confirmed = "Two equal scores share equally."\n', "", "'confirmed' is missing: expected a text"),
        ("[0.9, 1.1]", "[0.9]", "wrong finding 1: 'range': expected two numbers"),
        ("[0.9, 1.1]", "[0.4, 0.6]", "wrong finding 1: 'range' is that of the right finding"),
        ("text = ", "says = ", "wrong finding 1: unknown key 'says'"),
    ],
)
def test_a_wrong_experiment_is_reported(tmp_path, old, new, fault):
    assert old in EXPERIMENT
    with pytest.raises(ExerciseError) as refused:
        load_experiment(write(tmp_path, "experiment.toml", EXPERIMENT.replace(old, new)))
    assert str(refused.value).startswith("01_small/experiment.toml: ")
    assert fault in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "answer", "wrong", "fault"),
    [
        ("sign", '"up"', '"-"', "'answer': expected one of +, -, 0, got 'up'"),
        ("sign", '"+"', '"+"', "wrong finding 1: 'answer' is that of the right finding"),
        ("order", '["a"]', '["a"]', "'answer': expected two or more names, got ['a']"),
        ("order", '["a", "b"]', '["b", "c"]', "expected the names ['a', 'b'] in another order, got ['b', 'c']"),
    ],
)
def test_a_wrong_sign_or_order_is_reported(tmp_path, kind, answer, wrong, fault):
    text = f'question = "?"\nkind = "{kind}"\nanswer = {answer}\nconfirmed = "Yes."\nother = "No."\n'
    text += 'solution = "finding = 1"\n'
    text += f'[[wrong]]\nanswer = {wrong}\ntext = "No."\n'
    with pytest.raises(ExerciseError) as refused:
        load_experiment(write(tmp_path, "experiment.toml", text))
    assert fault in str(refused.value)
