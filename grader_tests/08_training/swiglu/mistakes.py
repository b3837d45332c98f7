"""Known mistakes in `swiglu`."""

from .contract import swiglu

right = swiglu.alternative("by_matrices")

right.mistake("bends_the_other_one").patch("""
- gate = F.silu(x @ W_gate.T)  # (..., F)
- return (gate * (x @ W_up.T)) @ W_down.T
+ return ((x @ W_gate.T) * F.silu(x @ W_up.T)) @ W_down.T
""").feedback("You put the result of W_up through silu. The gate is the one that goes through it.")
right.mistake("bends_both", {"(x @ W_up.T)": "F.silu(x @ W_up.T)"}).feedback(
    "You put both results through silu. Only the gate goes through it."
)
right.mistake("bends_nothing", {"F.silu(x @ W_gate.T)": "x @ W_gate.T"}).feedback(
    "Nothing goes through silu. The gate does, before the product."
)
right.mistake("bends_the_product").patch("""
- gate = F.silu(x @ W_gate.T)  # (..., F)
- return (gate * (x @ W_up.T)) @ W_down.T
+ return F.silu((x @ W_gate.T) * (x @ W_up.T)) @ W_down.T
""").feedback("You put the product through silu. Only the gate goes through it, before the product.")
right.mistake("takes_the_sigmoid", {"F.silu(x @ W_gate.T)": "torch.sigmoid(x @ W_gate.T)"}).feedback(
    "Your gate is a sigmoid. silu(z) is z times the sigmoid of z."
)
right.mistake("bends_by_gelu", {"F.silu": "F.gelu"}).feedback("Your gate goes through GELU. It should be silu.")
right.mistake("bends_by_relu", {"F.silu": "F.relu"}).feedback("Your gate goes through ReLU. It should be silu.")
right.mistake("adds_the_gate", {"gate * (x": "gate + (x"}).feedback(
    "You add the gate. Multiply the two, entry by entry: a gate of 0 lets nothing through."
)
right.mistake("leaves_out_the_gate", {"(gate * (x @ W_up.T))": "F.silu(x @ W_up.T)"}).feedback(
    "You leave out W_gate: this is the plain mlp with silu. The gate multiplies what W_up makes."
)
right.mistake("leaves_out_the_other_one", {"(gate * (x @ W_up.T))": "gate"}).feedback(
    "You leave out W_up. The gate multiplies what W_up makes."
)
right.mistake("stays_wide", {"(gate * (x @ W_up.T)) @ W_down.T": "gate * (x @ W_up.T)"}).feedback(
    "You leave out W_down, so your result has F numbers per position. Lead it back to D."
)
right.mistake("does_not_transpose", {"W_gate.T": "W_gate", "W_up.T": "W_up", "W_down.T": "W_down"}).feedback(
    "Your matrices are the wrong way round. They are kept as (outputs, inputs), as in `nn.Linear`: transpose each."
)
right.mistake("adds_x", {"return (gate": "return x + (gate"}).feedback(
    "You add x to the result. The block adds it; return the result alone."
)
