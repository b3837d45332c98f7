# %% softmax
def softmax(x, dim=-1):
    return log_softmax(x, dim).exp()

# %% log_softmax
def log_softmax(x, dim=-1):
    return x
