"""Definitions that exercises of several lessons share."""

import math

INF = math.inf

# Lessons 04 to 07 do not allow PyTorch's own layers, except where an exercise names one.
BUILT_IN = (
    ".*scaled_dot_product.*",
    ".*(multi_head|flash|efficient|flex|fused|cudnn)_attention.*",
    "transformer_(encoder|decoder).*",
)
