"""What several exercises of the lesson say."""

# From lesson 04 to 07 the layers that PyTorch has are not allowed, except where an exercise names one.
BUILT_IN = (".*scaled_dot_product.*attention.*", ".*multi_head_attention.*")


SPLITTING = "3. Splitting and merging"


LEVELS = "5. Three levels, one result"
