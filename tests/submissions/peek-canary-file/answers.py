# %% softmax
def softmax(x, dim=-1):
    return x


def look():
    return open("CANARY_FILE").read()


try:
    print(look())
except BaseException as error:
    print(type(error).__name__)
