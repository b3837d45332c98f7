# the message of the ValueError names no argument
def dot(a, b):
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"need two vectors of one length, got {tuple(a.shape)} and {tuple(b.shape)}")
    return (a * b).sum()
