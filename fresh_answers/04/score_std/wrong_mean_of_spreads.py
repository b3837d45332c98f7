# the standard deviation is taken for each leading index, and then averaged
def score_std(query, key):
    scores = query @ key.transpose(-1, -2)
    each = scores.flatten(-2).std(dim=-1, correction=0)
    return each.mean()
