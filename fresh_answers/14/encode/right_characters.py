# ids are characters of a str; str.replace joins
def encode(text, merges):
    s = text.encode("utf-8").decode("iso-8859-1")
    new = 256
    for left, right in merges:
        s = s.replace(chr(left) + chr(right), chr(new))
        new += 1
    return [ord(c) for c in s]
