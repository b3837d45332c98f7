# the text is put together from its lines with "\n", so \r\n and a last line end are lost
def encode(text, merges):
    s = "\n".join(text.splitlines()).encode().decode("latin1")
    for m, pair in enumerate(merges):
        s = s.replace("".join(chr(i) for i in pair), chr(256 + m))
    return [ord(c) for c in s]
