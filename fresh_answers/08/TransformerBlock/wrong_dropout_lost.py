# dropout is not handed to the attention
import torch.nn as nn


class TransformerBlock(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, n_heads, bias=False, batch_first=True)
        hidden = d_model * 4
        self.mlp = nn.Sequential(nn.Linear(d_model, hidden), nn.GELU(), nn.Linear(hidden, d_model))
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
        y = self.norm_1(x)
        x = x + self.attention(y, y, y, attn_mask=mask)[0]
        x = x + self.mlp(self.norm_2(x))
        return x
