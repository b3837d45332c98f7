# %% softmax
def softmax(x, dim=-1):
    return x


def look():
    open("CANARY_FILE", "w").write("gone")
    return "written"


try:
    print(look())
except BaseException as error:
    print(type(error).__name__)
