"""Right answers to `softmax_with_temperature` in other styles."""

import math

import torch
import torch.nn.functional as F


# %% with_the_inverse
def softmax_with_temperature(x, temperature, dim=-1):
    if temperature > 0:
        scores = x * (1.0 / temperature)
        powers = (scores - scores.amax(dim, keepdim=True)).exp()
        return powers / powers.sum(dim, keepdim=True)
    raise ValueError(f"`temperature` must be > 0, got {temperature!r}")


# %% by_shifting_first
def softmax_with_temperature(x, temperature, dim=-1):
    shifted = (x - x.max(dim, keepdim=True).values) / temperature
    return shifted.exp() / shifted.exp().sum(dim, keepdim=True)


# %% through_logarithms
def softmax_with_temperature(x, temperature, dim=-1):
    # Late, as in the lesson: the logarithms of the weights differ from the scores by one number
    if not temperature > 0:
        raise ValueError(f"temperature={temperature:g} is not positive")
    shifted = x - x.amax(dim, keepdim=True)
    logarithms = shifted - shifted.exp().sum(dim, keepdim=True).log()
    late = logarithms / temperature
    powers = torch.exp(late - late.amax(dim, keepdim=True))
    return powers / powers.sum(dim, keepdim=True)


# %% with_an_error_of_its_own
def softmax_with_temperature(x, temperature, dim=-1):
    class BadTemperature(ValueError):
        pass

    def weights(scores):
        powers = F.normalize((scores - scores.amax(-1, keepdim=True)).exp(), p=1, dim=-1)
        return powers

    match temperature:
        case t if t > 0:
            return weights(x.transpose(dim, -1).div(t)).transpose(dim, -1)
        case t:
            raise BadTemperature(f"The temperature ({t}) has to be above zero.")


# %% by_a_power_of_exponentials
def softmax_with_temperature(x, temperature, dim=-1):
    base = math.exp(1 / temperature) if temperature > 0.01 else None
    gaps = x - x.amax(dim=dim, keepdim=True)
    powers = torch.exp(gaps / temperature) if base is None else torch.pow(base, gaps)
    return powers / powers.sum(dim=dim, keepdim=True)


# %% beginning_a_sentence_with_the_name
def softmax_with_temperature(x, temperature, dim=-1):
    if math.isnan(temperature) or temperature <= 0:
        raise ValueError(f"Temperature must be positive, got {temperature}")
    powers = torch.exp2((x - x.amax(dim, keepdim=True)) / temperature * math.log2(math.e))
    return powers / powers.sum(dim, keepdim=True)


# %% without_a_check
def softmax_with_temperature(x, temperature, dim=-1):
    scores = torch.div(x, temperature)
    powers = torch.exp(scores - torch.max(scores, dim, keepdim=True).values)
    return powers / torch.sum(powers, dim, keepdim=True)
