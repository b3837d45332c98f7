"""Constants and helpers that several exercises of the lesson share."""

import torch

from grading.exercises.exercise import sample_model


def window_state(draw, N=6, D=8, T=5, sharpness=1.0):
    """Weights for sample_models.Windowed; the gradient exceeds 1 if sharpness is 6, not 0.3."""
    return {
        "tokens.weight": draw.normal(N, D),
        "places.weight": draw.normal(T, D),
        "out.weight": draw.normal(N, D, scale=sharpness * D**-0.5),
    }


def windowed(state, **options):
    N, D = state["tokens.weight"].shape
    return sample_model("Windowed", state, n_tokens=N, width=D, block_size=len(state["places.weight"]), **options)


def gentle():
    """A two-token model for visible examples; its gradient's norm is 0.4, or 4 if times 10."""
    return {
        "tokens.weight": torch.tensor([[1.0, 0.0], [0.0, 1.0]]),
        "places.weight": torch.tensor([[1.0, 2.0], [1.0, 1.0]]),
        "out.weight": torch.tensor([[0.5, 0.0], [0.0, -0.5]]),
    }
