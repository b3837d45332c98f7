# an own walk over the modules
import math


def count_parameters(module):
    known = {}
    waiting = [module]
    while waiting:
        here = waiting.pop()
        for parameter in here._parameters.values():
            if parameter is not None and parameter.requires_grad:
                known[id(parameter)] = math.prod(parameter.shape)
        waiting += [part for part in here._modules.values() if part is not None]
    return sum(known.values())
