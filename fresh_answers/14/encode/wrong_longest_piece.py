# takes the longest piece that fits at each place, and does not join in the order of learning
def encode(text, merges):
    pieces = [bytes([i]) for i in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    number = {}
    for i, piece in enumerate(pieces):
        number.setdefault(piece, i)
    data, out, at = text.encode(), [], 0
    longest = max(map(len, pieces))
    while at < len(data):
        for size in range(min(longest, len(data) - at), 0, -1):
            if data[at:at + size] in number:
                out.append(number[data[at:at + size]])
                at += size
                break
    return out
