"""What several exercises of the lesson say."""

# From lesson 04 to 07 the layers that PyTorch has are not allowed.
BUILT_IN = (".*scaled_dot_product.*attention.*", ".*multi_head_attention.*")


TURNING = "2. Turn a vector by its position"


CLOCKS = "3. Many clocks"


LAYOUTS = "6. Two layouts in memory"


def turned(case, far):
    """Judged with room for angles in float32, for positions up to `far` (see the top of this file)."""
    return case.within(1e-4, max(1e-5, 1e-6 * far))
