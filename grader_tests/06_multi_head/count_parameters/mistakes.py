"""Known mistakes in `count_parameters`."""

from ...shared.families import calls
from .contract import count

right = count.reference_answer("""
def count_parameters(module):
    return sum(p.numel() for p in module.parameters() if p.requires_grad)
""")

right.mistake("counts_frozen_ones", {"() if p.requires_grad": "()"}, loses="frozen").feedback(
    "You count frozen parameters too. Parameters with `requires_grad=False` are not trained."
)
right.mistake(
    "counts_only_frozen_ones", {"p.requires_grad": "not p.requires_grad"}, loses=("every", "frozen")
).feedback("You count only frozen parameters: your test is the wrong way round.")
right.mistake("counts_every_name", loses="a parameter").patch("""
- return sum(p.numel() for p in module.parameters() if p.requires_grad)
+ return sum(p.numel() for _, p in module.named_parameters(remove_duplicate=False) if p.requires_grad)
""").feedback("You count a parameter once for each of its names. It exists only once.")
right.mistake("counts_part_by_part", loses="a parameter").patch("""
- return sum(p.numel() for p in module.parameters() if p.requires_grad)
+ return sum(p.numel() for m in module.modules() for p in m.parameters(recurse=False) if p.requires_grad)
""").feedback("You count each part's own parameters, so a parameter that belongs to two parts is counted twice.")
right.mistake(
    "counts_in_training_mode_only", {"p.requires_grad": "p.requires_grad and module.training"}, loses="every"
).feedback(
    "You count parameters only if their module is in training mode. Whether a parameter is trainable does not "
    "depend on the mode."
)
count.mistake("adds_up_the_values", loses="every").full_code("""
def count_parameters(module):
    return int(sum(parameter.sum() for parameter in module.parameters() if parameter.requires_grad))
""").feedback(
    "You add up the values of the parameters instead of counting them. `numel()` gives their number, whatever the "
    "values are."
)
count.mistake("counts_tensors", loses=("every", "a parameter")).full_code("""
def count_parameters(module):
    return len([p for p in module.parameters() if p.requires_grad])
""").feedback("You count the parameters (tensors) instead of the numbers that they hold.")
right.mistake("counts_rows", {"p.numel()": "p.shape[0] if p.ndim else 1"}, loses="every").feedback(
    "You count only the first dimension of each parameter. `numel()` counts all its entries."
)
right.mistake("counts_the_outermost_only", {"() if": "(recurse=False) if"}, loses=("every", "a parameter")).feedback(
    "You count only the outermost module's own parameters, and leave out its parts."
)
count.mistake("counts_two_levels", loses="every").full_code("""
def count_parameters(module):
    parts = [module, *module.children()]
    found = {id(p): p for part in parts for p in part.parameters(recurse=False)}
    return sum(p.numel() for p in found.values() if p.requires_grad)
""").feedback("You count the outermost module and its parts, but not the parts of its parts.")
right.mistake(
    "counts_again_on_each_level",
    {"p in module": "m in module.modules() for p in m"},
    loses=("every", "frozen", "a parameter"),
).feedback(
    "You count parameters again for each module that contains them. `parameters()` already includes those of all parts."
)
count.mistake("counts_the_state", loses=("every", "frozen")).full_code("""
def count_parameters(module):
    return sum(t.numel() for t in module.state_dict().values())
""").feedback(
    "You count the entries of the state dict. It also holds buffers, which nothing trains, and does not show which "
    "parameters are frozen."
)
right.mistake("counts_weights_only", loses="every").patch("""
- return sum(p.numel() for p in module.parameters() if p.requires_grad)
+ return sum(p.numel() for n, p in module.named_parameters() if p.requires_grad and n.endswith("weight"))
""").feedback("You leave out every parameter that is not called a weight. Biases and bare parameters are trained too.")
count.mistake("counts_every_shape_once", loses="every").full_code("""
def count_parameters(module):
    return sum(math.prod(shape) for shape in {p.shape for p in module.parameters() if p.requires_grad})
""").feedback("You count parameters with the same shape as if they were one.")
count.mistake("counts_equal_ones_once", loses="every").full_code("""
def count_parameters(module):
    found = []
    for p in module.parameters():
        if p.requires_grad and not any(torch.equal(p, other) for other in found):
            found.append(p)
    return sum(p.numel() for p in found)
""").feedback(
    "You count parameters with equal values as if they were one. Two layers may start out equal, but they are "
    "trained separately. Check whether it is the same object."
)
count.mistake("looks_for_tensors_in_a_list", loses=("every", "frozen", "a parameter", "a Python")).full_code("""
def count_parameters(module):
    found = []
    for p in module.parameters():
        if p.requires_grad and p not in found:
            found.append(p)
    return sum(p.numel() for p in found)
""").feedback(
    "You search a list of tensors with `in`, which compares their *entries* one by one. That does not give a "
    "single True or False. Check whether it is the same object."
)
right.mistake(
    "counts_what_has_a_gradient", {"requires_grad": "grad is not None"}, loses=("every", "a parameter")
).feedback(
    "You count the parameters that have a gradient at this moment. Before the first `backward()` none has one. "
    "`requires_grad` shows whether a parameter is trained."
)
right.mistake(
    "counts_the_parts_only", {"p in module": "part in module.children() for p in part"}, loses=("every", "a parameter")
).feedback(
    "You add up the parameters of each part of the module. That leaves out the module's own parameters, and counts "
    "twice those that two parts share."
)
count.mistake("counts_every_last_name_once", loses="every").full_code("""
def count_parameters(module):
    return sum({n.split(".")[-1]: p.numel() for n, p in module.named_parameters() if p.requires_grad}.values())
""").feedback("You count parameters whose names have the same last part as if they were one.")
count.mistake("returns_a_tensor", loses="a Python").full_code("""
def count_parameters(module):
    return torch.tensor(sum(p.numel() for p in module.parameters() if p.requires_grad))
""").feedback("You return a tensor. Return a Python int: `numel()` gives one.")
count.mistake("returns_a_float", loses="a Python").full_code("""
def count_parameters(module):
    return sum((p.numel() for p in module.parameters() if p.requires_grad), start=0.0)
""").feedback("You return a float. Return a Python int, such as `numel()` gives.")
right.mistake("counts_bytes", {"for": "* p.element_size() for"}, loses=("every", "a parameter")).feedback(
    "You count bytes instead of numbers. In float32 each number takes four bytes."
)
count.mistake("skips_parts_with_frozen_ones", loses="frozen").full_code("""
def count_parameters(module):
    found = {}
    for m in module.modules():
        own = list(m.parameters(recurse=False))
        if all(p.requires_grad for p in own):
            found |= {id(p): p.numel() for p in own}
    return sum(found.values())
""").feedback("You skip a whole part if one of its parameters is frozen. The other parameters in it are still trained.")
count.mistake("thaws_the_module", loses="a Python").full_code("""
def count_parameters(module):
    found = sum(p.numel() for p in module.parameters() if p.requires_grad)
    module.requires_grad_(True)
    return found
""").feedback("Your function unfreezes the module: all its parameters can be trained afterwards.")
count.mistake("returns_numpys_number", loses="a Python").full_code("""
import numpy as np


def count_parameters(module):
    return sum(np.prod(p.shape) for p in module.parameters() if p.requires_grad)
""").feedback("You return a NumPy number, such as `np.prod` gives. Return a Python int: use `numel()`, or `int(...)`.")
count.mistake("counts_the_buffers_too", loses="every").full_code("""
def count_parameters(module):
    buffers = sum(buffer.numel() for buffer in module.buffers())
    return buffers + sum(p.numel() for p in module.parameters() if p.requires_grad)
""").feedback("You count buffers as well. They belong to the state of a module, but nothing trains them.")
count.mistake(calls.result_remembered("remembers_the_number"), loses="frozen").full_code("""
from functools import lru_cache


@lru_cache
def count_parameters(module):
    return sum(p.numel() for p in module.parameters() if p.requires_grad)
""").feedback(
    "You return the number of the first call again for the same module. Parameters may be frozen or added later, "
    "so count again in each call."
)
count.mistake("counts_linear_layers_only", loses="every").full_code("""
def count_parameters(module):
    layers = {id(m.weight): m.weight for m in module.modules() if isinstance(m, nn.Linear)}
    return sum(weight.numel() for weight in layers.values() if weight.requires_grad)
""").feedback("You count only the matrices of linear layers. Every parameter counts, whatever layer it belongs to.")
right.mistake("adds_up_the_sizes", {"p.numel()": "sum(p.shape)"}, loses="every").feedback(
    "You add the sizes of each parameter's dimensions instead of multiplying them. A matrix of 3 rows and 4 "
    "columns has 3 · 4 entries: `numel()`."
)
