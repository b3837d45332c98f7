"""What the cases of `language_model_loss` are made of, and how some are judged."""

import torch


def zero(dtype=torch.float32):
    def judge(seen, exact):
        result = seen.values["result"]
        if not isinstance(result, torch.Tensor) or tuple(result.shape) != ():
            return "where all targets are ignored the result must be a tensor of shape ()"
        if result.dtype != dtype:
            return f"where all targets are ignored the result has the dtype {result.dtype}, the logits have {dtype}"
        if float(result) != 0.0:  # NaN too
            return "where all targets are ignored the loss must be 0"
        if seen.gradients is not None and seen.gradients["logits"] is None:
            return "where all targets are ignored `backward()` fails: the 0 does not come from the logits"
        if any(g is not None and not bool((g == 0).all()) for g in (seen.gradients or {}).values()):
            return "where all targets are ignored every gradient must be 0"
        return None

    return judge


def near(seen, exact):
    """The contract's own bound for logits as large as 1e4: right to 1e-2."""
    found, wanted = seen.values["result"], exact.values["result"]
    if not isinstance(found, torch.Tensor) or found.shape != wanted.shape:
        return "the result must be a tensor of shape ()"
    if not bool(found.isfinite()):
        return "the loss is NaN or infinite"
    if not abs(float(found) - float(wanted)) <= 1e-2:
        return "the loss is off by more than 0.01"
    bad = [g for g in (seen.gradients or {}).values() if g is not None and not bool(g.isfinite().all())]
    return "the gradient is NaN or infinite" if bad else None
