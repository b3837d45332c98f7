"""Constants and helpers that several exercises of the lesson share."""

FUSED = "2. Three matrices in one"
LOADING = "3. Every number in its place"
LENS = "4. What would each layer predict?"
INDUCTION = "5. A head found by its score"
ABLATION = "6. Remove a head"
CLAIMS = "8. A claim that can fail"
CIRCUITS = "9. What a head asks for, and what it passes on"

NO_GRADIENT = (
    "The numbers are right, but no gradient can pass: the result was detached (`.detach()`, `.data`, numpy, no_grad)."
)
ALWAYS_FLOAT32 = "Your result is always float32. It must have the dtype of the input."
ASSERTS = (
    "You use assert. It raises an AssertionError, and is skipped altogether under `python -O`; raise a ValueError."
)
UNNAMED = "Your ValueError does not say which argument was wrong. Name it, as in the signature, with its value."
