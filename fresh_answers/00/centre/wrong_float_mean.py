# the mean is taken in float32, so the result for float64 input is right to seven digits only
def centre(x):
    mean = x.float().mean(dim=-1, keepdim=True)
    return x - mean.to(x.dtype)
