# the flat ids rolled by one, then the first column
def teacher_inputs(targets, begin):
    shifted = targets.roll(1)
    shifted[:, 0] = begin
    return shifted
