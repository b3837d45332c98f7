"""`cache_bytes`: the size of all layers' keys and values, in bytes."""

from grading.exercises.exercise import call, exercise

cache_bytes = exercise(
    "cache_bytes",
    see="Exercise: `cache_bytes(n_layers, n_kv_heads, d_head, length, batch_size=1, element_bytes=2)`",
    hints=(
        "How many numbers does one layer keep for one token of one sequence? Count keys, then values.",
        "For one token a layer keeps a key and a value for each head, each as long as a head is wide. The rest is "
        "how many layers, tokens and sequences there are, and how long one number is.",
        "Refuse what is below 0, with its name. Then one product: 2 for keys and values, and all six arguments.",
    ),
)


@cache_bytes.oracle
def cache_bytes_oracle(n_layers, n_kv_heads, d_head, length, batch_size=1, element_bytes=2):
    given = {
        "n_layers": n_layers,
        "n_kv_heads": n_kv_heads,
        "d_head": d_head,
        "length": length,
        "batch_size": batch_size,
        "element_bytes": element_bytes,
    }
    for name, number in given.items():
        if number < 0:
            raise ValueError(f"{name} is {number}, and must not be negative")
    return 2 * n_layers * n_kv_heads * d_head * length * batch_size * element_bytes


cache_bytes.example("one layer, one head, ten tokens", call(1, 1, 4, 10))
cache_bytes.example("a whole number of bytes, of type int", call(1, 1, 4, 20), check_types=True)
cache_bytes.example("a model of 32 layers and 8 heads of 128", call(32, 8, 128, 4096))
cache_bytes.example("three sequences, in float32", call(2, 3, 5, 7, batch_size=3, element_bytes=4))
cache_bytes.example("a negative length", call(2, 3, 5, -1).raises("length"))


@cache_bytes.criterion("keys and values of every layer, head and token", points=0.5)
def _(draw):
    sizes = [draw.integer(2, 9) for _ in range(4)]
    yield call(*sizes)
    yield call(3, 1, 7, 5)
    yield call(n_layers=1, n_kv_heads=5, d_head=3, length=draw.integer(10, 99))
    yield call(80, 8, 128, 131072)
    yield call(61, 7, 127, 131071)  # odd factors: float32 cannot represent the product
    yield call(4, 3, 2, 0)


@cache_bytes.criterion("sequences, and bytes of an element", points=0.5)
def _(draw):
    yield call(4, 3, 5, 7, draw.integer(2, 9))
    yield call(3, 2, 4, draw.integer(2, 30), batch_size=5, element_bytes=4)
    yield call(4, 5, 3, 9, element_bytes=1)
    yield call(4, 5, 3, 9, 0)


@cache_bytes.criterion("ValueError where a number is below 0", points=0.5)
def _(draw):
    yield call(-1, 3, 5, 7).raises("n_layers")
    yield call(2, -draw.integer(1, 9), 5, 7).raises("n_kv_heads")
    yield call(2, 3, -5, 7).raises("d_head")
    yield call(2, 3, 5, -draw.integer(1, 99)).raises("length")
    yield call(2, 3, 5, 7, batch_size=-2).raises("batch_size")
    yield call(2, 3, 5, 7, element_bytes=-4).raises("element_bytes")
    yield call(-2, 3, 5, -7).raises("n_layers", "length")  # their product is positive
    yield call(2, 3, 5, 0, 0, 0).does_not_raise()


@cache_bytes.criterion("an int", points=0.5, check_types=True)
def _(draw):
    yield call(4, 3, 5, draw.integer(2, 30))
    yield call(4, 3, 5, 7, 2, 4)
