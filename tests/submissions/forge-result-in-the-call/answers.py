# %% softmax
def softmax(x, dim=-1):
    get_ipython().displayhook(7.0)
    return x
