# one head after another
import torch


def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S = latent.shape[1]
    shut = None if mask is None else torch.broadcast_to(mask, (B, H, T, S))
    outputs, tables = [], []
    for h, (key_rows, value_rows) in enumerate(zip(W_k.split(K), W_v.split(K))):
        read = (query[:, h] / K**0.5) @ key_rows
        scores = read @ latent.transpose(1, 2)
        if shut is not None:
            scores = scores.masked_fill(shut[:, h], torch.finfo(scores.dtype).min)
        table = scores.softmax(dim=-1)
        if shut is not None:
            table = table.masked_fill(shut[:, h], 0.0)
        tables.append(table)
        outputs.append((table @ latent) @ value_rows.T)
    return torch.stack(outputs, dim=1), torch.stack(tables, dim=1)
