# the mean difference is compared, in which one wrong entry among many is lost
def is_order_blind(attention, x, permutation):
    difference = attention(x[permutation]) - attention(x)[permutation]
    return bool(difference.abs().mean() < 5e-3)
