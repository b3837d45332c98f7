# the last layer is taken to be normalised already, and left without the norm
import torch


def logit_lens(hidden, norm, unembedding):
    states = torch.cat([norm(hidden[:-1]), hidden[-1:]])
    return states @ unembedding.T
