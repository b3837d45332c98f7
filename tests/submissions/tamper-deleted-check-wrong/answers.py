# %% softmax
def softmax(x, dim=-1):
    return 2 * x
