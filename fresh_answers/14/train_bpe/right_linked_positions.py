# a linked list and, for each pair, the set of places where it stands, kept up to date
class _Chain:
    def __init__(self, data):
        self.value = list(data)
        self.after = list(range(1, len(data))) + [None] if data else []
        self.before = [None] + list(range(len(data) - 1)) if data else []
        self.where = {}
        for place in range(len(data) - 1):
            self.note(place)

    def pair(self, place):
        if place is None or self.after[place] is None:
            return None
        return self.value[place], self.value[self.after[place]]

    def note(self, place):
        pair = self.pair(place)
        if pair is not None:
            self.where.setdefault(pair, set()).add(place)

    def forget(self, place):
        pair = self.pair(place)
        if pair is not None:
            self.where[pair].discard(place)
            if not self.where[pair]:
                del self.where[pair]

    def join(self, pair, new):
        for place in sorted(self.where[pair]):
            if self.value[place] is None or self.pair(place) != pair:
                continue
            gone, previous = self.after[place], self.before[place]
            for p in (previous, place, gone):
                self.forget(p) if p is not None else None
            self.value[place], self.value[gone] = new, None
            self.after[place] = self.after[gone]
            if self.after[gone] is not None:
                self.before[self.after[gone]] = place
            for p in (previous, place):
                self.note(p) if p is not None else None


def train_bpe(text, n_merges):
    if not n_merges >= 0:
        raise ValueError("the argument n_merges must be 0 or more, not " + repr(n_merges))
    chain, out = _Chain(text.encode("utf-8")), []
    for step in range(n_merges):
        best = max((len(places) for places in chain.where.values()), default=0)
        if best < 2:
            return out
        pair = min(p for p, places in chain.where.items() if len(places) == best)
        chain.join(pair, 256 + step)
        out.append(pair)
    return out
