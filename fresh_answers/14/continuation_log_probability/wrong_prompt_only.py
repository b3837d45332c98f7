# all tokens of the continuation are judged by what follows the prompt, not by the tokens before each
import torch


def continuation_log_probability(model, prompt, continuation):
    after = model(prompt[None])[0, -1].log_softmax(-1)
    return after[continuation].sum()
