"""`teacher_inputs`: the decoder's inputs: targets, shifted by one, after `begin`."""

import torch

from grading.exercises.exercise import Script, call, exercise, helper, non_contiguous, student

teacher_inputs = exercise(
    "teacher_inputs",
    see="3. Teacher forcing",
    hints=(
        "Write the targets 5, 8, 2 in a row, and under each what the decoder has read by the time it has to say it. "
        "What is under the first?",
        "The result has the shape of `targets`. Its first column is `begin` for every sentence, and behind it come all "
        "columns of the targets but one. Which one is never read?",
        "Make a column (B, 1) that is full of `begin`, with the dtype and device of targets (`targets.new_full`), and "
        "put it before `targets[:, …]` with `torch.cat`.",
    ),
)


@teacher_inputs.oracle
def teacher_inputs_oracle(targets, begin):
    shifted = targets.roll(1, dims=1)
    shifted[:, 0] = begin
    return shifted


teacher_inputs.example("two sentences of three words", call(torch.tensor([[5, 8, 2], [7, 4, 9]]), 1), check_types=True)
teacher_inputs.example("one word each", call(torch.tensor([[5], [3]]), begin=0))
teacher_inputs.example("targets left as they were", call(torch.tensor([[6, 2, 2, 4]]), 3).does_not_mutate())


@teacher_inputs.criterion("begin, then all targets but the last", points=1)
def _(draw):
    for B, T in ((2, 5), (4, 3), (1, 7), (6, 2), (5, 5)):
        # no equal neighbours, and no target is `begin`, so that every shift shows
        yield call(3 + draw.permutation(B * T).view(B, T), draw.integer(0, 3))
    yield call(torch.tensor([[7, 7, 2, 0], [7, 2, 0, 0]]), begin=1)  # padded with 0
    yield call(torch.tensor([[6, 3, 2, -100], [4, 2, -100, -100]]), begin=1)  # padded with the id that losses ignore


@teacher_inputs.criterion("one target, and any begin", points=0.5)
def _(draw):
    yield call(5 + draw.permutation(4).view(4, 1), 2)
    yield call(5 + draw.permutation(6).view(2, 3), 4000 + draw.integer(0, 90))
    yield call(draw.permutation(8).view(2, 4), begin=draw.integer(0, 8))  # begin may be a target as well


@teacher_inputs.criterion("int64, any layout and device, targets left alone", points=0.5, check_types=True)
def _(draw):
    yield call(10 + draw.permutation(20).view(4, 5), 7).does_not_mutate()
    yield call(non_contiguous(10 + draw.permutation(12).view(3, 4)), 1).does_not_mutate()
    # int32 cannot represent them, and float32 cannot distinguish them
    yield call(2**33 + 1 + draw.permutation(6).view(2, 3), 2**33 + 21 + 2 * draw.integer(0, 9))
    yield call(10 + draw.permutation(6).view(2, 3), 5).device_only()
    # A device-only case cannot check an answer that reads the targets into lists; here the new tensor is elsewhere
    s = Script(targets=10 + draw.permutation(6).view(2, 3))
    s.call(helper("elsewhere"), student("teacher_inputs"), s.targets, 5)
    yield s.case().label("teacher_inputs((2, 3) int64, 5), while another device is PyTorch's default")
