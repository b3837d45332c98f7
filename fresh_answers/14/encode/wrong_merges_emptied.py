# the list of merges is emptied by the call
def encode(text, merges):
    s = text.encode().decode("latin1")
    new = 256
    while merges:
        a, b = merges.pop(0)
        s = s.replace(chr(a) + chr(b), chr(new))
        new += 1
    return list(map(ord, s))
