# %% softmax
def softmax(x, dim=-1):
    print(5.0)
    return 5.0

# %% before check_softmax
5.0
