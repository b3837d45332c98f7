# queries are not divided by their lengths; ties are settled by looking for the first equal key
import torch


def most_similar(queries, keys):
    length = torch.linalg.vector_norm(keys, dim=-1, keepdim=True)
    directions = torch.where(length > 0, keys / length, torch.zeros_like(keys))
    best = torch.matmul(queries, directions.transpose(-1, -2)).max(dim=-1).indices
    same = (keys.unsqueeze(-2) == keys.unsqueeze(-3)).all(-1)
    first = same.to(torch.uint8).argmax(-1)
    return torch.gather(first, -1, best)
