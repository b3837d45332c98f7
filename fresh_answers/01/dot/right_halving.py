# recursion on halves
def dot(a, b):
    if a.dim() != 1:
        raise ValueError(f"a has shape {tuple(a.shape)}, expected a vector")
    if a.shape != b.shape:
        raise ValueError(f"b has shape {tuple(b.shape)}, a has {tuple(a.shape)}")

    def total(products):
        if (n := products.numel()) == 1:
            return products[0]
        return total(products[: n // 2]) + total(products[n // 2 :])

    return total(a * b)
