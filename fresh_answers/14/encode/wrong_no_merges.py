# an empty list of merges raises an error
def encode(text, merges):
    firsts, seconds = zip(*merges)
    ids = list(text.encode())
    for m in range(len(firsts)):
        stack = []
        for x in ids:
            if stack and stack[-1] == firsts[m] and x == seconds[m]:
                stack[-1] = 256 + m
            else:
                stack.append(x)
        ids = stack
    return ids
