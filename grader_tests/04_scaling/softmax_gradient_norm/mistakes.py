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
""").feedback("You return the sum of the squares, without the square root.")
right.mistake("diagonal_only", loses=EVERYWHERE).patch("""
- return torch.linalg.norm(torch.diag(weights) - torch.outer(weights, weights))
+ return torch.linalg.norm(weights * (1 - weights))
""").feedback(
    "You count only the diagonal of the Jacobian. A score changes the *other* weights too: they lose what its own "
    "weight gains."
)
right.mistake(
    "products_only", {"diag(weights) - torch.outer": "outer"}, loses=("the norm", "its own", "a single")
).feedback(
    "The entries on the diagonal are wrong: there, the weight itself is missing from your formula. All other "
    "entries are right."
)
right.mistake("adds_the_products", {"(weights) -": "(weights) +"}, loses=("the norm", "its own", "a single")).feedback(
    "You add the products of weights instead of *subtracting* them. A higher score takes from the other weights, "
    "so the sign is negative."
)
softmax_gradient_norm.mistake("spectral_norm", loses=EVERYWHERE).full_code("""
def softmax_gradient_norm(scores):
    weights = torch.softmax(scores, dim=-1)
    jacobian = torch.diag(weights) - torch.outer(weights, weights)
    return torch.linalg.matrix_norm(jacobian, ord=2)
""").feedback(
    "You return the spectral norm, the largest factor by which J stretches a vector. That is what a *matrix* norm "
    "of order 2 means. The Frobenius norm is the length of all entries together."
)
right.mistake("sum_of_absolute_values", loses=EVERYWHERE).patch("""
- return torch.linalg.norm(torch.diag(weights) - torch.outer(weights, weights))
+ return (torch.diag(weights) - torch.outer(weights, weights)).abs().sum()
""").feedback(
    "You add the absolute values of the entries. The Frobenius norm squares the entries, adds the squares, and "
    "takes the square root."
)
right.mistake("mean_of_the_squares", loses=EVERYWHERE).patch("""
- return torch.linalg.norm(torch.diag(weights) - torch.outer(weights, weights))
+ return (torch.diag(weights) - torch.outer(weights, weights)).square().mean().sqrt()
""").feedback(
    "You take the mean of the squares instead of their sum. The length of a vector grows with the number of its "
    "entries."
)
softmax_gradient_norm.mistake("gradient_of_the_sum", loses=EVERYWHERE).full_code("""
def softmax_gradient_norm(scores):
    x = scores if scores.requires_grad else scores.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(torch.softmax(x, dim=-1).sum(), x, create_graph=True)
    return gradient.norm()
""").feedback(
    "You take the gradient of the *sum* of the weights, which is 0 for any scores. The weights always sum to 1. "
    "The Jacobian has one row per weight, so a backward pass through the sum cannot give it."
)
right.mistake(
    results.python_number, {"(weights, weights))": "(weights, weights)).item()"}, loses=("float64", "its own")
)
right.mistake("the_table_itself", loses=EVERYWHERE).patch("""
- return torch.linalg.norm(torch.diag(weights) - torch.outer(weights, weights))
+ return torch.diag(weights) - torch.outer(weights, weights)
""").feedback("You return the whole Jacobian. Return its norm, one number.")
softmax_gradient_norm.mistake(gradients.cut("table_without_a_graph"), loses="its own").full_code("""
def softmax_gradient_norm(scores):
    jacobian = torch.autograd.functional.jacobian(lambda x: torch.softmax(x, dim=-1), scores)
    return torch.linalg.norm(jacobian)
""").feedback(
    "The norm is right, but no gradient flows back from it to the scores. You compute the Jacobian from a detached "
    "copy of the scores, or without a computation graph. Autograd's Jacobian keeps none by default, but has an "
    "option for it."
)
right.mistake("of_log_softmax", loses=EVERYWHERE).patch("""
- return torch.linalg.norm(torch.diag(weights) - torch.outer(weights, weights))
+ return torch.linalg.norm(torch.eye(len(scores)).to(scores) - weights)
""").feedback("You use the Jacobian of log-softmax, whose rows lack the factor $a_i$.")
softmax_gradient_norm.mistake("length_of_the_weights", loses=("the norm", "its own", "a single")).full_code("""
def softmax_gradient_norm(scores):
    return torch.linalg.norm(torch.softmax(scores, dim=-1))
""").feedback(
    "You return the length of the vector of weights. The exercise asks how fast the weights change with the scores."
)
softmax_gradient_norm.mistake("by_nudging", loses=EVERYWHERE).full_code("""
def softmax_gradient_norm(scores, step=0.01):
    weights = torch.softmax(scores, dim=-1)
    moved = torch.softmax(scores + step * torch.eye(len(scores)).to(scores), dim=-1)
    return torch.linalg.norm((moved - weights) / step)
""").feedback(
    "You estimate the Jacobian with a small step in each score, which is not accurate enough. The step is too long "
    "for the formula to be exact, and too short for the rounding of float32."
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
    "You subtract sums of powers of the weights, which loses all digits if one weight is nearly 1. The formula is "
    "right on paper. But then all the sums are nearly 1, and rounding leaves nothing of their small difference. "
    "Compute the entries first, and square those."
)
right.mistake("root_of_each_row", loses="lopsided").patch("""
- return torch.linalg.norm(torch.diag(weights) - torch.outer(weights, weights))
+ jacobian = torch.diag(weights) - torch.outer(weights, weights)
+ return ROOTS.square().sum().sqrt()
""").for_each(ROOTS=("jacobian.square().sum(dim=-1).sqrt()", "jacobian.square().sqrt()")).feedback(
    "The gradient is NaN if a weight is rounded to 0. You take the square root of each row or entry, and the root "
    "has no slope at 0. Take a single root, of the sum of all squares."
)
right.mistake(
    arguments.argument_changed("leaves_a_gradient"),
    {"weights = torch": "scores.requires_grad_()\n    weights = torch"},
    loses="arguments",
).feedback(
    "After the call, the caller's scores require gradients: `requires_grad_` changes the tensor in place. Compute "
    "from the scores as they are, or from a copy."
)
