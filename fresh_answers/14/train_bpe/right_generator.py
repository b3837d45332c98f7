# a generator yields merges without end, islice takes n_merges of them
import itertools


def train_bpe(text, n_merges):
    def learn(ids):
        for fresh in itertools.count(256):
            neighbours = sorted(zip(ids, ids[1:]))
            groups = [(-len(list(same)), pair) for pair, same in itertools.groupby(neighbours)]
            minus, pair = min(groups, default=(0, None))
            if minus > -2:
                return
            yield pair
            source, ids = iter(ids), []
            held = next(source, None)
            while held is not None:
                following = next(source, None)
                if (held, following) == pair:
                    ids.append(fresh)
                    held = next(source, None)
                else:
                    ids.append(held)
                    held = following

    if n_merges < 0:
        raise ValueError("n_merges = %d is negative" % n_merges)
    return list(itertools.islice(learn(list(text.encode())), n_merges))
