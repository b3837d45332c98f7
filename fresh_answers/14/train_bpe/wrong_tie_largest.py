# in a tie the largest pair is taken
from collections import Counter


def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges={n_merges} < 0")
    tokens, result = list(text.encode()), []
    while len(result) < n_merges:
        counted = [(n, pair) for pair, n in Counter(zip(tokens, tokens[1:])).items() if n > 1]
        if not counted:
            break
        _, (a, b) = max(counted)
        merged = []
        for token in tokens:
            if merged and merged[-1] == a and token == b:
                merged[-1] = 256 + len(result)
            else:
                merged.append(token)
        tokens = merged
        result.append((a, b))
    return result
