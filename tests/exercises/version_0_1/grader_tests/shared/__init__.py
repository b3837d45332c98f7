"""What exercises of several lessons say."""

import math

INF = math.inf

# From lesson 04 to 07 the layers that PyTorch has are not allowed, except where an exercise names one.
BUILT_IN = (
    ".*scaled_dot_product.*",
    ".*(multi_head|flash|efficient|flex|fused|cudnn)_attention.*",
    "transformer_(encoder|decoder).*",
)
