# the mean is taken as a constant, so that it gets no gradient
import torch


def ablate(head_outputs, heads, mean=None):
    H = head_outputs.shape[1]
    gone = torch.zeros(H, dtype=torch.bool, device=head_outputs.device)
    gone[heads] = True
    if mean is None:
        replacement = torch.zeros_like(head_outputs)
    else:
        replacement = mean.detach()[None, :, None, :].expand_as(head_outputs)
    return torch.where(gone[None, :, None, None], replacement, head_outputs)
