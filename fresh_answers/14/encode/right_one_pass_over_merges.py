# goes once through the merges in their order, with a stack
def encode(text, merges):
    ids = list(text.encode())
    for m, (a, b) in enumerate(merges):
        stack = []
        for x in ids:
            if stack and stack[-1] == a and x == b:
                stack[-1] = 256 + m
            else:
                stack.append(x)
        ids = stack
    return ids
