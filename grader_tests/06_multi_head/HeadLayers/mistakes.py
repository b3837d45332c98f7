"""Known mistakes in `HeadLayers`."""

from ...shared.families import arguments, modules
from .contract import HeadLayers

REFUSALS = ("ValueError", "refuses 0")  # what an answer loses that refuses nothing
LAYERS, PARAMETERS, RATE, FORM = "four layers", "its parameters", "dropout", "float64"
NOT_LOADED = (LAYERS, PARAMETERS, FORM)  # what an answer loses whose parameters are others

right = HeadLayers.reference_answer("""
class HeadLayers(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads}, which does not divide d_model, {d_model}")
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)
""")

ALL = """
- self.W_q = nn.Linear(d_model, d_model, bias=False)
- self.W_k = nn.Linear(d_model, d_model, bias=False)
- self.W_v = nn.Linear(d_model, d_model, bias=False)
- self.W_o = nn.Linear(d_model, d_model, bias=False)
"""
THREE = """
- self.W_q = nn.Linear(d_model, d_model, bias=False)
- self.W_k = nn.Linear(d_model, d_model, bias=False)
- self.W_v = nn.Linear(d_model, d_model, bias=False)
"""

right.mistake(modules.super_init_forgotten, loses=(*NOT_LOADED, RATE)).patch("""
- super().__init__()
""")

# The layers
right.mistake("HasBiases", loses=PARAMETERS, clause="parameters").patch(
    ALL
    + """\
+ self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model) for _ in range(4))
"""
).feedback("Your layers have biases. `nn.Linear` makes one unless you pass `bias=False`.")
right.mistake("HasABiasAtTheEnd", loses=PARAMETERS, clause="parameters").patch("""
- self.W_o = nn.Linear(d_model, d_model, bias=False)
+ self.W_o = nn.Linear(d_model, d_model)
""").feedback("Your last layer, W_o, has a bias. Make it with `bias=False`, like the others.")
right.mistake("HasNoW_o", loses=NOT_LOADED).patch("""
- self.W_o = nn.Linear(d_model, d_model, bias=False)
""").feedback(
    "You make no `W_o`. It is the layer that mixes the outputs of the heads, and has the same size as the others."
)
right.mistake("MakesLayersOfOneHead", loses=NOT_LOADED).patch(
    THREE
    + """\
+ size = d_model // n_heads
+ self.W_q, self.W_k, self.W_v = (nn.Linear(d_model, size, bias=False) for _ in range(3))
"""
).feedback(
    "Your layers for queries, keys and values lead to the width of one head. They make those of all heads at once, so "
    "they lead to `d_model`.",
    see="One matrix for all heads",
)
right.mistake("SharesOneNarrowProjection", loses=NOT_LOADED).patch(
    THREE
    + """\
+ size = d_model // n_heads
+ self.W_q, self.W_k, self.W_v = (nn.Linear(size, size, bias=False) for _ in range(3))
"""
).feedback(
    "Your projections for queries, keys and values are only as wide as one head and shared by all heads. Each must "
    "be (D, D), so that every head has its own band.",
    see="One matrix for all heads",
)
right.mistake("MakesOneLayerFourTimes", loses=(LAYERS, FORM)).patch(
    ALL
    + """\
+ self.W_q = self.W_k = self.W_v = self.W_o = nn.Linear(d_model, d_model, bias=False)
"""
).feedback(
    "All four names stand for one layer, so queries, keys and values would be the same. Make a layer for each name."
)
right.mistake("PacksThree", loses=NOT_LOADED).patch(
    THREE
    + """\
+ self.W_qkv = nn.Linear(d_model, 3 * d_model, bias=False)
"""
).feedback(
    "You pack queries, keys and values into one layer. That works, and many libraries do it, but here each has a layer "
    "of its own: `W_q`, `W_k` and `W_v`."
)
right.mistake("GivesOtherNames", loses=NOT_LOADED).patch(
    ALL
    + """\
+ self.query, self.key, self.value, self.out = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
"""
).feedback("Your layers have other names. They are called `W_q`, `W_k`, `W_v` and `W_o`, as attributes of the module.")
right.mistake("MakesParametersWithoutLayers", loses=NOT_LOADED).patch(
    ALL
    + """\
+ self.W_q, self.W_k, self.W_v, self.W_o = (nn.Parameter(torch.randn(d_model, d_model)) for _ in range(4))
"""
).feedback(
    "Your matrices are parameters, but not layers. Make four `nn.Linear`, whose weights are then called `W_q.weight` "
    "and so on."
)
right.mistake("KeepsTheLayersInAList", loses=NOT_LOADED).patch(
    ALL
    + """\
+ self.layers = [nn.Linear(d_model, d_model, bias=False) for _ in range(4)]
"""
).feedback(
    "Your layers are in a plain list, so the module has no parameters: nothing trains them. Store each as an "
    "attribute of its own name."
)

# Dropout
right.mistake("KeepsTheNumber", {"nn.Dropout(dropout)": "dropout"}, loses=RATE, clause="rate").feedback(
    "Your `dropout` is the number, not a layer. Make it an `nn.Dropout`, which knows the mode of the module by itself."
)
right.mistake(modules.dropped_always, {"nn.Dropout(dropout)": "nn.Dropout(P)"}, loses=RATE, clause="rate").for_each(
    P=(0.5, 0.1, 0.2)
)
right.mistake("TakesDropoutForTheShareKept", {"nn.Dropout(dropout)": "nn.Dropout(1 - dropout)"}, loses=RATE).feedback(
    "You *keep* each weight with probability `dropout`. `dropout` is the probability that a weight is dropped."
)
right.mistake("HasNoDropout", loses=RATE, clause="rate").patch("""
- self.dropout = nn.Dropout(dropout)
""").feedback("Your module has no `dropout`. Store an `nn.Dropout` with the given probability under this name.")
right.mistake(modules.dropped_by_default, {"dropout=0.0": "dropout=P"}, loses=RATE, clause="rate").for_each(
    P=(0.1, 0.2)
)

# What is refused
right.mistake(
    arguments.not_refused(
        "You do not refuse an n_heads that does not divide d_model. Raise a ValueError that names one of the two."
    ),
    loses=REFUSALS,
)
right.mistake(arguments.error_without_name(), loses=REFUSALS, clause="errors")
right.mistake(arguments.asserts(), loses=REFUSALS)
right.mistake(arguments.zero_divides, {"n_heads < 1 or ": ""}, loses="refuses 0", clause="least")
right.mistake(
    arguments.unchecked("lets_negative_numbers_pass"),
    {"n_heads < 1": "n_heads == 0"},
    loses="refuses 0",
    clause="least",
).feedback(
    "You refuse 0 heads, but not a negative number such as -3. `12 % -3` is 0, so a negative number seems to "
    "divide 12. Require at least 1."
)
right.mistake(
    arguments.unchecked("refuses_no_number_above_0"), {" or d_model % n_heads": ""}, loses=REFUSALS, clause="divides"
).feedback(
    "You refuse numbers below 1, but none that leaves a remainder. Raise a ValueError unless n_heads divides d_model."
)
right.mistake(
    "DividesTheWrongWayRound", {"d_model % n_heads": "n_heads % d_model"}, loses=(LAYERS, PARAMETERS, "ValueError")
).feedback(
    "Your check is the wrong way round. d_model must be a multiple of n_heads, not n_heads a multiple of d_model."
)
