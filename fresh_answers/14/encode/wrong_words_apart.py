# words are encoded one by one, so a pair that holds a space inside is never joined
import re


def encode(text, merges):
    out = []
    for word in re.findall(r" ?[^\s]+|\s", text):
        ids = list(word.encode())
        for m, (a, b) in enumerate(merges):
            i = 0
            while i + 1 < len(ids):
                if ids[i] == a and ids[i + 1] == b:
                    ids[i:i + 2] = [256 + m]
                i += 1
        out.extend(ids)
    return out
