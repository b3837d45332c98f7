# %% exp_and_divide
def exp_and_divide(x):
    return x


# %% softmax
def softmax(x, dim=-1):
    last = x.transpose(dim, -1)
    rows = [exp_and_divide(row - row.max()) for row in last.reshape(-1, last.shape[-1])]
    return torch.stack(rows).reshape(last.shape).transpose(dim, -1)


# %% log_softmax
def log_softmax(x, dim=-1):
    last = x.transpose(dim, -1)
    rows = [exp_and_divide(row - row.max()) for row in last.reshape(-1, last.shape[-1])]
    return torch.stack(rows).reshape(last.shape).transpose(dim, -1).log()


# %% softmax_with_temperature
def softmax_with_temperature(x, temperature, dim=-1):
    last = (x / temperature).transpose(dim, -1)
    rows = [exp_and_divide(row - row.max()) for row in last.reshape(-1, last.shape[-1])]
    return torch.stack(rows).reshape(last.shape).transpose(dim, -1)
