# %% softmax
def softmax(x, dim=-1):
    raise ValueError("\ud800")

# %% after check_softmax
print("\ud800")
raise ValueError("\udfff")
