# nothing switches gradients off, so the model makes a graph
import torch


def generate_with_cache(model, prompt, n_tokens):
    text = prompt.clone()
    if n_tokens > 0:
        length = prompt.shape[1] + n_tokens - 1
        cache = model.new_cache(prompt.shape[0], length)
        done = 0
        while text.shape[1] <= length:
            logits = model(text[:, done:], cache, done)
            done = text.shape[1]
            text = torch.cat((text, logits[:, -1:].argmax(-1)), dim=1)
    return text
