"""Right answers to `AttentionLayer`."""

from torch import nn


# %% with_a_flag
class AttentionLayer(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.attention = attention

    def forward(self, x, mask=None, return_attention=False):
        output, weights = self.attention(x, mask=mask)
        if return_attention:
            return output, weights
        return output


# %% in_one_expression
class AttentionLayer(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.inner = attention

    def forward(self, x, mask=None, return_attention=False):
        both = self.inner(x, None, mask)
        return tuple(both) if return_attention else both[0]
