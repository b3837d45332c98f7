# view works on what split_heads returned, and refuses a contiguous input of several heads
def merge_heads(x):
    B, H, T, K = x.shape
    return x.transpose(1, 2).view(B, T, H * K)
