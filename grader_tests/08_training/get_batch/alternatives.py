"""Right answers to `get_batch` in other styles."""

import torch


# %% batch_by_slices
def get_batch(data, block_size, batch_size, generator):
    if len(data) <= block_size:
        raise ValueError(f"data has {len(data)} tokens, too few for block_size={block_size}")
    ix = torch.randint(len(data) - block_size, (batch_size,), generator=generator)
    x = torch.stack([data[i : i + block_size] for i in ix])
    y = torch.stack([data[i + 1 : i + block_size + 1] for i in ix])
    return x, y


# %% batch_by_rand
def get_batch(data, block_size, batch_size, generator):
    fits = data.numel() - block_size
    if fits <= 0:
        raise ValueError("data too short: %d tokens, block_size %d" % (data.numel(), block_size))
    starts = (torch.rand(batch_size, 1, generator=generator, dtype=torch.float64) * fits).long()
    index = (starts + torch.arange(block_size + 1)).to(data.device)
    both = torch.take(data, index)
    return both[:, :block_size].contiguous(), both[:, -block_size:].contiguous()


# %% batch_by_multinomial
def get_batch(data, block_size, batch_size, generator):
    if data.size(0) < block_size + 1:
        raise ValueError(f"block_size {block_size} leaves no room for a target")
    chances = torch.ones(data.size(0) - block_size)
    starts = torch.multinomial(chances, batch_size, replacement=True, generator=generator)
    rows = [data.narrow(0, start, block_size + 1) for start in starts.tolist()]
    return torch.stack([r[:-1] for r in rows]), torch.stack([r[1:] for r in rows])


# %% batch_row_by_row
def get_batch(data, block_size, batch_size, generator):
    last = len(data) - block_size - 1
    if last < 0:
        raise ValueError(f"expected more than block_size = {block_size} tokens")
    inputs = torch.empty(batch_size, block_size, dtype=data.dtype, device=data.device)
    targets = torch.empty_like(inputs)
    for row in range(batch_size):
        start = torch.randint(0, last + 1, (), generator=generator).item()
        for t in range(block_size):
            inputs[row, t] = data[start + t]
            targets[row, t] = data[start + t + 1]
    return [inputs, targets]


# %% batch_by_shuffles
def get_batch(data, block_size, batch_size, generator):
    """The first entry of a fresh shuffle is a fair draw."""
    n = len(data) - block_size
    if n <= 0:
        raise ValueError(f"data: {list(data.shape)} is too short")
    starts = torch.stack([torch.randperm(n, generator=generator)[0] for _ in range(batch_size)]).to(data.device)
    return (data.unfold(0, block_size, 1)[starts], data[1:].unfold(0, block_size, 1)[starts])


# %% batch_by_strides
def get_batch(data, block_size, batch_size, generator):
    """A view of all windows at once, without a copy; a failed draw means a text too short."""
    n = data.shape[0] - block_size
    try:
        rows = torch.empty(batch_size, dtype=torch.int64).random_(0, n, generator=generator)
    except RuntimeError as error:
        raise ValueError(f"no window: data has shape {list(data.shape)}") from error
    both = data.contiguous().as_strided((n, block_size + 1), (1, 1)).index_select(0, rows.to(data.device))
    return both.narrow(1, 0, block_size), both.narrow(1, 1, block_size)


# %% batch_by_a_random_state
import random


def get_batch(data, block_size, batch_size, generator):
    """Python's own random numbers, seeded by the generator."""
    if not len(data) > block_size:
        raise ValueError(f"a block_size of {block_size} does not fit")
    dice = random.Random(torch.randint(2**62, (1,), generator=generator).item())
    starts = [dice.randrange(len(data) - block_size) for _ in range(batch_size)]
    place = torch.tensor(starts, device=data.device)[:, None] + torch.arange(block_size, device=data.device)
    return data[place], data[place + 1]
