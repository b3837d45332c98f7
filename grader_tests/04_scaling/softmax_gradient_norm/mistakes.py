"""Known mistakes in `softmax_gradient_norm`."""

from ...shared.families import arguments, gradients, numbers, results
from ...shared.repeating import keeps_its_last_result
from .contract import softmax_gradient_norm

EVERYWHERE = ("the norm", "its own")  # what an answer loses whose every result is wrong

right = softmax_gradient_norm.reference_answer("""
def softmax_gradient_norm(scores):
    weights = torch.softmax(scores, dim=-1)
    return torch.linalg.norm(torch.diag(weights) - torch.outer(weights, weights))
""")

right.mistake("without_the_root", loses=EVERYWHERE).patch("""
- return torch.linalg.norm(torch.diag(weights) - torch.outer(weights, weights))
+ return (torch.diag(weights) - torch.outer(weights, weights)).square().sum()
""").feedback("The root is missing: this is the sum of the squares.")
right.mistake("diagonal_only", loses=EVERYWHERE).patch("""
- return torch.linalg.norm(torch.diag(weights) - torch.outer(weights, weights))
+ return torch.linalg.norm(weights * (1 - weights))
""").feedback("Only the diagonal was counted. A score moves the *other* weights too: they give up what this one gains.")
right.mistake(
    "products_only", {"diag(weights) - torch.outer": "outer"}, loses=("the norm", "its own", "a single")
).feedback("Beside the diagonal the entries are right; on it the weight itself is missing from the formula.")
right.mistake("adds_the_products", {"(weights) -": "(weights) +"}, loses=("the norm", "its own", "a single")).feedback(
    "A sign: raising one score takes from the other weights, so the products are *subtracted*."
)
softmax_gradient_norm.mistake("spectral_norm", loses=EVERYWHERE).full_code("""
def softmax_gradient_norm(scores):
    weights = torch.softmax(scores, dim=-1)
    jacobian = torch.diag(weights) - torch.outer(weights, weights)
    return torch.linalg.matrix_norm(jacobian, ord=2)
""").feedback(
    "Another norm: this is the largest factor by which J stretches a vector, which is what a *matrix* norm of "
    "order 2 means. The Frobenius norm is the length of all its entries."
)
right.mistake("sum_of_absolute_values", loses=EVERYWHERE).patch("""
- return torch.linalg.norm(torch.diag(weights) - torch.outer(weights, weights))
+ return (torch.diag(weights) - torch.outer(weights, weights)).abs().sum()
""").feedback("The absolute values were added. The Frobenius norm squares, adds, and takes the root.")
right.mistake("mean_of_the_squares", loses=EVERYWHERE).patch("""
- return torch.linalg.norm(torch.diag(weights) - torch.outer(weights, weights))
+ return (torch.diag(weights) - torch.outer(weights, weights)).square().mean().sqrt()
""").feedback("A mean where a sum should be: the length of a vector grows with the number of its entries.")
softmax_gradient_norm.mistake("gradient_of_the_sum", loses=EVERYWHERE).full_code("""
def softmax_gradient_norm(scores):
    x = scores if scores.requires_grad else scores.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(torch.softmax(x, dim=-1).sum(), x, create_graph=True)
    return gradient.norm()
""").feedback(
    "The gradient of the *sum* of the weights is 0 for any scores, since they always sum to 1. The table has one "
    "row for each weight; it cannot be had from one backward pass through their sum."
)
right.mistake(
    results.python_number, {"(weights, weights))": "(weights, weights)).item()"}, loses=("float64", "its own")
)
right.mistake("the_table_itself", loses=EVERYWHERE).patch("""
- return torch.linalg.norm(torch.diag(weights) - torch.outer(weights, weights))
+ return torch.diag(weights) - torch.outer(weights, weights)
""").feedback("The whole table is returned. What is asked for is its norm, one number.")
softmax_gradient_norm.mistake(gradients.cut("table_without_a_graph"), loses="its own").full_code("""
def softmax_gradient_norm(scores):
    jacobian = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, dim=-1), scores)
    return torch.linalg.norm(jacobian)
""").feedback(
    "The norm is right, and no gradient comes back from it: the table hangs on a detached copy of the scores, or it is "
    "made of plain numbers, as autograd's Jacobian is by default; there it has an option to keep the graph."
)
right.mistake("of_log_softmax", loses=EVERYWHERE).patch("""
- return torch.linalg.norm(torch.diag(weights) - torch.outer(weights, weights))
+ return torch.linalg.norm(torch.eye(len(scores)).to(scores) - weights)
""").feedback("This is the table of log-softmax. Its rows lack the factor $w_i$.")
softmax_gradient_norm.mistake("length_of_the_weights", loses=("the norm", "its own", "a single")).full_code("""
def softmax_gradient_norm(scores):
    return torch.linalg.norm(torch.softmax(scores, dim=-1))
""").feedback("This is the length of the weights themselves. The question is how fast they move with the scores.")
softmax_gradient_norm.mistake("by_nudging", loses=EVERYWHERE).full_code("""
def softmax_gradient_norm(scores, step=0.01):
    weights = torch.softmax(scores, dim=-1)
    moved = torch.softmax(scores + step * torch.eye(len(scores)).to(scores), dim=-1)
    return torch.linalg.norm((moved - weights) / step)
""").feedback(
    "Nudging the scores by a small step is close, but not close enough: the step is too long for the formula and "
    "too short for the rounding of float32."
)
right.mistake(
    numbers.exponentials_overflow, {"torch.softmax(scores, dim=-1)": "scores.exp() / scores.exp().sum()"}, loses="large"
)
right.mistake(arguments.argument_changed(what="the scores"), loses=("its own", "arguments")).patch("""
- weights = torch.softmax(scores, dim=-1)
+ scores -= scores.max()
+ weights = scores.exp() / scores.exp().sum()
""")
keeps_its_last_result(right, loses="the norm")
softmax_gradient_norm.mistake("by_sums_of_powers", loses=("lopsided", "float64")).full_code("""
def softmax_gradient_norm(scores):
    weights = torch.softmax(scores, dim=0)
    squares = weights.pow(2).sum()
    return (squares - 2 * weights.pow(3).sum() + squares.pow(2)).clamp_min(0).sqrt()
""").feedback(
    "The difference of sums of powers is right on paper. Where one weight is nearly 1, all the sums are, and of the "
    "small number that is left between them rounding leaves nothing. Make the entries first, and square those."
)
right.mistake("root_of_each_row", loses="lopsided").patch("""
- return torch.linalg.norm(torch.diag(weights) - torch.outer(weights, weights))
+ jacobian = torch.diag(weights) - torch.outer(weights, weights)
+ return ROOTS.square().sum().sqrt()
""").for_each(ROOTS=("jacobian.square().sum(dim=-1).sqrt()", "jacobian.square().sqrt()")).feedback(
    "Where a weight is 0 to rounding, the gradient is NaN: a root is taken of each row or entry, and that of 0 has no "
    "slope. Take a single root, of the sum of all squares."
)
right.mistake(
    arguments.argument_changed("leaves_a_gradient"),
    {"weights = torch": "scores.requires_grad_()\n    weights = torch"},
    loses="arguments",
).feedback(
    "After the call the caller's scores ask for gradients: `requires_grad_` changes the tensor. Compute from them as "
    "they are, or from a copy."
)
