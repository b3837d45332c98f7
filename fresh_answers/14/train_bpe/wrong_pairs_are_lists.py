# the pairs are lists of two ints and not tuples
def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges was {n_merges}")
    symbols = list(text.encode("utf-8"))
    table = []
    while len(table) < n_merges:
        freq = {}
        for i in range(1, len(symbols)):
            freq.setdefault((symbols[i - 1], symbols[i]), []).append(i)
        order = sorted((-len(v), k) for k, v in freq.items())
        if not order or order[0][0] == -1:
            return table
        left, right = order[0][1]
        i, fresh = 0, []
        while i < len(symbols):
            if symbols[i:i + 2] == [left, right]:
                fresh.append(256 + len(table))
                i += 1
            else:
                fresh.append(symbols[i])
            i += 1
        symbols = fresh
        table.append([left, right])
    return table
