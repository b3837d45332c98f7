# no table: each id is unfolded on a stack
def decode(ids, merges):
    stack = [int(i) for i in ids][::-1]
    if any(i < 0 or i >= 256 + len(merges) for i in stack):
        raise ValueError(f"unknown number in ids: {stack[::-1]}")
    data = bytearray()
    while stack:
        top = stack.pop()
        if top < 256:
            data.append(top)
        else:
            left, right = merges[top - 256]
            stack += [right, left]
    return str(data, "utf8", "replace")
