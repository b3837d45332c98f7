"""Right answers to `bits_per_byte`."""

import math


# %% in_nats_first
def bits_per_byte(nats_per_token, n_tokens, n_bytes):
    return nats_per_token * n_tokens / (n_bytes * math.log(2))


# %% by_log2_of_e
def bits_per_byte(nats_per_token, n_tokens, n_bytes):
    bits_per_token = nats_per_token * math.log2(math.e)
    return bits_per_token / (n_bytes / n_tokens)
