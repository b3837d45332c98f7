# the model is called with int32 ids and not with int64
import torch


def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat([prompt, continuation]).to(torch.int32)
    all_rows = torch.log_softmax(model(ids.unsqueeze(0)[:, :-1])[0], dim=-1)
    mine = all_rows.narrow(0, len(prompt) - 1, len(continuation))
    return mine.gather(1, continuation.reshape(-1, 1)).sum()
