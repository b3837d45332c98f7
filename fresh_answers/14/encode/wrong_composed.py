# accents are composed (NFC) first, so that decoding does not give the text back
import unicodedata


def encode(text, merges):
    s = unicodedata.normalize("NFC", text).encode().decode("latin1")
    for new, (p, q) in enumerate(merges, 256):
        s = s.replace(chr(p) + chr(q), chr(new))
    return [ord(ch) for ch in s]
