# the means are taken in the order of the list, from row 0 on, not from the rows of these heads
def ablate(head_outputs, heads, mean=None):
    out = head_outputs.clone()
    for row, head in enumerate(heads):
        out[:, head] = 0 if mean is None else mean[row]
    return out
