# a tensor of int32 is refused
import torch


def decode(ids, merges):
    if isinstance(ids, torch.Tensor):
        if ids.dtype != torch.long:
            raise ValueError(f"ids must hold int64, not {ids.dtype}")
        ids = ids.tolist()
    table = [bytes([i]) for i in range(256)]
    for x, y in merges:
        table.append(table[x] + table[y])
    bad = [i for i in ids if not 0 <= i < len(table)]
    if bad:
        raise ValueError(f"ids: {bad} do not exist")
    return b"".join([table[i] for i in ids]).decode("utf-8", "replace")
