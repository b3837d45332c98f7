"""Fresh student answers, written from the public contracts alone."""

ANSWERS = [
    {
        'lesson': '02_softmax',
        'exercise': 'softmax',
        'kind': 'wrong',
        'note': 'subtracts the maximum of the whole tensor: rows far below it become 0 / 0',
        'code': r'''def softmax(x, dim=-1):
    powers = torch.exp(x - x.max())
    return powers / powers.sum(dim=dim, keepdim=True)
''',
    },
    {
        'lesson': '02_softmax',
        'exercise': 'softmax',
        'kind': 'wrong',
        'note': 'subtracts the maximum in place, so x is changed',
        'code': r'''def softmax(x, dim=-1):
    with torch.no_grad():
        x -= x.amax(dim=dim, keepdim=True)
    powers = x.exp()
    return powers / powers.sum(dim=dim, keepdim=True)
''',
    },
    {
        'lesson': '02_softmax',
        'exercise': 'log_softmax',
        'kind': 'wrong',
        'note': 'logarithm of the weights, bounded from below by 1e-12',
        'code': r'''def log_softmax(x, dim=-1):
    powers = (x - x.amax(dim, keepdim=True)).exp()
    weights = powers / powers.sum(dim, keepdim=True)
    return weights.clamp(min=1e-12).log()
''',
    },
    {
        'lesson': '02_softmax',
        'exercise': 'softmax_with_temperature',
        'kind': 'wrong',
        'note': 'NaN as a temperature is not noticed, since NaN <= 0 is false',
        'code': r'''def softmax_with_temperature(x, temperature, dim=-1):
    if temperature <= 0:
        raise ValueError(f"temperature is {temperature}, but must be greater than 0")
    scaled = x / temperature
    powers = torch.exp(scaled - scaled.max(dim=dim, keepdim=True).values)
    return powers / powers.sum(dim=dim, keepdim=True)
''',
    },
    {
        'lesson': '02_softmax',
        'exercise': 'softmax_with_temperature',
        'kind': 'wrong',
        'note': 'a temperature below 1e-6 is replaced by 1e-6',
        'code': r'''def softmax_with_temperature(x, temperature, dim=-1):
    if not temperature > 0:
        raise ValueError(f"temperature must be above 0, not {temperature}")
    z = x / max(temperature, 1e-6)
    z = z - z.amax(dim=dim, keepdim=True)
    return z.exp() / z.exp().sum(dim=dim, keepdim=True)
''',
    },
    {
        'lesson': '02_softmax',
        'exercise': 'entropy',
        'kind': 'wrong',
        'note': 'torch.where around p * log p: right values, NaN in the gradient at a weight of 0',
        'code': r'''def entropy(p, dim=-1):
    terms = torch.where(p > 0, p * torch.log(p), torch.zeros_like(p))
    return -terms.sum(dim=dim)
''',
    },
    {
        'lesson': '02_softmax',
        'exercise': 'entropy',
        'kind': 'wrong',
        'note': 'keeps the reduced dimension with size 1',
        'code': r'''def entropy(p, dim=-1):
    safe = torch.where(p > 0, p, torch.ones_like(p))
    return -(p * safe.log()).sum(dim=dim, keepdim=True)
''',
    },
    {
        'lesson': '02_softmax',
        'exercise': 'entropy',
        'kind': 'right',
        'note': 'unbinds the slices and adds them one after the other',
        'code': r'''def entropy(p, dim=-1):
    total = None
    for part in p.unbind(dim):
        log = part.masked_fill(part == 0, 1.0).log()
        total = -part * log if total is None else total - part * log
    return total
''',
    },
    {
        'lesson': '02_softmax',
        'exercise': 'log_softmax',
        'kind': 'right',
        'note': 'a maximum without gradient, exp2 and log2 for the sum',
        'code': r'''def log_softmax(x, dim=-1):
    highest = x.detach().amax(dim=dim, keepdim=True)
    shifted = x - highest
    total = torch.exp2(shifted / math.log(2)).sum(dim=dim, keepdim=True)
    return shifted - torch.log2(total) * math.log(2)
''',
    },
    {
        'lesson': '03_queries_keys_values',
        'exercise': 'embed',
        'kind': 'wrong',
        'note': 'a one-hot product in float32: float64 tables fail',
        'code': r'''def embed(token_ids, table):
    one_hot = F.one_hot(token_ids, table.shape[0]).float()
    return one_hot @ table.float()
''',
    },
    {
        'lesson': '03_queries_keys_values',
        'exercise': 'simple_attention',
        'kind': 'wrong',
        'note': '.T transposes all dimensions: right for one sentence, not for a batch of them',
        'code': r'''def simple_attention(x):
    weights = torch.softmax(x @ x.T, dim=-1)
    return weights @ x, weights
''',
    },
    {
        'lesson': '03_queries_keys_values',
        'exercise': 'simple_attention',
        'kind': 'wrong',
        'note': 'softmax over the queries (dim=-2) instead of over the keys',
        'code': r'''def simple_attention(x):
    weights = torch.softmax(torch.einsum("...id,...jd->...ij", x, x), dim=-2)
    return torch.einsum("...ij,...jd->...id", weights, x), weights
''',
    },
    {
        'lesson': '03_queries_keys_values',
        'exercise': 'attention',
        'kind': 'wrong',
        'note': 'scaled by 1/sqrt(K), although this lesson does not scale yet',
        'code': r'''def attention(query, key, value):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    weights = scores.softmax(dim=-1)
    return weights @ value, weights
''',
    },
    {
        'lesson': '03_queries_keys_values',
        'exercise': 'attention',
        'kind': 'wrong',
        'note': 'bmm after flattening with the size of the queries: T instead of S for keys and values',
        'code': r'''def attention(query, key, value):
    lead = query.shape[:-2]
    q = query.reshape(-1, *query.shape[-2:])
    k = key.reshape(-1, *query.shape[-2:])
    v = value.reshape(q.shape[0], -1, value.shape[-1])
    weights = torch.softmax(torch.bmm(q, k.transpose(1, 2)), dim=-1)
    return torch.bmm(weights, v).reshape(*lead, *query.shape[-2:-1], -1), weights.reshape(*lead, *weights.shape[-2:])
''',
    },
    {
        'lesson': '03_queries_keys_values',
        'exercise': 'query_for',
        'kind': 'wrong',
        'note': 'c = 6 is too small: with five or more other keys one target has less than 0.99',
        'code': r'''def query_for(keys, targets):
    wanted = keys.new_zeros(keys.shape[0])
    wanted[targets] = 6.0
    return torch.linalg.pinv(keys) @ wanted
''',
    },
    {
        'lesson': '03_queries_keys_values',
        'exercise': 'query_for',
        'kind': 'wrong',
        'note': 'the sum of the target keys, scaled: right only for orthogonal keys of the same length',
        'code': r'''def query_for(keys, targets):
    unit = keys / keys.norm(dim=-1, keepdim=True) ** 2
    return 30.0 * unit[targets].sum(dim=0)
''',
    },
    {
        'lesson': '03_queries_keys_values',
        'exercise': 'attention',
        'kind': 'right',
        'note': 'one query at a time, stacked; matmul with a vector',
        'code': r'''def attention(query, key, value):
    outputs, maps = [], []
    for i in range(query.shape[-2]):
        q = query[..., i, :].unsqueeze(-1)
        a = torch.softmax((key @ q).squeeze(-1), dim=-1)
        maps.append(a)
        outputs.append((a.unsqueeze(-2) @ value).squeeze(-2))
    return torch.stack(outputs, dim=-2), torch.stack(maps, dim=-2)
''',
    },
    {
        'lesson': '05_causal_mask',
        'exercise': 'causal_mask',
        'kind': 'wrong',
        'note': 'S=0 counts as a missing S (`S or T`), so no ValueError',
        'code': r'''def causal_mask(T, S=None, device=None):
    S = S or T
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    return torch.ones(T, S, dtype=torch.bool, device=device).triu(S - T + 1)
''',
    },
    {
        'lesson': '05_causal_mask',
        'exercise': 'causal_mask',
        'kind': 'wrong',
        'note': 'queries are the first T positions, not the last',
        'code': r'''def causal_mask(T, S=None, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError(f"S = {S} is less than T = {T}")
    i = torch.arange(T, device=device)
    j = torch.arange(S, device=device)
    return j[None, :] > i[:, None]
''',
    },
    {
        'lesson': '05_causal_mask',
        'exercise': 'causal_mask',
        'kind': 'wrong',
        'note': "off by one: the query's own position is blocked, too",
        'code': r'''def causal_mask(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, less than T, which is {T}")
    rows = [[j >= S - T + i for j in range(S)] for i in range(T)]
    return torch.tensor(rows, dtype=torch.bool, device=device)
''',
    },
    {
        'lesson': '05_causal_mask',
        'exercise': 'causal_mask',
        'kind': 'wrong',
        'note': 'a float mask of 0 and 1, not bool',
        'code': r'''def causal_mask(T, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, but T is {T}")
    return torch.triu(torch.ones(T, S, device=device), diagonal=S - T + 1)
''',
    },
    {
        'lesson': '05_causal_mask',
        'exercise': 'padding_mask',
        'kind': 'wrong',
        'note': 'the position at the length itself is not blocked (> instead of >=)',
        'code': r'''def padding_mask(lengths, S):
    positions = torch.arange(S, device=lengths.device)
    return (positions > lengths[:, None])[:, None, None, :]
''',
    },
    {
        'lesson': '05_causal_mask',
        'exercise': 'padding_mask',
        'kind': 'wrong',
        'note': 'shape (B, 1, S): one dimension is missing',
        'code': r'''def padding_mask(lengths, S):
    return torch.arange(S, device=lengths.device).expand(len(lengths), 1, S) >= lengths.view(-1, 1, 1)
''',
    },
    {
        'lesson': '05_causal_mask',
        'exercise': 'padding_mask',
        'kind': 'wrong',
        'note': 'positions are made on the default device, not on that of lengths',
        'code': r'''def padding_mask(lengths, S):
    mask = torch.zeros(len(lengths), 1, 1, S, dtype=torch.bool)
    for b, length in enumerate(lengths.tolist()):
        mask[b, :, :, length:] = True
    return mask
''',
    },
    {
        'lesson': '05_causal_mask',
        'exercise': 'masked_softmax',
        'kind': 'wrong',
        'note': 'blocked scores are set to -1e9: scores go to -1e15, and a fully blocked row is uniform',
        'code': r'''def masked_softmax(scores, mask):
    return torch.softmax(scores.masked_fill(mask, -1e9), dim=-1)
''',
    },
    {
        'lesson': '05_causal_mask',
        'exercise': 'masked_softmax',
        'kind': 'wrong',
        'note': 'nan_to_num repairs the fully blocked row in the forward pass, but its gradient is NaN',
        'code': r'''def masked_softmax(scores, mask):
    weights = torch.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)
    return torch.nan_to_num(weights)
''',
    },
    {
        'lesson': '05_causal_mask',
        'exercise': 'masked_softmax',
        'kind': 'wrong',
        'note': 'multiplies by the mask after the softmax and divides again: 0 / 0 where the open scores are far below the blocked ones',
        'code': r'''def masked_softmax(scores, mask):
    weights = torch.softmax(scores, dim=-1) * ~mask
    total = weights.sum(dim=-1, keepdim=True)
    return weights / torch.where(total > 0, total, torch.ones_like(total))
''',
    },
    {
        'lesson': '05_causal_mask',
        'exercise': 'masked_attention',
        'kind': 'wrong',
        'note': 'mask=None is replaced by a causal mask',
        'code': r'''def masked_attention(query, key, value, mask=None):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if mask is None:
        T, S = scores.shape[-2:]
        mask = torch.ones(T, S, dtype=torch.bool, device=scores.device).triu(S - T + 1)
    blocked = mask.expand(scores.shape).all(-1, keepdim=True)
    weights = scores.masked_fill(mask & ~blocked, -math.inf).softmax(-1).masked_fill(blocked, 0.0)
    return weights @ value, weights
''',
    },
    {
        'lesson': '05_causal_mask',
        'exercise': 'masked_attention',
        'kind': 'wrong',
        'note': 'divides by sqrt of the number of keys instead of the width',
        'code': r'''def masked_attention(query, key, value, mask=None):
    scores = torch.einsum("...td,...sd->...ts", query, key) / math.sqrt(key.shape[-2])
    if mask is None:
        weights = torch.softmax(scores, -1)
    else:
        everything = mask.all(-1, keepdim=True)
        scores = torch.where(mask & ~everything, torch.full_like(scores, -math.inf), scores)
        weights = torch.where(everything, torch.zeros_like(scores), torch.softmax(scores, -1))
    return torch.einsum("...ts,...sv->...tv", weights, value), weights
''',
    },
    {
        'lesson': '05_causal_mask',
        'exercise': 'sees_the_future',
        'kind': 'wrong',
        'note': 'changes only the last input: a leak from a token in the middle to an earlier one is missed',
        'code': r'''def sees_the_future(attention, x):
    other = x.clone()
    other[-1] += 1.0
    difference = (attention(other) - attention(x))[:-1].abs()
    return bool((difference > 1e-5).any())
''',
    },
    {
        'lesson': '05_causal_mask',
        'exercise': 'sees_the_future',
        'kind': 'wrong',
        'note': 'differentiates the sum of the entries of an output: a leak that raises one and lowers another is missed',
        'code': r'''def sees_the_future(attention, x):
    for i in range(len(x) - 1):
        probe = x.detach().clone().requires_grad_(True)
        out = attention(probe)[i].sum()
        if not out.requires_grad:
            continue
        grad, = torch.autograd.grad(out, probe, allow_unused=True)
        if grad is not None and (grad[i + 1:].abs() > 1e-5).any():
            return True
    return False
''',
    },
    {
        'lesson': '05_causal_mask',
        'exercise': 'sees_the_future',
        'kind': 'wrong',
        'note': 'the threshold of 1e-2 is above the smallest leak that counts',
        'code': r'''def sees_the_future(attention, x):
    T, D = x.shape
    jacobian = torch.autograd.functional.jacobian(attention, x.detach().clone())
    later = torch.triu(torch.ones(T, T, dtype=torch.bool, device=x.device), 1)
    strength = jacobian.abs().amax(dim=(1, 3))
    return bool((strength[later] > 1e-2).any())
''',
    },
    {
        'lesson': '05_causal_mask',
        'exercise': 'padding_mask',
        'kind': 'right',
        'note': 'a cumulative sum of one-hot vectors marks everything from the length on',
        'code': r'''def padding_mask(lengths, S):
    start = F.one_hot(lengths, S + 1)
    return start.cumsum(dim=-1)[:, None, None, :S].bool()
''',
    },
    {
        'lesson': '05_causal_mask',
        'exercise': 'masked_softmax',
        'kind': 'right',
        'note': 'own exponentials: maximum of the open scores, zero elsewhere, denominator 1 where nothing is open',
        'code': r'''def masked_softmax(scores, mask):
    mask = mask.expand(scores.shape)
    none = mask.all(dim=-1, keepdim=True)
    lowest = torch.full_like(scores, -math.inf, requires_grad=False)
    highest = torch.where(mask, lowest, scores.detach()).amax(-1, keepdim=True).masked_fill(none, 0.0)
    shifted = torch.where(mask, torch.zeros_like(scores), scores - highest)
    powers = shifted.exp() * (~mask).to(scores.dtype)
    return powers / (powers.sum(-1, keepdim=True) + none.to(scores.dtype))
''',
    },
    {
        'lesson': '05_causal_mask',
        'exercise': 'causal_mask',
        'kind': 'right',
        'note': 'nested Python lists, no tensor operation',
        'code': r'''def causal_mask(T, S=None, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError(f"S is {S}, and T is {T}: there are fewer keys than queries")
    offset = S - T
    table = [[False] * min(S, offset + i + 1) + [True] * (S - min(S, offset + i + 1)) for i in range(T)]
    return torch.tensor(table, dtype=torch.bool, device=device).reshape(T, S)
''',
    },
    {
        'lesson': '06_multi_head',
        'exercise': 'split_heads',
        'kind': 'wrong',
        'note': 'reshape without a transpose: cuts between words instead of within them',
        'code': r'''def split_heads(x, n_heads):
    B, T, D = x.shape
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"n_heads is {n_heads}, but D is {D}")
    return x.reshape(B, n_heads, T, D // n_heads)
''',
    },
    {
        'lesson': '06_multi_head',
        'exercise': 'split_heads',
        'kind': 'wrong',
        'note': 'neighbouring columns go to different heads: column c to head c % H',
        'code': r'''def split_heads(x, n_heads):
    B, T, D = x.shape
    if n_heads < 1 or D % n_heads != 0:
        raise ValueError(f"n_heads = {n_heads} does not divide the width {D}")
    return torch.stack([x[..., h::n_heads] for h in range(n_heads)], dim=1)
''',
    },
    {
        'lesson': '06_multi_head',
        'exercise': 'split_heads',
        'kind': 'wrong',
        'note': 'no check for n_heads < 1: -2 passes the test with %, 0 is a ZeroDivisionError',
        'code': r'''def split_heads(x, n_heads):
    if x.shape[-1] % n_heads != 0:
        raise ValueError(f"n_heads is {n_heads}, which does not divide {x.shape[-1]}")
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)
''',
    },
    {
        'lesson': '06_multi_head',
        'exercise': 'merge_heads',
        'kind': 'wrong',
        'note': 'works only for heads that are a view of words, as split_heads makes them: a contiguous input fails in .view',
        'code': r'''def merge_heads(x):
    B, H, T, K = x.shape
    x = x if x.stride(1) == K else x.contiguous()
    return x.transpose(1, 2).view(B, T, H * K)
''',
    },
    {
        'lesson': '06_multi_head',
        'exercise': 'MultiHeadAttention',
        'kind': 'wrong',
        'note': "scaled by the square root of the model width, not of a head's",
        'code': r'''class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads}, which does not divide d_model = {d_model}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        q, k, v = (
            t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for t in (self.W_q(x), self.W_k(context), self.W_v(context))
        )
        scores = q @ k.mT / math.sqrt(x.shape[-1])
        if mask is not None:
            mask = mask.expand(scores.shape)
            gone = mask.all(-1, keepdim=True)
            scores = scores.masked_fill(mask & ~gone, -math.inf)
            weights = torch.softmax(scores, -1).masked_fill(gone, 0.0)
        else:
            weights = torch.softmax(scores, -1)
        weights = self.drop(weights)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2)), weights
''',
    },
    {
        'lesson': '06_multi_head',
        'exercise': 'MultiHeadAttention',
        'kind': 'wrong',
        'note': 'the values come from x where the context has as many words, so that nothing fails',
        'code': r'''class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"n_heads must be at least 1 and divide d_model ({d_model}), it is {n_heads}")
        self.H, self.p = n_heads, dropout
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, x, context=None, mask=None):
        source = x if context is None else context
        B, T, D = x.shape
        K = D // self.H
        q = self.W_q(x).view(B, T, self.H, K).transpose(1, 2)
        k = self.W_k(source).view(B, -1, self.H, K).transpose(1, 2)
        v = self.W_v(x if x.shape == source.shape else source).view(B, -1, self.H, K).transpose(1, 2)
        scores = q @ k.transpose(-1, -2) * K ** -0.5
        if mask is not None:
            scores = scores.masked_fill(mask, -1e30)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(mask, 0.0)
        weights = F.dropout(weights, self.p, self.training)
        return self.W_o((weights @ v).transpose(1, 2).reshape(B, T, D)), weights
''',
    },
    {
        'lesson': '06_multi_head',
        'exercise': 'MultiHeadAttention',
        'kind': 'wrong',
        'note': 'returns the weights from before the dropout, not those that were applied',
        'code': r'''class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads} and d_model is {d_model}")
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, context=None, mask=None):
        if context is None:
            context = x
        cut = lambda t: t.reshape(*t.shape[:2], self.n_heads, -1).permute(0, 2, 1, 3)
        q, k, v = cut(self.W_q(x)), cut(self.W_k(context)), cut(self.W_v(context))
        scores = torch.einsum("bhtk,bhsk->bhts", q, k) / q.shape[-1] ** 0.5
        if mask is None:
            mask = torch.zeros(1, dtype=torch.bool, device=x.device)
        mask = mask.expand_as(scores)
        full = mask.all(-1, keepdim=True)
        weights = scores.masked_fill(mask & ~full, -math.inf).softmax(-1).masked_fill(full, 0)
        output = torch.einsum("bhts,bhsk->bthk", self.dropout(weights), v).flatten(2)
        return self.W_o(output), weights
''',
    },
    {
        'lesson': '06_multi_head',
        'exercise': 'load_torch_weights',
        'kind': 'wrong',
        'note': 'shares memory: the parameters are views of in_proj_weight',
        'code': r'''def load_torch_weights(ours, theirs):
    q, k, v = theirs.in_proj_weight.detach().chunk(3)
    ours.W_q.weight.data = q
    ours.W_k.weight.data = k
    ours.W_v.weight.data = v
    ours.W_o.weight.data = theirs.out_proj.weight.detach()
    return ours
''',
    },
    {
        'lesson': '06_multi_head',
        'exercise': 'load_torch_weights',
        'kind': 'wrong',
        'note': 'copies the output matrix transposed',
        'code': r'''def load_torch_weights(ours, theirs):
    with torch.no_grad():
        for layer, block in zip((ours.W_q, ours.W_k, ours.W_v), theirs.in_proj_weight.chunk(3, dim=0)):
            layer.weight.copy_(block)
        ours.W_o.weight.copy_(theirs.out_proj.weight.T)
    return ours
''',
    },
    {
        'lesson': '06_multi_head',
        'exercise': 'count_parameters',
        'kind': 'wrong',
        'note': 'counts frozen parameters, too',
        'code': r'''def count_parameters(module):
    return sum(p.numel() for p in module.parameters())
''',
    },
    {
        'lesson': '06_multi_head',
        'exercise': 'count_parameters',
        'kind': 'wrong',
        'note': 'counts a tied parameter once per place, since it walks through the submodules',
        'code': r'''def count_parameters(module):
    total = 0
    for name, p in module.named_parameters(remove_duplicate=False):
        if p.requires_grad:
            total += p.numel()
    return total
''',
    },
    {
        'lesson': '06_multi_head',
        'exercise': 'count_parameters',
        'kind': 'right',
        'note': "a dict by id over all submodules' own parameters",
        'code': r'''def count_parameters(module):
    own = {}
    for part in module.modules():
        for p in part._parameters.values():
            if p is not None and p.requires_grad:
                own[id(p)] = math.prod(p.shape)
    return int(sum(own.values()))
''',
    },
    {
        'lesson': '06_multi_head',
        'exercise': 'split_heads',
        'kind': 'right',
        'note': 'as_strided-free: chunks of the last dimension, stacked as heads',
        'code': r'''def split_heads(x, n_heads):
    width = x.shape[-1]
    if n_heads < 1 or width % n_heads != 0:
        raise ValueError(f"n_heads is {n_heads}, it must be at least 1 and divide {width}")
    return torch.stack(x.split(width // n_heads, dim=-1), dim=-3)
''',
    },
    {
        'lesson': '07_rope',
        'exercise': 'is_order_blind',
        'kind': 'wrong',
        'note': 'permutes the output with the inverse permutation',
        'code': r'''def is_order_blind(attention, x, permutation):
    moved = attention(x[permutation])
    back = torch.empty_like(moved)
    back[permutation] = attention(x)
    return bool((moved - back).abs().max() < 1e-3)
''',
    },
    {
        'lesson': '07_rope',
        'exercise': 'is_order_blind',
        'kind': 'wrong',
        'note': 'compares sums over tokens only, which hides differences that cancel',
        'code': r'''def is_order_blind(attention, x, permutation):
    a = attention(x)[permutation]
    b = attention(x[permutation])
    return bool(torch.allclose(a.mean(dim=0), b.mean(dim=0), atol=1e-4))
''',
    },
    {
        'lesson': '07_rope',
        'exercise': 'is_order_blind',
        'kind': 'wrong',
        'note': 'exact equality: rounding counts as a difference',
        'code': r'''def is_order_blind(attention, x, permutation):
    return torch.equal(attention(x)[permutation], attention(x[permutation]))
''',
    },
    {
        'lesson': '07_rope',
        'exercise': 'rope_frequencies',
        'kind': 'wrong',
        'note': 'exponent -i/dim instead of -2i/dim',
        'code': r'''def rope_frequencies(dim, base=10000.0):
    if dim % 2:
        raise ValueError(f"dim is {dim}, which is odd")
    i = torch.arange(dim // 2, dtype=torch.float32)
    return base ** (-i / dim)
''',
    },
    {
        'lesson': '07_rope',
        'exercise': 'rope_frequencies',
        'kind': 'wrong',
        'note': 'the last pair ends exactly at 1/base: linspace over dim/2 - 1 steps',
        'code': r'''def rope_frequencies(dim, base=10000.0):
    if dim % 2 == 1:
        raise ValueError(f"dim must be even, it is {dim}")
    return base ** -torch.linspace(0, 1, dim // 2)
''',
    },
    {
        'lesson': '07_rope',
        'exercise': 'apply_rope',
        'kind': 'wrong',
        'note': 'turns clockwise: the sign of the sine is exchanged',
        'code': r'''def apply_rope(x, positions, base=10000.0):
    dim = x.shape[-1]
    theta = base ** (-torch.arange(0, dim, 2, device=x.device, dtype=torch.float32) / dim)
    angle = positions.float()[:, None] * theta
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos + odd * sin, odd * cos - even * sin), -1).flatten(-2)
''',
    },
    {
        'lesson': '07_rope',
        'exercise': 'apply_rope',
        'kind': 'wrong',
        'note': 'converts positions to whole numbers, so fractions are lost',
        'code': r'''def apply_rope(x, positions, base=10000.0):
    dim = x.shape[-1]
    theta = 1.0 / base ** (torch.arange(0, dim, 2, device=x.device).float() / dim)
    angle = torch.outer(positions.long().float(), theta)
    turned = torch.empty_like(x)
    turned[..., ::2] = x[..., ::2] * angle.cos() - x[..., 1::2] * angle.sin()
    turned[..., 1::2] = x[..., ::2] * angle.sin() + x[..., 1::2] * angle.cos()
    return turned
''',
    },
    {
        'lesson': '07_rope',
        'exercise': 'apply_rope',
        'kind': 'wrong',
        'note': 'a float64 input times float32 cosines through complex64: the result is float32',
        'code': r'''def apply_rope(x, positions, base=10000.0):
    dim = x.shape[-1]
    theta = base ** (-2 * torch.arange(dim // 2, device=x.device) / dim)
    angle = positions[:, None] * theta
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], dim // 2, 2).contiguous())
    return torch.view_as_real(z * torch.polar(torch.ones_like(angle), angle)).flatten(-2)
''',
    },
    {
        'lesson': '07_rope',
        'exercise': 'apply_rope',
        'kind': 'wrong',
        'note': 'turned entries are put into halves instead of back into neighbouring places',
        'code': r'''def apply_rope(x, positions, base=10000.0):
    dim = x.shape[-1]
    theta = base ** (-torch.arange(0, dim, 2, dtype=torch.float32, device=x.device) / dim)
    angle = positions.to(torch.float32).unsqueeze(-1) * theta
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
''',
    },
    {
        'lesson': '07_rope',
        'exercise': 'to_half_split',
        'kind': 'wrong',
        'note': 'the inverse order: from halves to neighbours (the same for dim 4)',
        'code': r'''def to_half_split(x):
    half = x.shape[-1] // 2
    return torch.stack([x[..., :half], x[..., half:]], dim=-1).flatten(-2)
''',
    },
    {
        'lesson': '07_rope',
        'exercise': 'to_half_split',
        'kind': 'wrong',
        'note': 'the second half is in reverse order',
        'code': r'''def to_half_split(x):
    dim = x.shape[-1]
    order = list(range(0, dim, 2)) + list(range(dim - 1, 0, -2))
    return x[..., order]
''',
    },
    {
        'lesson': '07_rope',
        'exercise': 'RotarySelfAttention',
        'kind': 'wrong',
        'note': 'rotates the values as well',
        'code': r'''class RotarySelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, base=10000.0):
        super().__init__()
        self.H, self.base = n_heads, base
        self.W_qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def rope(self, x, positions):
        dim = x.shape[-1]
        theta = self.base ** (-torch.arange(0, dim, 2, device=x.device, dtype=torch.float32) / dim)
        angle = positions.float()[:, None] * theta
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)

    def forward(self, x, positions=None, mask=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        qkv = self.W_qkv(x).view(B, T, 3, self.H, D // self.H).permute(2, 0, 3, 1, 4)
        q, k, v = self.rope(qkv, positions)
        scores = q @ k.mT / (D // self.H) ** 0.5
        if mask is None:
            weights = scores.softmax(-1)
        else:
            gone = mask.all(-1, keepdim=True)
            weights = scores.masked_fill(mask & ~gone, -math.inf).softmax(-1).masked_fill(gone, 0.0)
        return self.W_o((weights @ v).transpose(1, 2).reshape(B, T, D)), weights
''',
    },
    {
        'lesson': '07_rope',
        'exercise': 'RotarySelfAttention',
        'kind': 'wrong',
        'note': 'ignores the positions that it is given',
        'code': r'''class RotarySelfAttention(nn.Module):
    def __init__(self, d_model, n_heads, base=10000.0):
        super().__init__()
        self.n_heads = n_heads
        self.base = base
        self.W_qkv = nn.Linear(d_model, d_model * 3, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None, mask=None):
        B, T, D = x.shape
        H, K = self.n_heads, D // self.n_heads
        q, k, v = (t.reshape(B, T, H, K).transpose(1, 2) for t in self.W_qkv(x).chunk(3, dim=-1))
        i = torch.arange(0, K, 2, device=x.device, dtype=x.dtype)
        angle = torch.arange(T, device=x.device, dtype=x.dtype)[:, None] * self.base ** (-i / K)

        def turn(t):
            a, b = t[..., ::2], t[..., 1::2]
            return torch.stack((a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()), -1).flatten(-2)

        scores = turn(q) @ turn(k).transpose(-1, -2) / math.sqrt(K)
        if mask is not None:
            scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask, 0.0)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2)), weights
''',
    },
    {
        'lesson': '07_rope',
        'exercise': 'scaled_frequencies',
        'kind': 'wrong',
        'note': '"base" multiplies the base by the factor itself, without the exponent dim / (dim - 2)',
        'code': r'''def scaled_frequencies(dim, method, factor, length, base=10000.0, low=1.0, high=32.0):
    i = torch.arange(0, dim, 2, dtype=torch.float32)
    theta = base ** (-i / dim)
    if method == "base":
        return (base * factor) ** (-i / dim)
    if method == "interpolation":
        return theta / factor
    if method == "yarn":
        g = ((length * theta / (2 * math.pi) - low) / (high - low)).clamp(0, 1)
        return g * theta + (1 - g) * theta / factor
    raise ValueError(f"method is {method!r}, which is unknown")
''',
    },
    {
        'lesson': '07_rope',
        'exercise': 'scaled_frequencies',
        'kind': 'wrong',
        'note': 'YaRN: the share is not limited to 0 … 1',
        'code': r'''def scaled_frequencies(dim, method, factor, length, base=10000.0, low=1.0, high=32.0):
    theta = torch.tensor([base ** (-2 * i / dim) for i in range(dim // 2)], dtype=torch.float32)
    match method:
        case "base":
            new = base * factor ** (dim / (dim - 2))
            return torch.tensor([new ** (-2 * i / dim) for i in range(dim // 2)], dtype=torch.float32)
        case "interpolation":
            return theta / factor
        case "yarn":
            g = (length * theta / (2 * math.pi) - low) / (high - low)
            return g * theta + (1 - g) * theta / factor
        case _:
            raise ValueError(f"method must be base, interpolation or yarn, not {method!r}")
''',
    },
    {
        'lesson': '07_rope',
        'exercise': 'scaled_frequencies',
        'kind': 'wrong',
        'note': 'an unknown method is taken as "yarn" without an error',
        'code': r'''def scaled_frequencies(dim, method, factor, length, base=10000.0, low=1.0, high=32.0):
    def plain(b):
        return b ** (-torch.arange(0, dim, 2).float() / dim)

    if method == "base":
        return plain(base * factor ** (dim / (dim - 2)))
    theta = plain(base)
    if method == "interpolation":
        return theta / factor
    turns = length * theta / (2 * math.pi)
    g = torch.clamp((turns - low) / (high - low), min=0.0, max=1.0)
    return theta * (g + (1 - g) / factor)
''',
    },
    {
        'lesson': '07_rope',
        'exercise': 'apply_rope',
        'kind': 'right',
        'note': 'complex numbers in the matching precision',
        'code': r'''def apply_rope(x, positions, base=10000.0):
    dim = x.shape[-1]
    exponents = -2.0 * torch.arange(dim // 2, device=x.device, dtype=torch.float64) / dim
    angles = positions.to(x.device, torch.float64)[:, None] * base ** exponents
    turns = torch.polar(torch.ones_like(angles), angles)
    turns = turns.to(torch.complex128 if x.dtype == torch.float64 else torch.complex64)
    pairs = torch.complex(x[..., 0::2], x[..., 1::2])
    return torch.view_as_real(pairs * turns).flatten(-2)
''',
    },
    {
        'lesson': '07_rope',
        'exercise': 'to_half_split',
        'kind': 'right',
        'note': 'a view as pairs, transposed',
        'code': r'''def to_half_split(x):
    return x.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'get_batch',
        'kind': 'wrong',
        'note': 'the last start that fits is never drawn (high is one too small)',
        'code': r'''def get_batch(data, block_size, batch_size, generator):
    if len(data) < block_size + 1:
        raise ValueError(f"data has {len(data)} tokens, too few for block_size = {block_size}")
    high = max(1, len(data) - block_size - 1)
    starts = torch.randint(high, (batch_size,), generator=generator).tolist()
    x = torch.stack([data[s:s + block_size] for s in starts])
    y = torch.stack([data[s + 1:s + 1 + block_size] for s in starts])
    return x, y
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'get_batch',
        'kind': 'wrong',
        'note': 'drawn without replacement: a batch larger than the number of starts has too few rows',
        'code': r'''def get_batch(data, block_size, batch_size, generator):
    n = len(data) - block_size
    if n < 1:
        raise ValueError(f"block_size is {block_size}, but data has only {len(data)} tokens")
    starts = torch.randperm(n, generator=generator)[:batch_size].to(data.device)
    windows = data[starts[:, None] + torch.arange(block_size + 1, device=data.device)]
    return windows[:, :-1], windows[:, 1:]
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'get_batch',
        'kind': 'wrong',
        'note': 'no ValueError where data has exactly block_size tokens and no target for the last one: randint raises RuntimeError',
        'code': r'''def get_batch(data, block_size, batch_size, generator):
    if data.numel() < block_size:
        raise ValueError(f"data has {data.numel()} tokens, fewer than block_size = {block_size}")
    starts = torch.randint(0, data.numel() - block_size, (batch_size, 1), generator=generator).to(data.device)
    offsets = torch.arange(block_size, device=data.device)
    return data[starts + offsets], data[starts + offsets + 1]
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'language_model_loss',
        'kind': 'wrong',
        'note': 'ignored targets count in the mean: the sum is divided by B * T',
        'code': r'''def language_model_loss(logits, targets, ignore_index=-100):
    log_probs = torch.log_softmax(logits, dim=-1)
    keep = targets != ignore_index
    picked = log_probs.gather(-1, targets.masked_fill(~keep, 0).unsqueeze(-1)).squeeze(-1)
    return -(picked * keep).mean()
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'language_model_loss',
        'kind': 'wrong',
        'note': 'NaN where all targets are ignored: the mean of nothing',
        'code': r'''def language_model_loss(logits, targets, ignore_index=-100):
    keep = targets != ignore_index
    chosen = logits[keep]
    rows = torch.arange(len(chosen), device=logits.device)
    return (chosen.logsumexp(-1) - chosen[rows, targets[keep]]).mean()
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'language_model_loss',
        'kind': 'wrong',
        'note': 'all ignored: returns a new 0, from which backward() does not work',
        'code': r'''def language_model_loss(logits, targets, ignore_index=-100):
    flat = logits.flatten(0, 1)
    losses = []
    for row, target in zip(flat, targets.flatten().tolist()):
        if target != ignore_index:
            losses.append(torch.logsumexp(row, 0) - row[target])
    if not losses:
        return torch.zeros((), dtype=logits.dtype, device=logits.device)
    return torch.stack(losses).mean()
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'language_model_loss',
        'kind': 'wrong',
        'note': 'every negative target is ignored, and ignore_index is not looked at: a padding id of 0 counts',
        'code': r'''def language_model_loss(logits, targets, ignore_index=-100):
    keep = (targets >= 0).to(logits.dtype)
    nll = -logits.log_softmax(-1).gather(2, targets.clamp(min=0)[..., None])[..., 0]
    return (nll * keep).sum() / keep.sum().clamp(min=1)
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'TransformerBlock',
        'kind': 'wrong',
        'note': 'post-norm: normalises after the addition',
        'code': r'''class TransformerBlock(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.norm_2 = nn.LayerNorm(d_model)
        self.attention = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))

    def forward(self, x, mask=None):
        x = self.norm_1(x + self.attention(x, x, x, attn_mask=mask, need_weights=False)[0])
        return self.norm_2(x + self.mlp(x))
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'TransformerBlock',
        'kind': 'wrong',
        'note': 'only the queries are normalised; keys and values come from x as it is',
        'code': r'''class TransformerBlock(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.attention = nn.MultiheadAttention(d_model, n_heads, dropout=dropout, bias=False, batch_first=True)
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.mlp = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))

    def forward(self, x, mask=None):
        attended, _ = self.attention(self.norm_1(x), x, x, attn_mask=mask)
        x = x + attended
        return x + self.mlp(self.norm_2(x))
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'ModernBlock',
        'kind': 'wrong',
        'note': 'the norm divides by the standard deviation: it subtracts the mean first',
        'code': r'''class ModernBlock(nn.Module):
    def __init__(self, d_model, n_heads, hidden, rotates=True):
        super().__init__()
        self.n_heads, self.rotates = n_heads, rotates
        self.gain_1, self.gain_2 = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.ones(d_model))
        for name in "qkvo":
            setattr(self, "W_" + name, nn.Linear(d_model, d_model, bias=False))
        self.W_gate = nn.Linear(d_model, hidden, bias=False)
        self.W_up = nn.Linear(d_model, hidden, bias=False)
        self.W_down = nn.Linear(hidden, d_model, bias=False)

    def norm(self, x, gain):
        x = x - x.mean(-1, keepdim=True)
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6) * gain

    def turn(self, x):
        T, K = x.shape[-2:]
        theta = 10000.0 ** (-torch.arange(0, K, 2, device=x.device, dtype=x.dtype) / K)
        angle = torch.arange(T, device=x.device, dtype=x.dtype)[:, None] * theta
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1).flatten(-2)

    def forward(self, x):
        y = self.norm(x, self.gain_1)
        q, k, v = (W(y).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v))
        if self.rotates:
            q, k = self.turn(q), self.turn(k)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.W_o(a.transpose(1, 2).flatten(2))
        y = self.norm(x, self.gain_2)
        return x + self.W_down(F.silu(self.W_gate(y)) * self.W_up(y))
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'ModernBlock',
        'kind': 'wrong',
        'note': 'silu on the wrong branch: of W_up instead of W_gate',
        'code': r'''class ModernBlock(nn.Module):
    def __init__(self, d_model, n_heads, hidden, rotates=True):
        super().__init__()
        self.H = n_heads
        self.rotates = rotates
        linear = lambda a, b: nn.Linear(a, b, bias=False)
        self.gain_1 = nn.Parameter(torch.ones(d_model))
        self.gain_2 = nn.Parameter(torch.ones(d_model))
        self.W_q, self.W_k, self.W_v, self.W_o = [linear(d_model, d_model) for _ in range(4)]
        self.W_gate, self.W_up, self.W_down = linear(d_model, hidden), linear(d_model, hidden), linear(hidden, d_model)

    def forward(self, x):
        B, T, D = x.shape
        K = D // self.H
        rms = lambda t: t * torch.rsqrt(t.pow(2).mean(-1, keepdim=True) + 1e-6)
        n = rms(x) * self.gain_1
        q, k, v = [W(n).view(B, T, self.H, K).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v)]
        if self.rotates:
            angle = torch.arange(T, device=x.device)[:, None] * 10000.0 ** (-torch.arange(0, K, 2, device=x.device) / K)
            c, s = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
            q, k = [
                torch.stack([t[..., ::2] * c - t[..., 1::2] * s, t[..., ::2] * s + t[..., 1::2] * c], -1).flatten(-2)
                for t in (q, k)
            ]
        scores = q @ k.mT / K ** 0.5
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        attended = scores.masked_fill(future, -math.inf).softmax(-1) @ v
        x = x + self.W_o(attended.transpose(1, 2).reshape(B, T, D))
        n = rms(x) * self.gain_2
        return x + self.W_down(self.W_gate(n) * F.silu(self.W_up(n)))
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'ModernBlock',
        'kind': 'wrong',
        'note': 'keeps the angles of the first call: a longer text afterwards fails',
        'code': r'''class ModernBlock(nn.Module):
    def __init__(self, d_model, n_heads, hidden, rotates=True):
        super().__init__()
        self.n_heads, self.rotates, self.angles = n_heads, rotates, None
        self.gain_1 = nn.Parameter(torch.ones(d_model))
        self.gain_2 = nn.Parameter(torch.ones(d_model))
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.W_gate = nn.Linear(d_model, hidden, bias=False)
        self.W_up = nn.Linear(d_model, hidden, bias=False)
        self.W_down = nn.Linear(hidden, d_model, bias=False)

    def rotate(self, x):
        T, K = x.shape[-2:]
        if self.angles is None:
            theta = 10000.0 ** (-torch.arange(0, K, 2, device=x.device).float() / K)
            self.angles = torch.arange(T, device=x.device).float()[:, None] * theta
        cos, sin = self.angles[:T].cos().to(x.dtype), self.angles[:T].sin().to(x.dtype)
        a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
        return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)

    def forward(self, x):
        def norm(t, gain):
            return t / (t.square().mean(-1, keepdim=True) + 1e-6).sqrt() * gain

        h = norm(x, self.gain_1)
        q, k, v = (W(h).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v))
        if self.rotates:
            q, k = self.rotate(q), self.rotate(k)
        x = x + self.W_o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        h = norm(x, self.gain_2)
        return x + self.W_down(F.silu(self.W_gate(h)) * self.W_up(h))
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'learning_rate',
        'kind': 'wrong',
        'note': 'warm-up from 0: step / warmup instead of (step + 1) / warmup',
        'code': r'''def learning_rate(step, warmup, total, peak, floor=0.0):
    if not 0 <= warmup < total:
        raise ValueError(f"warmup is {warmup}, total is {total}")
    if step < warmup:
        return peak * step / warmup
    r = min(1.0, (step - warmup) / (total - warmup))
    return floor + (peak - floor) * (1 + math.cos(math.pi * r)) / 2
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'learning_rate',
        'kind': 'wrong',
        'note': 'r is not limited to 1: after the last step the rate rises again',
        'code': r'''def learning_rate(step, warmup, total, peak, floor=0.0):
    if warmup < 0 or warmup >= total:
        raise ValueError(f"warmup must be from 0 to below total = {total}, but is {warmup}")
    if step < warmup:
        return peak * (step + 1) / warmup
    return floor + 0.5 * (peak - floor) * (1 + math.cos(math.pi * (step - warmup) / (total - warmup)))
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'learning_rate',
        'kind': 'wrong',
        'note': 'the floor is a lower bound (max), not the end of the cosine',
        'code': r'''def learning_rate(step, warmup, total, peak, floor=0.0):
    if not (0 <= warmup < total):
        raise ValueError(f"need 0 <= warmup < total, got warmup = {warmup}, total = {total}")
    if step < warmup:
        return peak * (step + 1) / warmup
    r = min(1, (step - warmup) / (total - warmup))
    return max(floor, peak * (1 + math.cos(math.pi * r)) / 2)
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'train_step',
        'kind': 'wrong',
        'note': 'clips every parameter on its own, not the gradient of all together',
        'code': r'''def train_step(model, optimizer, inputs, targets):
    model.train()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
    loss.backward()
    for p in model.parameters():
        if p.grad is not None:
            nn.utils.clip_grad_norm_([p], 1.0)
    optimizer.step()
    return loss.item()
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'train_step',
        'kind': 'wrong',
        'note': 'clips before backward(), so the new gradient is not clipped',
        'code': r'''def train_step(model, optimizer, inputs, targets):
    model.train()
    model.zero_grad()
    logits = model(inputs)
    loss = F.cross_entropy(logits.transpose(1, 2), targets)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    loss.backward()
    optimizer.step()
    return float(loss)
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'train_step',
        'kind': 'wrong',
        'note': 'returns the loss of a second forward pass, after the step',
        'code': r'''def train_step(model, optimizer, inputs, targets):
    def loss_now():
        return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())

    model.train()
    optimizer.zero_grad()
    loss_now().backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
    with torch.no_grad():
        return loss_now().item()
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'evaluate',
        'kind': 'wrong',
        'note': 'leaves the model in training mode, whatever it was in before',
        'code': r'''@torch.no_grad()
def evaluate(model, inputs, targets):
    model.eval()
    loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()
    model.train()
    return loss
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'evaluate',
        'kind': 'wrong',
        'note': 'restores the mode of the whole model from its top: a part that was in eval mode is in training mode afterwards',
        'code': r'''def evaluate(model, inputs, targets):
    was_training = model.training
    model.eval()
    with torch.no_grad():
        loss = F.cross_entropy(model(inputs).transpose(1, 2), targets)
    model.train(was_training)
    return float(loss)
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'generate',
        'kind': 'wrong',
        'note': 'shows the model the first block_size tokens, not the last',
        'code': r'''def generate(model, prompt, n_tokens, temperature=1.0, generator=None):
    modes = [(m, m.training) for m in model.modules()]
    model.eval()
    ids = prompt
    with torch.no_grad():
        for _ in range(n_tokens):
            logits = model(ids[:, :model.block_size])[:, -1]
            if temperature == 0:
                new = logits.argmax(-1, keepdim=True)
            else:
                probs = torch.softmax(logits / temperature, -1).cpu()
                new = torch.multinomial(probs, 1, generator=generator).to(ids.device)
            ids = torch.cat([ids, new], dim=1)
    for m, mode in modes:
        m.training = mode
    return ids
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'generate',
        'kind': 'wrong',
        'note': 'no greedy case: a temperature of 0 is replaced by 0.1 and drawn',
        'code': r'''def generate(model, prompt, n_tokens, temperature=1.0, generator=None):
    modes = {m: m.training for m in model.modules()}
    model.eval()
    ids = prompt.clone()
    with torch.no_grad():
        for _ in range(n_tokens):
            logits = model(ids[:, -model.block_size:])[:, -1, :]
            probs = torch.softmax(logits / (temperature or 0.1), dim=-1)
            ids = torch.cat([ids, torch.multinomial(probs.cpu(), 1, generator=generator).to(ids.device)], 1)
    for m, mode in modes.items():
        m.training = mode
    return ids
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'train',
        'kind': 'wrong',
        'note': 'the batches start in the first block_size positions only, so most of the text is never read',
        'code': r'''def train(model, data, steps, batch_size, generator, peak=3e-3):
    block = model.block_size
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak)
    warmup = max(1, steps // 10)
    losses = []
    for step in range(steps):
        r = (step - warmup) / max(1, steps - warmup)
        rate = peak * (step + 1) / warmup if step < warmup else peak * (1 + math.cos(math.pi * r)) / 2
        for group in optimizer.param_groups:
            group["lr"] = rate
        starts = torch.randint(block, (batch_size,), generator=generator).tolist()
        windows = torch.stack([data[s:s + block + 1] for s in starts])
        model.train()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'train',
        'kind': 'wrong',
        'note': 'the targets are the inputs themselves: the model learns to copy',
        'code': r'''def train(model, data, steps, batch_size, generator, peak=3e-3):
    optimizer = torch.optim.AdamW(model.parameters(), lr=peak)
    warmup = max(1, steps // 10)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda n: (n + 1) / warmup if n < warmup
        else (1 + math.cos(math.pi * min(1, (n - warmup) / max(1, steps - warmup)))) / 2,
    )
    model.train()
    losses = []
    while len(losses) < steps:
        starts = torch.randint(len(data) - model.block_size + 1, (batch_size, 1), generator=generator)
        ids = data[(starts + torch.arange(model.block_size)).to(data.device)]
        loss = F.cross_entropy(model(ids).transpose(1, 2), ids)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(float(loss))
    return losses
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'learning_rate',
        'kind': 'right',
        'note': 'a dictionary of branches that are evaluated lazily, cosine from the real part of cmath.exp',
        'code': r'''import cmath

def learning_rate(step, warmup, total, peak, floor=0.0):
    if warmup < 0 or not warmup < total:
        raise ValueError(f"warmup is {warmup} and total is {total}, but 0 <= warmup < total is needed")
    return {
        True: lambda: float(peak * (step + 1) / warmup),
        False: lambda: float(
            floor + (peak - floor) * (1 + cmath.exp(1j * cmath.pi * min(1, (step - warmup) / (total - warmup))).real) / 2
        ),
    }[step < warmup]()
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'evaluate',
        'kind': 'right',
        'note': "a context manager that restores every module's own mode",
        'code': r'''from contextlib import contextmanager

def evaluate(model, inputs, targets):
    @contextmanager
    def in_eval_mode():
        modes = [(part, part.training) for part in model.modules()]
        model.eval()
        try:
            yield
        finally:
            for part, mode in modes:
                part.training = mode

    with in_eval_mode(), torch.no_grad():
        log_probs = torch.log_softmax(model(inputs), dim=-1)
        return -log_probs.gather(-1, targets.unsqueeze(-1)).mean().item()
''',
    },
    {
        'lesson': '08_training',
        'exercise': 'language_model_loss',
        'kind': 'right',
        'note': "a sparse product of weights: keep / count, with the logits' own zero added",
        'code': r'''def language_model_loss(logits, targets, ignore_index=-100):
    keep = targets.ne(ignore_index)
    share = keep.to(logits.dtype) / keep.sum().clamp(min=1)
    index = torch.where(keep, targets, torch.zeros_like(targets))
    highest = logits.detach().amax(-1, keepdim=True)
    shifted = logits - highest
    losses = shifted.exp().sum(-1).log() - torch.take_along_dim(shifted, index[..., None], dim=-1)[..., 0]
    return torch.einsum("bt,bt->", losses, share)
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'cache_bytes',
        'kind': 'wrong',
        'note': 'batch_size is checked, but not multiplied',
        'code': r'''def cache_bytes(n_layers, n_kv_heads, d_head, length, batch_size=1, element_bytes=2):
    for name, number in list(locals().items()):
        if number < 0:
            raise ValueError(f"{name} is {number}, which is below 0")
    return 2 * n_layers * n_kv_heads * d_head * length * element_bytes
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'cache_bytes',
        'kind': 'wrong',
        'note': 'only some arguments are checked: a negative batch_size or element_bytes gives a negative number',
        'code': r'''def cache_bytes(n_layers, n_kv_heads, d_head, length, batch_size=1, element_bytes=2):
    for name, number in dict(n_layers=n_layers, n_kv_heads=n_kv_heads, d_head=d_head, length=length).items():
        if number < 0:
            raise ValueError(f"{name} is {number}, which is below 0")
    return 2 * n_layers * n_kv_heads * d_head * length * batch_size * element_bytes
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'cache_bytes',
        'kind': 'wrong',
        'note': '0 is an error, too, though only numbers below 0 are',
        'code': r'''def cache_bytes(n_layers, n_kv_heads, d_head, length, batch_size=1, element_bytes=2):
    arguments = dict(n_layers=n_layers, n_kv_heads=n_kv_heads, d_head=d_head, length=length, batch_size=batch_size,
                     element_bytes=element_bytes)
    for name, number in arguments.items():
        if not number > 0:
            raise ValueError(f"{name} must be positive, but is {number}")
    return 2 * math.prod(arguments.values())
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'append_to_cache',
        'kind': 'wrong',
        'note': 'the new ones first',
        'code': r'''def append_to_cache(cache, key, value):
    if cache is None:
        return key, value
    out = []
    for name, old, new in zip(("key", "value"), cache, (key, value)):
        if old.shape[:2] != new.shape[:2] or old.shape[3] != new.shape[3]:
            raise ValueError(f"{name} is {tuple(new.shape)}, which does not fit the cache, {tuple(old.shape)}")
        out.append(torch.cat([new, old], dim=2))
    return tuple(out)
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'append_to_cache',
        'kind': 'wrong',
        'note': 'the value is not checked: another V fails in torch.cat with RuntimeError',
        'code': r'''def append_to_cache(cache, key, value):
    if cache is None:
        return key, value
    keys, values = cache
    B, H, S, K = keys.shape
    if (key.shape[0], key.shape[1], key.shape[3]) != (B, H, K):
        raise ValueError(f"key has the shape {tuple(key.shape)}, the cache's keys {tuple(keys.shape)}")
    return torch.cat((keys, key), dim=-2), torch.cat((values, value), dim=-2)
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'attend_with_cache',
        'kind': 'wrong',
        'note': 'the causal mask starts at key 0, as if the cache were empty',
        'code': r'''def attend_with_cache(query, key, value, cache=None):
    keys = key if cache is None else torch.cat([cache[0], key], dim=2)
    values = value if cache is None else torch.cat([cache[1], value], dim=2)
    scores = query @ keys.mT / math.sqrt(query.shape[-1])
    T, S = scores.shape[-2:]
    if T > 1:
        scores = scores.masked_fill(torch.ones(T, S, dtype=torch.bool, device=query.device).triu(1), -math.inf)
    weights = scores.softmax(-1)
    return weights @ values, weights, (keys, values)
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'attend_with_cache',
        'kind': 'wrong',
        'note': 'no causal mask among the new positions',
        'code': r'''def attend_with_cache(query, key, value, cache=None):
    if cache is not None:
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    weights = torch.softmax(torch.einsum("bhtk,bhsk->bhts", query, key) * key.shape[-1] ** -0.5, dim=-1)
    return torch.einsum("bhts,bhsv->bhtv", weights, value), weights, (key, value)
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'attend_with_cache',
        'kind': 'wrong',
        'note': 'the cache that is returned holds the old positions only, if there were any',
        'code': r'''def attend_with_cache(query, key, value, cache=None):
    all_keys, all_values = key, value
    if cache is not None:
        all_keys, all_values = (torch.cat(pair, dim=2) for pair in zip(cache, (key, value)))
    T, S = query.shape[2], all_keys.shape[2]
    scores = query @ all_keys.transpose(2, 3) / query.shape[3] ** 0.5
    i = torch.arange(S - T, S, device=query.device)[:, None]
    j = torch.arange(S, device=query.device)
    weights = scores.masked_fill(j > i, float("-inf")).softmax(dim=-1)
    return weights @ all_values, weights, cache or (key, value)
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'generate_with_cache',
        'kind': 'wrong',
        'note': 'n_tokens = 0: the prompt is read all the same, and one token too many is returned',
        'code': r'''def generate_with_cache(model, prompt, n_tokens):
    B, T = prompt.shape
    with torch.no_grad():
        cache = model.new_cache(B, T + n_tokens)
        new = model(prompt, cache, 0)[:, -1].argmax(-1, keepdim=True)
        ids = [prompt, new]
        for start in range(T, T + n_tokens - 1):
            new = model(new, cache, start)[:, -1].argmax(-1, keepdim=True)
            ids.append(new)
    return torch.cat(ids, dim=1)
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'generate_with_cache',
        'kind': 'wrong',
        'note': 'one call too many: the last token is read by the model as well',
        'code': r'''def generate_with_cache(model, prompt, n_tokens):
    with torch.no_grad():
        B, T = prompt.shape
        if n_tokens == 0:
            return prompt.clone()
        cache = model.new_cache(B, T + n_tokens)
        logits, ids, start = model(prompt, cache, 0), prompt, T
        for _ in range(n_tokens):
            token = logits[:, -1].argmax(dim=-1)[:, None]
            ids = torch.cat([ids, token], dim=1)
            logits = model(token, cache, start)
            start += 1
        return ids
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'generate_with_cache',
        'kind': 'wrong',
        'note': 'each token is written one position too late (start counts the new token already), so a row of zeros is read',
        'code': r'''def generate_with_cache(model, prompt, n_tokens):
    B, T = prompt.shape
    if n_tokens == 0:
        return prompt.clone()
    ids = prompt
    with torch.no_grad():
        cache = model.new_cache(B, T + n_tokens)
        new = model(prompt, cache, 0)[:, -1].argmax(-1, keepdim=True)
        ids = torch.cat((ids, new), 1)
        for _ in range(n_tokens - 1):
            new = model(new, cache, ids.shape[1])[:, -1].argmax(-1, keepdim=True)
            ids = torch.cat((ids, new), 1)
    return ids
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'sliding_window_mask',
        'kind': 'wrong',
        'note': 'the window is one too wide: window positions before the query are still open',
        'code': r'''def sliding_window_mask(T, window, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, which is less than T = {T}")
    if window < 1:
        raise ValueError(f"window is {window}, which is below 1")
    gap = torch.arange(S - T, S, device=device)[:, None] - torch.arange(S, device=device)
    return (gap < 0) | (gap > window)
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'sliding_window_mask',
        'kind': 'wrong',
        'note': 'keys after the query are not blocked',
        'code': r'''def sliding_window_mask(T, window, S=None, device=None):
    if S is None:
        S = T
    if S < T or window < 1:
        raise ValueError(f"S is {S}, T is {T}, window is {window}")
    i = torch.arange(T, device=device).unsqueeze(1) + (S - T)
    j = torch.arange(S, device=device).unsqueeze(0)
    return j <= i - window
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'mean_heads',
        'kind': 'wrong',
        'note': 'groups are made of heads that are G apart, not of neighbours',
        'code': r'''def mean_heads(weight, n_heads, n_groups):
    if n_heads < 1 or n_groups < 1 or n_heads % n_groups or weight.shape[0] % n_heads:
        raise ValueError(f"n_heads is {n_heads}, n_groups is {n_groups}, and weight has {weight.shape[0]} rows")
    K = weight.shape[0] // n_heads
    return weight.reshape(n_heads // n_groups, n_groups * K, -1).mean(dim=0)
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'mean_heads',
        'kind': 'wrong',
        'note': 'does not check that n_heads divides the rows: // rounds, and the view fails or rows are lost',
        'code': r'''def mean_heads(weight, n_heads, n_groups):
    if n_heads < 1 or n_groups < 1 or n_heads % n_groups:
        raise ValueError(f"n_groups is {n_groups} and n_heads is {n_heads}")
    K = weight.shape[0] // n_heads
    heads = [weight[h * K:(h + 1) * K] for h in range(n_heads)]
    size = n_heads // n_groups
    return torch.cat([sum(heads[g * size:(g + 1) * size]) / size for g in range(n_groups)])
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'GroupedQueryAttention',
        'kind': 'wrong',
        'note': 'repeat instead of repeat_interleave: head h reads group h % G',
        'code': r'''class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_groups):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads}, d_model is {d_model}")
        if n_groups < 1 or n_heads % n_groups:
            raise ValueError(f"n_groups is {n_groups}, n_heads is {n_heads}")
        self.H, self.G, self.K = n_heads, n_groups, d_model // n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.G * self.K, bias=False)
        self.W_v = nn.Linear(d_model, self.G * self.K, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.H, self.K).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.G, self.K).transpose(1, 2).repeat(1, self.H // self.G, 1, 1)
        v = self.W_v(x).view(B, T, self.G, self.K).transpose(1, 2).repeat(1, self.H // self.G, 1, 1)
        scores = q @ k.mT / self.K ** 0.5
        if mask is not None:
            gone = mask.all(-1, keepdim=True)
            weights = scores.masked_fill(mask & ~gone, -math.inf).softmax(-1).masked_fill(gone, 0.0)
        else:
            weights = scores.softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).reshape(B, T, D)), weights
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'GroupedQueryAttention',
        'kind': 'wrong',
        'note': 'a fully blocked row gets NaN',
        'code': r'''class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, n_heads, n_groups):
        super().__init__()
        if not (n_heads >= 1 and d_model % n_heads == 0):
            raise ValueError(f"n_heads is {n_heads}, and has to divide d_model = {d_model}")
        if not (n_groups >= 1 and n_heads % n_groups == 0):
            raise ValueError(f"n_groups is {n_groups}, and has to divide n_heads = {n_heads}")
        self.sizes = n_groups, n_heads // n_groups, d_model // n_heads
        narrow = n_groups * (d_model // n_heads)
        self.W_q, self.W_k = nn.Linear(d_model, d_model, bias=False), nn.Linear(d_model, narrow, bias=False)
        self.W_v, self.W_o = nn.Linear(d_model, narrow, bias=False), nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        G, R, K = self.sizes
        q = self.W_q(x).unflatten(-1, (G, R, K))
        k, v = self.W_k(x).unflatten(-1, (G, K)), self.W_v(x).unflatten(-1, (G, K))
        scores = torch.einsum("btgrk,bsgk->bgrts", q, k).flatten(1, 2) / math.sqrt(K)
        if mask is not None:
            scores = scores.masked_fill(mask, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        out = torch.einsum("bgrts,bsgk->btgrk", weights.unflatten(1, (G, R)), v)
        return self.W_o(out.flatten(2)), weights
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'mean_heads',
        'kind': 'right',
        'note': 'a matrix of shares, multiplied from the left',
        'code': r'''def mean_heads(weight, n_heads, n_groups):
    rows = weight.shape[0]
    if min(n_heads, n_groups) < 1:
        raise ValueError(f"n_heads is {n_heads} and n_groups is {n_groups}; both must be at least 1")
    if n_heads % n_groups != 0 or rows % n_heads != 0:
        raise ValueError(f"n_heads = {n_heads} must be a multiple of n_groups = {n_groups} and divide {rows}")
    size = n_heads // n_groups
    share = torch.eye(n_groups, dtype=weight.dtype, device=weight.device).repeat_interleave(size, dim=1) / size
    return torch.tensordot(share, weight.unflatten(0, (n_heads, -1)), dims=1).flatten(0, 1)
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'sliding_window_mask',
        'kind': 'right',
        'note': 'two triangles, exclusive or',
        'code': r'''def sliding_window_mask(T, window, S=None, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError(f"S is {S}; it must not be less than T = {T}")
    if window < 1:
        raise ValueError(f"window must be at least 1, not {window}")
    ones = torch.ones(T, S, dtype=torch.bool, device=device)
    not_after = ones.tril(S - T)
    too_old = ones.tril(S - T - window)
    return ~(not_after ^ too_old)
''',
    },
    {
        'lesson': '09_cache',
        'exercise': 'append_to_cache',
        'kind': 'right',
        'note': 'unbinds both parts and stacks all positions, without torch.cat',
        'code': r'''def append_to_cache(cache, key, value):
    if cache is None:
        return key, value

    def longer(name, old, new):
        if old.shape[:2] + old.shape[3:] != new.shape[:2] + new.shape[3:]:
            raise ValueError(f"{name} has the shape {tuple(new.shape)}, but the cache {tuple(old.shape)}")
        return torch.stack([*old.unbind(2), *new.unbind(2)], dim=2)

    return longer("key", cache[0], key), longer("value", cache[1], value)
''',
    },
    {
        'lesson': '10_tiles',
        'exercise': 'logsumexp_of',
        'kind': 'wrong',
        'note': 'no maximum is subtracted, but scores are limited to 80: wrong above, and -inf far below 0',
        'code': r'''def logsumexp_of(scores):
    return torch.exp(scores.clamp(max=80.0)).sum(dim=-1).log()
''',
    },
    {
        'lesson': '10_tiles',
        'exercise': 'logsumexp_of',
        'kind': 'wrong',
        'note': 'NaN in the gradient of a row in which everything is -inf (log of 0)',
        'code': r'''def logsumexp_of(scores):
    highest = scores.detach().amax(dim=-1, keepdim=True)
    highest = torch.where(highest == -math.inf, torch.zeros_like(highest), highest)
    return torch.log(torch.exp(scores - highest).sum(dim=-1)) + highest.squeeze(-1)
''',
    },
    {
        'lesson': '10_tiles',
        'exercise': 'logsumexp_of',
        'kind': 'wrong',
        'note': 'a row of -inf gives -1e30 instead of -inf',
        'code': r'''def logsumexp_of(scores):
    highest = scores.detach().amax(dim=-1, keepdim=True).clamp(min=-1e30)
    total = torch.exp(scores - highest).sum(dim=-1)
    return total.clamp(min=1e-30).log() + highest[..., 0]
''',
    },
    {
        'lesson': '10_tiles',
        'exercise': 'partial_attention',
        'kind': 'wrong',
        'note': 'the log-sum-exp is that of the unscaled scores',
        'code': r'''def partial_attention(query, key, value, mask=None):
    scores = query @ key.mT
    if mask is not None:
        scores = scores.masked_fill(mask, -math.inf)

    def lse_of(s):
        m = s.detach().amax(-1, keepdim=True)
        m = m.masked_fill(m == -math.inf, 0.0)
        z = torch.exp(s - m).sum(-1)
        empty = z == 0
        return (torch.where(empty, torch.ones_like(z), z).log() + m[..., 0]).masked_fill(empty, -math.inf)

    scaled = scores / math.sqrt(query.shape[-1])
    lse = lse_of(scaled)
    weights = torch.exp(scaled - lse.masked_fill(lse == -math.inf, 0.0)[..., None])
    return weights @ value, lse_of(scores)
''',
    },
    {
        'lesson': '10_tiles',
        'exercise': 'partial_attention',
        'kind': 'wrong',
        'note': 'the log-sum-exp counts the blocked keys, too',
        'code': r'''def partial_attention(query, key, value, mask=None):
    scores = torch.einsum("...tk,...sk->...ts", query, key) * query.shape[-1] ** -0.5
    highest = scores.amax(-1, keepdim=True)
    powers = torch.exp(scores - highest)
    lse = powers.sum(-1).log() + highest[..., 0]
    if mask is not None:
        powers = powers.masked_fill(mask, 0.0)
    total = powers.sum(-1, keepdim=True)
    weights = powers / torch.where(total > 0, total, torch.ones_like(total))
    return weights @ value, lse
''',
    },
    {
        'lesson': '10_tiles',
        'exercise': 'partial_attention',
        'kind': 'wrong',
        'note': 'a fully blocked row: the output is 0, but the log-sum-exp is -1e9 and not -inf',
        'code': r'''def partial_attention(query, key, value, mask=None):
    scores = query @ key.transpose(-1, -2) / math.sqrt(key.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask, -1e9)
    m = scores.amax(-1, keepdim=True).detach()
    powers = torch.exp(scores - m)
    if mask is not None:
        powers = powers.masked_fill(mask, 0.0)
    z = powers.sum(-1, keepdim=True)
    z = torch.where(z == 0, torch.ones_like(z), z)
    return powers @ value / z, (z.log() + m).squeeze(-1)
''',
    },
    {
        'lesson': '10_tiles',
        'exercise': 'merge',
        'kind': 'wrong',
        'note': 'NaN where both sides are -inf',
        'code': r'''def merge(output, lse, other_output, other_lse):
    highest = torch.maximum(lse, other_lse)
    a, b = torch.exp(lse - highest), torch.exp(other_lse - highest)
    total = a + b
    merged = (a / total)[..., None] * output + (b / total)[..., None] * other_output
    return merged, highest + total.log()
''',
    },
    {
        'lesson': '10_tiles',
        'exercise': 'merge',
        'kind': 'wrong',
        'note': 'exponentials without a maximum: overflow for log-sum-exps above 88',
        'code': r'''def merge(output, lse, other_output, other_lse):
    a, b = lse.exp(), other_lse.exp()
    total = a + b
    safe = torch.where(total > 0, total, torch.ones_like(total))
    merged = (a[..., None] * output + b[..., None] * other_output) / safe[..., None]
    return merged, torch.where(total > 0, safe.log(), torch.full_like(total, -math.inf))
''',
    },
    {
        'lesson': '10_tiles',
        'exercise': 'merge',
        'kind': 'wrong',
        'note': 'the log-sum-exp of both is the larger one, not the logarithm of the sum',
        'code': r'''def merge(output, lse, other_output, other_lse):
    highest = torch.maximum(lse, other_lse)
    both = highest == -math.inf
    base = highest.masked_fill(both, 0.0)
    a, b = (lse - base).exp(), (other_lse - base).exp()
    total = (a + b).masked_fill(both, 1.0)
    merged = (a / total)[..., None] * output + (b / total)[..., None] * other_output
    return merged, highest
''',
    },
    {
        'lesson': '10_tiles',
        'exercise': 'tiled_attention',
        'kind': 'wrong',
        'note': 'the last tile is left out if tile does not divide S',
        'code': r'''def tiled_attention(query, key, value, mask=None, tile=64):
    if tile < 1:
        raise ValueError(f"tile is {tile}, which is below 1")
    T, S = query.shape[-2], key.shape[-2]
    tile = min(tile, S)
    lead = query.shape[:-2]
    m = query.new_full((*lead, T), -math.inf)
    z = query.new_zeros((*lead, T))
    u = query.new_zeros((*lead, T, value.shape[-1]))
    for n in range(S // tile):
        part = slice(n * tile, (n + 1) * tile)
        s = query @ key[..., part, :].mT / math.sqrt(query.shape[-1])
        if mask is not None:
            s = s.masked_fill(mask[..., part] if mask.shape[-1] > 1 else mask, -math.inf)
        new = torch.maximum(m, s.detach().amax(-1))
        safe = new.masked_fill(new == -math.inf, 0.0)
        p = torch.exp(s - safe[..., None])
        shrink = torch.exp(m - safe)
        z = z * shrink + p.sum(-1)
        u = u * shrink[..., None] + p @ value[..., part, :]
        m = new
    empty = z == 0
    z = z.masked_fill(empty, 1.0)
    return u / z[..., None], (m.masked_fill(empty, 0.0) + z.log()).masked_fill(empty, -math.inf)
''',
    },
    {
        'lesson': '10_tiles',
        'exercise': 'tiled_attention',
        'kind': 'wrong',
        'note': 'a mask whose last dimension is 1 is cut like the keys, and later tiles get an empty mask',
        'code': r'''def tiled_attention(query, key, value, mask=None, tile=64):
    if tile < 1:
        raise ValueError(f"tile must be at least 1, but it is {tile}")
    scale = query.shape[-1] ** -0.5
    m = torch.full(query.shape[:-1], -math.inf, dtype=query.dtype, device=query.device)
    z, u = torch.zeros_like(m), 0.0
    for a in range(0, key.shape[-2], tile):
        s = (query * scale) @ key[..., a:a + tile, :].transpose(-2, -1)
        if mask is not None:
            s = s.masked_fill(mask[..., a:a + tile], -math.inf)
        new = torch.maximum(m, s.amax(-1).detach())
        base = torch.where(new == -math.inf, torch.zeros_like(new), new)
        p = (s - base.unsqueeze(-1)).exp()
        old = (m - base).exp()
        z = old * z + p.sum(-1)
        u = old.unsqueeze(-1) * u + p @ value[..., a:a + tile, :]
        m = new
    none = z == 0
    z = torch.where(none, torch.ones_like(z), z)
    lse = torch.where(none, torch.full_like(z, -math.inf), torch.where(none, torch.zeros_like(m), m) + z.log())
    return u / z.unsqueeze(-1), lse
''',
    },
    {
        'lesson': '10_tiles',
        'exercise': 'tiled_attention',
        'kind': 'wrong',
        'note': 'computes all scores at once and only adds up in tiles: too much memory',
        'code': r'''def tiled_attention(query, key, value, mask=None, tile=64):
    if tile < 1:
        raise ValueError(f"tile is {tile}")
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask, -math.inf)
    m = scores.detach().amax(-1, keepdim=True)
    m = m.masked_fill(m == -math.inf, 0.0)
    z, u = 0.0, 0.0
    for a in range(0, key.shape[-2], tile):
        p = torch.exp(scores[..., a:a + tile] - m)
        z = z + p.sum(-1)
        u = u + p @ value[..., a:a + tile, :]
    none = z == 0
    z = z.masked_fill(none, 1.0)
    return u / z[..., None], (m[..., 0] + z.log()).masked_fill(none, -math.inf)
''',
    },
    {
        'lesson': '10_tiles',
        'exercise': 'causal_tiled_attention',
        'kind': 'wrong',
        'note': 'computes the blocks above the diagonal, too, and masks them',
        'code': r'''def causal_tiled_attention(query, key, value, tile=64):
    if tile < 1:
        raise ValueError(f"tile is {tile}, but must be at least 1")
    T = query.shape[-2]
    outs, lses = [], []
    for a in range(0, T, tile):
        q = query[..., a:a + tile, :] / math.sqrt(query.shape[-1])
        m = torch.full(q.shape[:-1], -math.inf, dtype=q.dtype, device=q.device)
        z, u = torch.zeros_like(m), 0.0
        for b in range(0, T, tile):
            s = q @ key[..., b:b + tile, :].mT
            i = torch.arange(a, a + s.shape[-2], device=q.device)[:, None]
            s = s.masked_fill(torch.arange(b, b + s.shape[-1], device=q.device) > i, -math.inf)
            new = torch.maximum(m, s.amax(-1).detach())
            p, old = torch.exp(s - new[..., None]), torch.exp(m - new)
            z = z * old + p.sum(-1)
            u = u * old[..., None] + p @ value[..., b:b + tile, :]
            m = new
        outs.append(u / z[..., None])
        lses.append(m + z.log())
    return torch.cat(outs, -2), torch.cat(lses, -1)
''',
    },
    {
        'lesson': '10_tiles',
        'exercise': 'tiled_backward',
        'kind': 'wrong',
        'note': 'the scale is missing in the gradient of the keys',
        'code': r'''def tiled_backward(query, key, value, output, lse, grad_output, tile=64):
    scale = query.shape[-1] ** -0.5
    c = (grad_output * output).sum(-1, keepdim=True)
    grad_query, keys, values = torch.zeros_like(query), [], []
    for a in range(0, key.shape[-2], tile):
        k, v = key[..., a:a + tile, :], value[..., a:a + tile, :]
        weights = torch.exp(query @ k.mT * scale - lse[..., None])
        values.append(weights.mT @ grad_output)
        grad_scores = weights * (grad_output @ v.mT - c)
        grad_query = grad_query + grad_scores @ k * scale
        keys.append(grad_scores.mT @ query)
    return grad_query, torch.cat(keys, -2), torch.cat(values, -2)
''',
    },
    {
        'lesson': '10_tiles',
        'exercise': 'tiled_backward',
        'kind': 'wrong',
        'note': 'c is averaged over the keys of each tile, not over all keys',
        'code': r'''def tiled_backward(query, key, value, output, lse, grad_output, tile=64):
    scale = 1 / math.sqrt(query.shape[-1])
    gq, gk, gv = torch.zeros_like(query), torch.zeros_like(key), torch.zeros_like(value)
    for a in range(0, key.shape[-2], tile):
        s = slice(a, a + tile)
        w = torch.exp(torch.einsum("...tk,...sk->...ts", query, key[..., s, :]) * scale - lse.unsqueeze(-1))
        b = torch.einsum("...tv,...sv->...ts", grad_output, value[..., s, :])
        c = (w * b).sum(-1, keepdim=True)
        d = w * (b - c) * scale
        gv[..., s, :] = w.transpose(-1, -2) @ grad_output
        gq += d @ key[..., s, :]
        gk[..., s, :] = d.transpose(-1, -2) @ query
    return gq, gk, gv
''',
    },
    {
        'lesson': '10_tiles',
        'exercise': 'logsumexp_of',
        'kind': 'right',
        'note': 'the largest score is taken out of the sum, log1p of the rest',
        'code': r'''def logsumexp_of(scores):
    empty = (scores == -math.inf).all(dim=-1)
    filled = torch.where(empty[..., None], torch.zeros_like(scores), scores)
    order = filled.sort(dim=-1, descending=True).values
    top, rest = order[..., :1], order[..., 1:]
    result = top[..., 0] + torch.log1p(torch.exp(rest - top).sum(dim=-1))
    return torch.where(empty, torch.full_like(result, -math.inf), result)
''',
    },
    {
        'lesson': '10_tiles',
        'exercise': 'merge',
        'kind': 'right',
        'note': 'everything from one sigmoid of the difference; log of the sum by log1p',
        'code': r'''def merge(output, lse, other_output, other_lse):
    one, two = lse == -math.inf, other_lse == -math.inf
    a = torch.where(one, torch.where(two, torch.zeros_like(lse), other_lse), lse)
    b = torch.where(two, torch.where(one, torch.zeros_like(lse), lse), other_lse)
    difference = a - b
    share = torch.sigmoid(difference)
    share = torch.where(one, torch.zeros_like(share), torch.where(two, torch.ones_like(share), share))[..., None]
    first = torch.where(one[..., None], torch.zeros_like(output), output)
    second = torch.where(two[..., None], torch.zeros_like(other_output), other_output)
    both = torch.maximum(a, b) + torch.log1p(torch.exp(-difference.abs()))
    both = torch.where(one, other_lse, torch.where(two, lse, both))
    return share * first + (1 - share) * second, both
''',
    },
    {
        'lesson': '10_tiles',
        'exercise': 'partial_attention',
        'kind': 'right',
        'note': 'one key at a time, online, with running maximum, sum and weighted sum',
        'code': r'''def partial_attention(query, key, value, mask=None):
    S = key.shape[-2]
    scale = 1 / math.sqrt(query.shape[-1])
    highest = query.new_full(query.shape[:-1], -math.inf)
    total, weighted = torch.zeros_like(highest), query.new_zeros((*query.shape[:-1], value.shape[-1]))
    if mask is not None:
        mask = mask.expand(*query.shape[:-1], S)
    for j in range(S):
        score = (query * key[..., j:j + 1, :]).sum(-1) * scale
        open_ = torch.ones_like(score, dtype=torch.bool) if mask is None else ~mask[..., j]
        new = torch.where(open_, torch.maximum(highest, score.detach()), highest)
        base = torch.where(new == -math.inf, torch.zeros_like(new), new)
        old = torch.exp(highest - base)
        part = torch.exp(torch.where(open_, score - base, torch.zeros_like(score))) * open_.to(score.dtype)
        total = total * old + part
        weighted = weighted * old[..., None] + part[..., None] * value[..., j:j + 1, :]
        highest = new
    none = total == 0
    safe = torch.where(none, torch.ones_like(total), total)
    lse = torch.where(none, torch.full_like(total, -math.inf), torch.where(none, safe, highest) + safe.log())
    return weighted / safe[..., None], lse
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'split_qkv',
        'kind': 'wrong',
        'note': 'views of the checkpoint, not copies',
        'code': r'''def split_qkv(weight, bias):
    D = weight.shape[0]
    return tuple((weight[:, n * D:(n + 1) * D].T, bias[n * D:(n + 1) * D]) for n in range(3))
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'split_qkv',
        'kind': 'wrong',
        'note': 'the weights are copied, the biases are still views',
        'code': r'''def split_qkv(weight, bias):
    weights = weight.T.chunk(3, dim=0)
    biases = bias.chunk(3)
    return tuple((w.contiguous().clone(), b) for w, b in zip(weights, biases))
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'split_qkv',
        'kind': 'wrong',
        'note': 'not transposed: (in, out) instead of (out, in)',
        'code': r'''def split_qkv(weight, bias):
    W_q, W_k, W_v = (w.clone() for w in weight.chunk(3, dim=1))
    b_q, b_k, b_v = (b.clone() for b in bias.chunk(3, dim=0))
    return (W_q, b_q), (W_k, b_k), (W_v, b_v)
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'load_gpt2',
        'kind': 'wrong',
        'note': 'copies while it checks: after an error a part has been copied',
        'code': r'''def load_gpt2(model, checkpoint):
    state = model.state_dict()

    def put(name, source, turn=False, part=None):
        if source not in checkpoint:
            raise KeyError(source)
        t = checkpoint[source]
        if turn:
            t = t.T
        if part is not None:
            if t.shape[0] % 3:
                raise ValueError(f"{source} is {tuple(checkpoint[source].shape)}, not {tuple(t.shape)}")
            t = t.chunk(3)[part]
        if t.shape != state[name].shape:
            raise ValueError(f"{source}: {tuple(t.shape)} does not fit {tuple(state[name].shape)}")
        with torch.no_grad():
            state[name].copy_(t)

    put("tokens.weight", "wte.weight")
    put("places.weight", "wpe.weight")
    for i in range(len(model.blocks)):
        for end in ("weight", "bias"):
            turn = end == "weight"
            for n in (1, 2):
                put(f"blocks.{i}.norm_{n}.{end}", f"h.{i}.ln_{n}.{end}")
            for part, letter in enumerate("qkv"):
                put(f"blocks.{i}.attention.W_{letter}.{end}", f"h.{i}.attn.c_attn.{end}", turn, part)
            put(f"blocks.{i}.attention.W_o.{end}", f"h.{i}.attn.c_proj.{end}", turn)
            put(f"blocks.{i}.mlp.0.{end}", f"h.{i}.mlp.c_fc.{end}", turn)
            put(f"blocks.{i}.mlp.2.{end}", f"h.{i}.mlp.c_proj.{end}", turn)
    put("norm.weight", "ln_f.weight")
    put("norm.bias", "ln_f.bias")
    return model
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'load_gpt2',
        'kind': 'wrong',
        'note': 'square matrices are not turned: c_proj of attention, whose shape fits either way',
        'code': r'''def load_gpt2(model, checkpoint):
    state = model.state_dict()
    table = {"tokens.weight": "wte.weight", "places.weight": "wpe.weight",
             "norm.weight": "ln_f.weight", "norm.bias": "ln_f.bias"}
    parts = {"norm_1": "ln_1", "norm_2": "ln_2", "attention.W_o": "attn.c_proj", "mlp.0": "mlp.c_fc", "mlp.2": "mlp.c_proj"}
    for i in range(len(model.blocks)):
        for ours, theirs in parts.items():
            for end in ("weight", "bias"):
                table[f"blocks.{i}.{ours}.{end}"] = f"h.{i}.{theirs}.{end}"
    new = {}
    for ours, theirs in table.items():
        t, want = checkpoint[theirs], state[ours]
        if t.shape != want.shape:
            t = t.mT if t.ndim == 2 else t
        if t.shape != want.shape:
            raise ValueError(f"{theirs} is {tuple(checkpoint[theirs].shape)}, the model needs {tuple(want.shape)}")
        new[ours] = t
    D = state["tokens.weight"].shape[1]
    for i in range(len(model.blocks)):
        w, b = checkpoint[f"h.{i}.attn.c_attn.weight"], checkpoint[f"h.{i}.attn.c_attn.bias"]
        for name, t, want in (("weight", w, (D, 3 * D)), ("bias", b, (3 * D,))):
            if tuple(t.shape) != want:
                raise ValueError(f"h.{i}.attn.c_attn.{name} is {tuple(t.shape)}, the model needs {want}")
        for n, letter in enumerate("qkv"):
            new[f"blocks.{i}.attention.W_{letter}.weight"] = w[:, n * D:(n + 1) * D].T
            new[f"blocks.{i}.attention.W_{letter}.bias"] = b[n * D:(n + 1) * D]
    with torch.no_grad():
        for name, t in new.items():
            state[name].copy_(t)
    return model
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'logit_lens',
        'kind': 'wrong',
        'note': 'the last layer is unembedded without the norm',
        'code': r'''def logit_lens(hidden, norm, unembedding):
    logits = [norm(h) @ unembedding.T for h in hidden[:-1]]
    return torch.stack(logits + [hidden[-1] @ unembedding.T])
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'logit_lens',
        'kind': 'wrong',
        'note': 'replaces the given norm by a plain layer norm without weights',
        'code': r'''def logit_lens(hidden, norm, unembedding):
    normalised = F.layer_norm(hidden, hidden.shape[-1:])
    return torch.einsum("lbtd,nd->lbtn", normalised, unembedding)
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'induction_score',
        'kind': 'wrong',
        'note': 'reads the position of the token itself a period ago, not the one after it',
        'code': r'''def induction_score(weights, period):
    T = weights.shape[-1]
    if not 1 <= period < T:
        raise ValueError(f"period is {period}, but must be from 1 to {T - 1}")
    return weights.diagonal(offset=-period, dim1=-2, dim2=-1).mean(-1)
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'induction_score',
        'kind': 'wrong',
        'note': 'averages over the whole diagonal, and so over queries before the period as well',
        'code': r'''def induction_score(weights, period):
    T = weights.shape[-1]
    if period < 1 or period >= T:
        raise ValueError(f"period is {period}, T is {T}")
    return torch.diagonal(weights, 1 - period, -2, -1).mean(dim=-1)
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'induction_score',
        'kind': 'wrong',
        'note': 'period = T is not rejected: the mean of nothing is NaN',
        'code': r'''def induction_score(weights, period):
    T = weights.shape[-1]
    if not 1 <= period <= T:
        raise ValueError(f"period = {period} is not from 1 to T = {T}")
    t = torch.arange(period, T, device=weights.device)
    return weights[..., t, t - period + 1].mean(-1)
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'ablate',
        'kind': 'wrong',
        'note': 'writes zeros into the tensor that it was given',
        'code': r'''def ablate(head_outputs, heads, mean=None):
    with torch.no_grad():
        for h in heads:
            head_outputs[:, h] = 0.0 if mean is None else mean[h].unsqueeze(0)
    return head_outputs
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'ablate',
        'kind': 'wrong',
        'note': 'a mean is put in the order of the list, not by head: heads [2, 0] get rows 0 and 1',
        'code': r'''def ablate(head_outputs, heads, mean=None):
    out = head_outputs.clone()
    for n, h in enumerate(heads):
        out[:, h] = 0 if mean is None else mean[n]
    return out
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'ablate',
        'kind': 'wrong',
        'note': 'detaches: the other heads lose their gradient',
        'code': r'''def ablate(head_outputs, heads, mean=None):
    result = head_outputs.detach().clone()
    if heads:
        result[:, heads] = 0.0 if mean is None else mean[heads][None, :, None, :].to(result.dtype)
    return result
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'necessary_heads',
        'kind': 'wrong',
        'note': 'takes the heads with the highest scores until the behaviour is gone, and never puts one back',
        'code': r'''def necessary_heads(loss_without, scores, chance):
    L, H = scores.shape
    heads = sorted(((l, h) for l in range(L) for h in range(H)), key=lambda p: -float(scores[p]))
    if loss_without(heads) < chance:
        raise ValueError(f"chance is {chance}, more than the loss without all heads")
    removed = []
    for head in heads:
        if loss_without(removed) >= chance:
            break
        removed.append(head)
    return removed
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'necessary_heads',
        'kind': 'wrong',
        'note': 'tests each head alone against the full set, but does not take it out before the next test',
        'code': r'''def necessary_heads(loss_without, scores, chance):
    every = [(l, h) for l in range(scores.shape[0]) for h in range(scores.shape[1])]
    if loss_without(every) < chance:
        raise ValueError(f"chance is {chance}: the loss without all heads is below it")
    return [p for p in every if loss_without([q for q in every if q != p]) < chance]
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'necessary_heads',
        'kind': 'wrong',
        'note': 'looks for the smallest set among those of one and two heads only',
        'code': r'''from itertools import combinations

def necessary_heads(loss_without, scores, chance):
    every = [(l, h) for l in range(scores.shape[0]) for h in range(scores.shape[1])]
    if loss_without(every) < chance:
        raise ValueError(f"chance = {chance} is never reached")
    for size in range(3):
        for some in combinations(every, size):
            if loss_without(list(some)) >= chance:
                return list(some)
    return every
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'qk_circuit',
        'kind': 'wrong',
        'note': 'takes columns of the head instead of rows',
        'code': r'''def qk_circuit(W_q, W_k, head, n_heads):
    D = W_q.shape[0]
    if n_heads < 1 or D % n_heads:
        raise ValueError(f"n_heads is {n_heads}, D is {D}")
    if not 0 <= head < n_heads:
        raise ValueError(f"head is {head}, n_heads is {n_heads}")
    own = slice(head * D // n_heads, (head + 1) * D // n_heads)
    return W_q[:, own] @ W_k[:, own].T
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'qk_circuit',
        'kind': 'wrong',
        'note': 'a head of -1 is accepted and means the last one',
        'code': r'''def qk_circuit(W_q, W_k, head, n_heads):
    D = W_q.shape[-1]
    if n_heads < 1 or D % n_heads != 0:
        raise ValueError(f"n_heads is {n_heads}, but has to divide {D}")
    if head >= n_heads:
        raise ValueError(f"head is {head}, but there are only {n_heads}")
    q = W_q.unflatten(0, (n_heads, -1))
    k = W_k.unflatten(0, (n_heads, -1))
    return torch.einsum("kd,ke->de", q[head], k[head])
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'necessary_heads',
        'kind': 'right',
        'note': 'subsets in order of size: the smallest list is always minimal',
        'code': r'''from itertools import combinations

def necessary_heads(loss_without, scores, chance):
    L, H = tuple(scores.shape)
    every = [divmod(n, H) for n in range(L * H)]
    if loss_without(list(every)) < chance:
        raise ValueError(f"chance is {chance}, but the loss without all heads is lower")
    sizes = (subset for size in range(len(every) + 1) for subset in combinations(every, size))
    return next(list(subset) for subset in sizes if loss_without(list(subset)) >= chance)
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'ablate',
        'kind': 'right',
        'note': 'a product with a mask of ones and zeros, plus the masked mean',
        'code': r'''def ablate(head_outputs, heads, mean=None):
    B, H, T, K = head_outputs.shape
    keep = torch.tensor([h not in set(heads) for h in range(H)], device=head_outputs.device)[:, None, None]
    other = torch.zeros_like(head_outputs) if mean is None else mean[:, None, :].expand(B, H, T, K)
    return torch.where(keep, head_outputs, other)
''',
    },
    {
        'lesson': '11_real_model',
        'exercise': 'induction_score',
        'kind': 'right',
        'note': 'a mask of the wanted places by roll of an identity, einsum',
        'code': r'''def induction_score(weights, period):
    T = weights.shape[-1]
    if not (isinstance(period, int) and 1 <= period < T):
        raise ValueError(f"period is {period}, and should be from 1 to {T - 1}")
    wanted = torch.zeros(T, T, dtype=weights.dtype, device=weights.device)
    for t in range(period, T):
        wanted[t, t - period + 1] = 1 / (T - period)
    return torch.einsum("...ij,ij->...", weights, wanted)
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'CrossAttention',
        'kind': 'wrong',
        'note': 'padding is zeroed after the softmax, so that the weights of a row no longer sum to 1',
        'code': r'''class CrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def forward(self, x, source, source_mask=None):
        q, k, v = (
            t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
            for t in (self.W_q(x), self.W_k(source), self.W_v(source))
        )
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        weights = scores.softmax(-1)
        if source_mask is not None:
            weights = weights.masked_fill(source_mask[:, None, None, :], 0.0)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2)), weights
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'CrossAttention',
        'kind': 'wrong',
        'note': 'a source of padding only gets NaN',
        'code': r'''class CrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.H, self.K = n_heads, d_model // n_heads
        for name in ("W_q", "W_k", "W_v", "W_o"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, x, source, source_mask=None):
        B, T, D = x.shape
        S = source.shape[1]
        q = self.W_q(x).reshape(B, T, self.H, self.K)
        k = self.W_k(source).reshape(B, S, self.H, self.K)
        v = self.W_v(source).reshape(B, S, self.H, self.K)
        scores = torch.einsum("bthk,bshk->bhts", q, k) / self.K ** 0.5
        if source_mask is not None:
            scores = scores.masked_fill(source_mask[:, None, None, :], float("-inf"))
        weights = torch.softmax(scores, dim=-1)
        return self.W_o(torch.einsum("bhts,bshk->bthk", weights, v).flatten(2)), weights
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'CrossAttention',
        'kind': 'wrong',
        'note': "SDPA's mask has the opposite sense, and is given the source mask as it is",
        'code': r'''class CrossAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, source, source_mask=None):
        cut = lambda t: t.view(*t.shape[:2], self.n_heads, -1).transpose(1, 2)
        q, k, v = cut(self.W_q(x)), cut(self.W_k(source)), cut(self.W_v(source))
        mask = None if source_mask is None else source_mask[:, None, None, :].expand(-1, 1, x.shape[1], -1)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if source_mask is not None:
            none = source_mask.all(-1)[:, None, None, None]
            scores = scores.masked_fill(mask & ~none, -math.inf)
            weights = scores.softmax(-1).masked_fill(none, 0.0)
        else:
            weights = scores.softmax(-1)
        return self.W_o(out.transpose(1, 2).flatten(2)), weights
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'teacher_inputs',
        'kind': 'wrong',
        'note': 'roll instead of shift, in place of begin only in the first row',
        'code': r'''def teacher_inputs(targets, begin):
    shifted = targets.roll(1, dims=1)
    shifted[0, 0] = begin
    return shifted
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'teacher_inputs',
        'kind': 'wrong',
        'note': 'begin is added, and the last target is not dropped: (B, T + 1)',
        'code': r'''def teacher_inputs(targets, begin):
    first = torch.full((len(targets), 1), begin, dtype=targets.dtype, device=targets.device)
    return torch.cat([first, targets], dim=1)
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'teacher_inputs',
        'kind': 'wrong',
        'note': 'shifts in place, so that the loss has the shifted targets, too',
        'code': r'''def teacher_inputs(targets, begin):
    for row in targets:
        row[1:] = row[:-1].clone()
        row[0] = begin
    return targets
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'EncoderDecoder',
        'kind': 'wrong',
        'note': 'passes the mask by name',
        'code': r'''class EncoderDecoder(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def encode(self, source, source_mask=None):
        return self.encoder(source, source_mask=source_mask)

    def decode(self, targets_in, memory, source_mask=None):
        return self.decoder(targets_in, memory, source_mask=source_mask)

    def forward(self, source, targets_in, source_mask=None):
        return self.decode(targets_in, self.encode(source, source_mask), source_mask)
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'EncoderDecoder',
        'kind': 'wrong',
        'note': 'leaves the mask out where it is None',
        'code': r'''class EncoderDecoder(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def encode(self, source, source_mask=None):
        return self.encoder(source) if source_mask is None else self.encoder(source, source_mask)

    def decode(self, targets_in, memory, source_mask=None):
        extra = () if source_mask is None else (source_mask,)
        return self.decoder(targets_in, memory, *extra)

    def forward(self, source, targets_in, source_mask=None):
        return self.decode(targets_in, self.encode(source, source_mask), source_mask)
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'EncoderDecoder',
        'kind': 'wrong',
        'note': 'forward gives the decoder no mask',
        'code': r'''class EncoderDecoder(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.parts = nn.ModuleList([encoder, decoder])

    def encode(self, source, source_mask=None):
        return self.parts[0](source, source_mask)

    def decode(self, targets_in, memory, source_mask=None):
        return self.parts[1](targets_in, memory, source_mask)

    def forward(self, source, targets_in, source_mask=None):
        memory = self.encode(source, source_mask)
        return self.decode(targets_in, memory)
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'alignment_error',
        'kind': 'wrong',
        'note': 'targets without a source count in the denominator',
        'code': r'''def alignment_error(weights, alignment):
    wrong = (weights.argmax(-1) != alignment) & (alignment >= 0)
    return wrong.to(weights.dtype).mean()
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'alignment_error',
        'kind': 'wrong',
        'note': 'NaN if no target has a source',
        'code': r'''def alignment_error(weights, alignment):
    keep = alignment != -1
    return (weights[keep].argmax(dim=-1) != alignment[keep]).to(weights.dtype).mean()
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'alignment_error',
        'kind': 'wrong',
        'note': 'source position 0 counts as "no source" (> 0 instead of >= 0)',
        'code': r'''def alignment_error(weights, alignment):
    errors = [int(row.argmax()) != a for row, a in zip(weights, alignment.tolist()) if a > 0]
    share = sum(errors) / len(errors) if errors else 0.0
    return torch.tensor(share, dtype=weights.dtype, device=weights.device)
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'beam_search',
        'kind': 'wrong',
        'note': 'compares sums instead of means, so that short sequences win',
        'code': r'''def beam_search(step, begin, end, width, max_length):
    if width < 1:
        raise ValueError(f"width is {width}")
    if max_length < 1:
        raise ValueError(f"max_length is {max_length}")
    beams, done = [(0.0, [begin])], []
    for _ in range(max_length):
        options = []
        for total, ids in beams:
            options += [(total + lp, ids + [j]) for j, lp in enumerate(step(ids).tolist())]
        options = sorted(options, key=lambda o: o[0], reverse=True)[:width]
        done += [o for o in options if o[1][-1] == end]
        beams = [o for o in options if o[1][-1] != end]
        if not beams:
            break
    return max(done + beams, key=lambda o: o[0])[1]
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'beam_search',
        'kind': 'wrong',
        'note': 'a finished sequence takes its place for good: the width shrinks',
        'code': r'''def beam_search(step, begin, end, width, max_length):
    for name, number in (("width", width), ("max_length", max_length)):
        if number < 1:
            raise ValueError(f"{name} is {number}, but must be at least 1")
    beams, done = [(0.0, [begin])], []
    for _ in range(max_length):
        options = [(t + p, ids + [j]) for t, ids in beams for j, p in enumerate(step(ids).tolist())]
        options.sort(key=lambda o: -o[0])
        beams = []
        for o in options[:width - len(done)]:
            (done if o[1][-1] == end else beams).append(o)
        if not beams:
            break
    return max(done + beams, key=lambda o: o[0] / (len(o[1]) - 1))[1]
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'beam_search',
        'kind': 'wrong',
        'note': 'finished sequences do not count among the width of their length',
        'code': r'''def beam_search(step, begin, end, width, max_length):
    if width < 1 or max_length < 1:
        raise ValueError(f"width is {width} and max_length is {max_length}")
    beams, done = [(0.0, [begin])], []
    for _ in range(max_length):
        options = []
        for total, ids in beams:
            for j, p in enumerate(step(ids).tolist()):
                (done if j == end else options).append((total + p, ids + [j]))
        options.sort(key=lambda o: o[0], reverse=True)
        beams = options[:width]
    return max(done + beams, key=lambda o: o[0] / (len(o[1]) - 1))[1]
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'beam_search',
        'kind': 'wrong',
        'note': 'the mean counts begin as a token, too',
        'code': r'''def beam_search(step, begin, end, width, max_length):
    if not width >= 1:
        raise ValueError(f"width is {width}")
    if not max_length >= 1:
        raise ValueError(f"max_length is {max_length}")
    live, best = [([begin], 0.0)], []
    while live and len(live[0][0]) <= max_length:
        grown = [(ids + [j], s + x) for ids, s in live for j, x in enumerate(step(list(ids)).tolist())]
        grown = sorted(grown, key=lambda g: g[1])[::-1][:width]
        live = [g for g in grown if g[0][-1] != end]
        best += [g for g in grown if g[0][-1] == end]
    return max(best + live, key=lambda g: g[1] / len(g[0]))[0]
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'patches',
        'kind': 'wrong',
        'note': 'channel last within a patch: row, column, channel',
        'code': r'''def patches(images, size):
    B, C, H, W = images.shape
    if size < 1 or H % size or W % size:
        raise ValueError(f"size is {size}, but images are {H} x {W}")
    cut = images.reshape(B, C, H // size, size, W // size, size)
    return cut.permute(0, 2, 4, 3, 5, 1).reshape(B, -1, C * size * size)
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'patches',
        'kind': 'wrong',
        'note': 'patches in column order: first down, then right',
        'code': r'''def patches(images, size):
    if size < 1 or images.shape[-1] % size or images.shape[-2] % size:
        raise ValueError(f"size is {size}, images have the shape {tuple(images.shape)}")
    rows = []
    for x in range(0, images.shape[-1], size):
        for y in range(0, images.shape[-2], size):
            rows.append(images[:, :, y:y + size, x:x + size].flatten(1))
    return torch.stack(rows, dim=1)
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'patches',
        'kind': 'wrong',
        'note': 'only the height is checked: a width that size does not divide is cut off',
        'code': r'''def patches(images, size):
    H, W = images.shape[-2:]
    if size < 1 or H % size != 0:
        raise ValueError(f"size is {size}, the height is {H}")
    return F.unfold(images, kernel_size=size, stride=size).transpose(1, 2)
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'patches',
        'kind': 'right',
        'note': 'unfold twice as a view, then movedim and two flattens',
        'code': r'''def patches(images, size):
    H, W = images.shape[2:]
    if not (size >= 1 and H % size == 0 and W % size == 0):
        raise ValueError(f"size is {size}, which has to be at least 1 and divide {H} and {W}")
    squares = images.unfold(2, size, size).unfold(3, size, size)
    return squares.movedim(1, 3).flatten(3).flatten(1, 2)
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'beam_search',
        'kind': 'right',
        'note': 'scores in one flat float64 tensor and topk, sequences as linked tuples',
        'code': r'''def beam_search(step, begin, end, width, max_length):
    if width < 1:
        raise ValueError(f"width is {width}, which is less than 1")
    if max_length < 1:
        raise ValueError(f"max_length is {max_length}, which is less than 1")

    def unroll(link):
        ids = []
        while link is not None:
            link, token = link
            ids.insert(0, token)
        return ids

    links, totals, best = [(None, begin)], torch.zeros(1, dtype=torch.float64), (-math.inf, None)
    for length in range(1, max_length + 1):
        table = torch.stack([step(unroll(link)).detach().cpu().double() for link in links]) + totals[:, None]
        values, places = table.flatten().topk(min(width, table.numel()))
        new_links, new_totals = [], []
        for total, place in zip(values.tolist(), places.tolist()):
            row, token = divmod(place, table.shape[1])
            link = (links[row], token)
            if token == end or length == max_length:
                if best[1] is None or total / length > best[0]:
                    best = (total / length, link)
            if token != end:
                new_links.append(link)
                new_totals.append(total)
        links, totals = new_links, torch.tensor(new_totals, dtype=torch.float64)
        if not links:
            break
    return unroll(best[1])
''',
    },
    {
        'lesson': '12_two_sequences',
        'exercise': 'teacher_inputs',
        'kind': 'right',
        'note': 'constant padding on the left, the last column cut by a negative pad',
        'code': r'''def teacher_inputs(targets, begin):
    return F.pad(targets, (1, -1), value=begin)
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'qk_norm_scores',
        'kind': 'wrong',
        'note': 'normalises by the length (the root of the sum of squares), not by the root of the mean',
        'code': r'''def qk_norm_scores(query, key, gain_q, gain_k):
    q = F.normalize(query, dim=-1) * gain_q
    k = F.normalize(key, dim=-1) * gain_k
    return q @ k.mT * query.shape[-1] ** -0.5
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'qk_norm_scores',
        'kind': 'wrong',
        'note': '1e-6 is added outside the root',
        'code': r'''def qk_norm_scores(query, key, gain_q, gain_k):
    def norm(t, gain):
        return t / (t.pow(2).mean(-1, keepdim=True).sqrt() + 1e-6) * gain

    return torch.einsum("...tk,...sk->...ts", norm(query, gain_q), norm(key, gain_k)) / math.sqrt(query.shape[-1])
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'qk_norm_scores',
        'kind': 'wrong',
        'note': 'the gain of the queries is used for the keys as well',
        'code': r'''def qk_norm_scores(query, key, gain_q, gain_k):
    q, k = (t * torch.rsqrt((t * t).mean(-1, keepdim=True) + 1e-6) * gain_q for t in (query, key))
    return q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'soft_cap',
        'kind': 'wrong',
        'note': 'a score of -inf becomes -cap',
        'code': r'''def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap is {cap}, but must be above 0")
    return cap * torch.tanh(scores / cap)
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'soft_cap',
        'kind': 'wrong',
        'note': 'cap = 0 is accepted, and gives NaN',
        'code': r'''def soft_cap(scores, cap):
    if cap < 0:
        raise ValueError(f"cap is {cap}, which is negative")
    blocked = scores == -math.inf
    capped = cap * torch.tanh(scores.masked_fill(blocked, 0.0) / cap)
    return capped.masked_fill(blocked, -math.inf)
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'soft_cap',
        'kind': 'wrong',
        'note': 'right values, but the gradient of a blocked score is 1, not 0: the score itself is added',
        'code': r'''def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap must be greater than 0, not {cap}")
    blocked = scores == -math.inf
    capped = cap * torch.tanh(scores / cap)
    if not blocked.any():
        return capped
    return capped * (~blocked) + blocked * scores
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'MultiHeadLatentAttention',
        'kind': 'wrong',
        'note': 'scale 1/sqrt(K) instead of 1/sqrt(K + R)',
        'code': r'''class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads:
            raise ValueError(f"n_heads is {n_heads}, d_model is {d_model}")
        if d_rope < 0 or d_rope % 2:
            raise ValueError(f"d_rope is {d_rope}")
        self.H = n_heads
        lin = lambda a, b: nn.Linear(a, b, bias=False)
        self.W_q, self.W_qr, self.W_c = lin(d_model, d_model), lin(d_model, n_heads * d_rope), lin(d_model, d_latent)
        self.W_k, self.W_v, self.W_kr = lin(d_latent, d_model), lin(d_latent, d_model), lin(d_model, d_rope)
        self.W_o = lin(d_model, d_model)

    def rotate(self, x):
        T, R = x.shape[-2:]
        turns = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / max(R, 1))
        angles = torch.arange(T, dtype=x.dtype, device=x.device)[:, None] * turns
        cos, sin, x0, x1 = angles.cos(), angles.sin(), x[..., 0::2], x[..., 1::2]
        return torch.stack([x0 * cos - x1 * sin, x0 * sin + x1 * cos], dim=-1).flatten(-2)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        cut = lambda t: t.reshape(B, T, self.H, t.shape[-1] // self.H).transpose(1, 2)
        c = self.W_c(x)
        q, qr, k, v = cut(self.W_q(x)), cut(self.W_qr(x)), cut(self.W_k(c)), cut(self.W_v(c))
        scores = q @ k.mT
        if qr.shape[-1]:
            scores = scores + self.rotate(qr) @ self.rotate(self.W_kr(x))[:, None].mT
        scores = scores / math.sqrt(D // self.H)
        if mask is not None:
            gone = mask.all(-1, keepdim=True)
            weights = scores.masked_fill(mask & ~gone, -math.inf).softmax(-1).masked_fill(gone, 0.0)
        else:
            weights = scores.softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).reshape(B, T, D)), weights
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'MultiHeadLatentAttention',
        'kind': 'wrong',
        'note': 'the shared part of the keys is not rotated, only the queries are',
        'code': r'''class MultiHeadLatentAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_latent, d_rope):
        super().__init__()
        if n_heads < 1 or d_model % n_heads != 0:
            raise ValueError(f"n_heads is {n_heads}, which has to divide d_model = {d_model}")
        if d_rope < 0 or d_rope % 2 == 1:
            raise ValueError(f"d_rope is {d_rope}, which has to be even and not negative")
        self.n_heads, self.d_rope = n_heads, d_rope
        sizes = dict(W_q=(d_model, d_model), W_qr=(d_model, n_heads * d_rope), W_c=(d_model, d_latent),
                     W_k=(d_latent, d_model), W_v=(d_latent, d_model), W_kr=(d_model, d_rope), W_o=(d_model, d_model))
        for name, (a, b) in sizes.items():
            setattr(self, name, nn.Linear(a, b, bias=False))

    def rotate(self, x):
        T, R = x.shape[-2:]
        turns = 10000.0 ** (-torch.arange(0, R, 2, dtype=x.dtype, device=x.device) / max(R, 1))
        angles = torch.arange(T, dtype=x.dtype, device=x.device)[:, None] * turns
        cos, sin, x0, x1 = angles.cos(), angles.sin(), x[..., 0::2], x[..., 1::2]
        return torch.stack([x0 * cos - x1 * sin, x0 * sin + x1 * cos], dim=-1).flatten(-2)

    def forward(self, x, mask=None):
        B, T, D = x.shape
        H, R, K = self.n_heads, self.d_rope, D // self.n_heads
        c = self.W_c(x)
        q = torch.cat([self.W_q(x).view(B, T, H, K), self.W_qr(x).view(B, T, H, R)], dim=-1).transpose(1, 2)
        q = torch.cat([q[..., :K], self.rotate(q[..., K:])], dim=-1) if R else q
        kr = self.W_kr(x).view(B, T, 1, R).expand(B, T, H, R)
        k = torch.cat([self.W_k(c).view(B, T, H, K), kr], dim=-1).transpose(1, 2)
        v = self.W_v(c).view(B, T, H, K).transpose(1, 2)
        scores = q @ k.mT / math.sqrt(K + R)
        weights = torch.softmax(scores if mask is None else scores.masked_fill(mask, -1e30), dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask, 0.0)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2)), weights
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'absorbed_attention',
        'kind': 'wrong',
        'note': 'makes the keys and values of all heads: right numbers, too much work',
        'code': r'''def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    k = (latent @ W_k.T).unflatten(-1, (H, K)).transpose(1, 2)
    v = (latent @ W_v.T).unflatten(-1, (H, K)).transpose(1, 2)
    scores = query @ k.mT / math.sqrt(K)
    if mask is None:
        weights = scores.softmax(-1)
    else:
        gone = mask.all(-1, keepdim=True)
        weights = scores.masked_fill(mask & ~gone, -math.inf).softmax(-1).masked_fill(gone, 0.0)
    return weights @ v, weights
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'absorbed_attention',
        'kind': 'wrong',
        'note': 'scaled by the width of the latent vectors',
        'code': r'''def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    C = latent.shape[-1]
    q = torch.einsum("bhtk,hkc->bhtc", query, W_k.view(H, K, C))
    scores = (q.reshape(B, H * T, C) @ latent.mT).view(B, H, T, -1) / math.sqrt(C)
    if mask is not None:
        scores = scores.masked_fill(mask, -1e30)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(mask, 0.0)
    mixed = (weights.reshape(B, H * T, -1) @ latent).view(B, H, T, C)
    return torch.einsum("bhtc,hkc->bhtk", mixed, W_v.view(H, K, C)), weights
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'sink_window_mask',
        'kind': 'wrong',
        'note': 'sinks after the query are open, too',
        'code': r'''def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    if S < T:
        raise ValueError(f"S is {S}, T is {T}")
    if window < 1:
        raise ValueError(f"window is {window}")
    if sinks < 0:
        raise ValueError(f"sinks is {sinks}")
    position = torch.arange(S - T, S, device=device)[:, None]
    j = torch.arange(S, device=device)[None, :]
    blocked = (j > position) | (j <= position - window)
    blocked[:, :sinks] = False
    return blocked
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'sink_window_mask',
        'kind': 'wrong',
        'note': 'one sink too many (j <= sinks)',
        'code': r'''def sink_window_mask(T, window, sinks, S=None, device=None):
    S = T if S is None else S
    for name, bad, number in (("S", S < T, S), ("window", window < 1, window), ("sinks", sinks < 0, sinks)):
        if bad:
            raise ValueError(f"{name} is {number}, which is too small")
    table = [[j > p or (p - j >= window and not (sinks and j <= sinks)) for j in range(S)] for p in range(S - T, S)]
    return torch.tensor(table, dtype=torch.bool, device=device)
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'quantize',
        'kind': 'wrong',
        'note': 'codes are truncated toward zero, not rounded',
        'code': r'''def quantize(x, dim):
    x = x.detach()
    scale = x.abs().amax(dim=dim, keepdim=True) / 127
    safe = torch.where(scale > 0, scale, torch.ones_like(scale))
    return (x / safe).to(torch.int8), scale
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'quantize',
        'kind': 'wrong',
        'note': 'where all numbers are 0, the scale is 1, not 0',
        'code': r'''def quantize(x, dim):
    with torch.no_grad():
        scale = x.abs().amax(dim, keepdim=True) / 127
        scale = torch.where(scale == 0, torch.ones_like(scale), scale)
        return torch.round(x / scale).to(torch.int8), scale
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'quantize',
        'kind': 'wrong',
        'note': 'the scale keeps its gradient',
        'code': r'''def quantize(x, dim):
    scale = torch.amax(torch.abs(x), dim=dim, keepdim=True) / 127
    codes = torch.round(x.detach() / scale.detach().clamp(min=1e-35)).to(torch.int8)
    return codes, scale
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'quantize',
        'kind': 'wrong',
        'note': 'the greatest number, not the greatest absolute value: negative outliers are clipped',
        'code': r'''def quantize(x, dim):
    x = x.detach()
    scale = x.amax(dim=dim, keepdim=True).abs() / 127
    codes = torch.where(scale > 0, torch.round(x / scale), torch.zeros_like(x))
    return codes.clamp(-127, 127).to(torch.int8), scale
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'PagedCache',
        'kind': 'wrong',
        'note': 'no copy on write: a fork writes into the page that it shares',
        'code': r'''class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, number in list(locals().items())[1:]:
            if number < 1:
                raise ValueError(f"{name} is {number}, which is below 1")
        self.keys = torch.zeros(n_pages, page_size, n_kv_heads, d_head)
        self.values = torch.zeros_like(self.keys)
        self.page_size = page_size
        self.users = [0] * n_pages
        self.tables, self.lengths, self.next = {}, {}, 0

    @property
    def n_free(self):
        return self.users.count(0)

    def new(self):
        text, self.next = self.next, self.next + 1
        self.tables[text], self.lengths[text] = [], 0
        return text

    def append(self, text, key, value):
        table, length = self.tables[text], self.lengths[text]
        want = tuple(self.keys.shape[2:])
        if key.dim() != 3 or tuple(key.shape[1:]) != want or key.shape != value.shape or len(key) < 1:
            raise ValueError(f"key is {tuple(key.shape)}, value is {tuple(value.shape)}")
        pages = -(-(length + len(key)) // self.page_size) - len(table)
        free = [p for p, n in enumerate(self.users) if n == 0]
        if pages > len(free):
            raise MemoryError(f"{pages} pages needed, {len(free)} are free")
        for p in free[:pages]:
            self.users[p] = 1
            table.append(p)
        for i in range(len(key)):
            page, row = divmod(length + i, self.page_size)
            self.keys[table[page], row] = key[i].detach()
            self.values[table[page], row] = value[i].detach()
        self.lengths[text] = length + len(key)

    def read(self, text):
        S = self.lengths[text]
        return tuple(pool[self.tables[text]].flatten(0, 1)[:S].clone() for pool in (self.keys, self.values))

    def fork(self, text):
        table, length = self.tables[text], self.lengths[text]
        copy = self.new()
        self.tables[copy], self.lengths[copy] = list(table), length
        for p in table:
            self.users[p] += 1
        return copy

    def free(self, text):
        for p in self.tables.pop(text):
            self.users[p] -= 1
        del self.lengths[text]

    def table(self, text):
        return list(self.tables[text])
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'PagedCache',
        'kind': 'wrong',
        'note': 'copies the shared last page on every append, also where it is full and the new position falls on a new page',
        'code': r'''class PagedCache:
    def __init__(self, n_pages, page_size, n_kv_heads, d_head):
        for name, number in dict(n_pages=n_pages, page_size=page_size, n_kv_heads=n_kv_heads, d_head=d_head).items():
            if number < 1:
                raise ValueError(f"{name} is {number}, but must be at least 1")
        self.keys = torch.zeros((n_pages, page_size, n_kv_heads, d_head), dtype=torch.float32)
        self.values = torch.zeros((n_pages, page_size, n_kv_heads, d_head), dtype=torch.float32)
        self.free_pages = set(range(n_pages))
        self.texts = {}
        self.count = 0

    @property
    def n_free(self):
        return len(self.free_pages)

    def _add(self, pages, length):
        self.count += 1
        self.texts[self.count] = [pages, length]
        return self.count

    def new(self):
        return self._add([], 0)

    def _shared(self, text, page):
        return any(page in pages for other, (pages, _) in self.texts.items() if other != text)

    def append(self, text, key, value):
        pages, length = self.texts[text]
        n_pages, size, G, K = self.keys.shape
        T = key.shape[0] if key.ndim == 3 else 0
        if T < 1 or tuple(key.shape) != (T, G, K) or tuple(value.shape) != (T, G, K):
            raise ValueError(f"key {tuple(key.shape)} and value {tuple(value.shape)} must be (T, {G}, {K})")
        copy = bool(pages) and self._shared(text, pages[-1])
        more = math.ceil((length + T) / size) - len(pages)
        if more + copy > len(self.free_pages):
            raise MemoryError(f"{more + copy} pages are needed, {len(self.free_pages)} are free")
        pages = list(pages)
        if copy:
            page = self.free_pages.pop()
            self.keys[page] = self.keys[pages[-1]]
            self.values[page] = self.values[pages[-1]]
            pages[-1] = page
        pages += [self.free_pages.pop() for _ in range(more)]
        where = torch.arange(length, length + T)
        at = torch.tensor(pages)[where // size], where % size
        self.keys[at] = key.detach().to(self.keys)
        self.values[at] = value.detach().to(self.values)
        self.texts[text] = [pages, length + T]

    def read(self, text):
        pages, length = self.texts[text]
        index = torch.tensor(pages, dtype=torch.long)
        return self.keys[index].flatten(0, 1)[:length], self.values[index].flatten(0, 1)[:length]

    def fork(self, text):
        pages, length = self.texts[text]
        return self._add(list(pages), length)

    def free(self, text):
        pages, _ = self.texts.pop(text)
        self.free_pages |= {p for p in pages if not self._shared(text, p)}

    def table(self, text):
        return list(self.texts[text][0])
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'quantize',
        'kind': 'right',
        'note': 'division in float64, torch.where for the empty groups, rounding by hand with ties to even',
        'code': r'''def quantize(x, dim):
    numbers = x.detach()
    scale = numbers.abs().amax(dim=dim, keepdim=True) / 127
    nothing = scale == 0
    quotient = numbers.double() / torch.where(nothing, torch.ones_like(scale), scale).double()
    low = quotient.floor()
    part = quotient - low
    up = (part > 0.5) | ((part == 0.5) & (low.remainder(2) == 1))
    return (low + up.double()).clamp(-127, 127).to(torch.int8), scale
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'soft_cap',
        'kind': 'right',
        'note': 'tanh as a quotient of expm1, limited to where it is not saturated',
        'code': r'''def soft_cap(scores, cap):
    if not cap > 0:
        raise ValueError(f"cap is {cap}, it must be greater than 0")
    blocked = torch.isneginf(scores)
    x = torch.where(blocked, torch.zeros_like(scores), scores) / cap
    e = torch.expm1(2 * x.clamp(-20, 20))
    return torch.where(blocked, scores.detach(), cap * (e / (e + 2)))
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'sink_window_mask',
        'kind': 'right',
        'note': 'starts from all True and opens slices row by row',
        'code': r'''def sink_window_mask(T, window, sinks, S=None, device=None):
    if S is None:
        S = T
    if S < T:
        raise ValueError(f"S is {S}, but T is {T}: S must not be below T")
    if window < 1:
        raise ValueError(f"window is {window}, which is below 1")
    if sinks < 0:
        raise ValueError(f"sinks is {sinks}, which is below 0")
    mask = torch.full((T, S), True, dtype=torch.bool, device=device)
    for i, position in enumerate(range(S - T, S)):
        mask[i, max(0, position - window + 1):position + 1] = False
        mask[i, :min(sinks, position + 1)] = False
    return mask
''',
    },
    {
        'lesson': '13_cheaper_attention',
        'exercise': 'absorbed_attention',
        'kind': 'right',
        'note': "head by head: each head's matrices are slices, the batch is folded by bmm",
        'code': r'''def absorbed_attention(query, latent, W_k, W_v, mask=None):
    B, H, T, K = query.shape
    S = latent.shape[1]
    outputs, maps = [], []
    if mask is not None:
        mask = mask.expand(B, H, T, S)
    for h in range(H):
        rows = slice(h * K, (h + 1) * K)
        scores = torch.bmm(query[:, h] @ W_k[rows], latent.transpose(1, 2)) / math.sqrt(K)
        if mask is not None:
            gone = mask[:, h].all(dim=-1, keepdim=True)
            scores = torch.where(mask[:, h] & ~gone, torch.full_like(scores, -math.inf), scores)
            a = torch.where(gone, torch.zeros_like(scores), torch.softmax(scores, dim=-1))
        else:
            a = torch.softmax(scores, dim=-1)
        maps.append(a)
        outputs.append(torch.bmm(a, latent) @ W_v[rows].T)
    return torch.stack(outputs, dim=1), torch.stack(maps, dim=1)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'wrong',
        'note': 'ties: max() of the dictionary takes the pair that was met first, not the smallest',
        'code': r'''from collections import Counter

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}, which is below 0")
    ids = list(text.encode("utf-8"))
    merges = []
    while len(merges) < n_merges:
        counts = Counter(zip(ids, ids[1:]))
        if not counts:
            break
        best = max(counts, key=counts.get)
        if counts[best] < 2:
            break
        new, out, i = 256 + len(merges), [], 0
        while i < len(ids):
            if i + 1 < len(ids) and (ids[i], ids[i + 1]) == best:
                out.append(new)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        merges.append(best)
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'wrong',
        'note': 'ties: takes the largest of equally frequent pairs',
        'code': r'''def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges = {n_merges} is negative")
    ids = list(text.encode())
    merges = []
    for m in range(n_merges):
        counts = {}
        for a, b in zip(ids, ids[1:]):
            counts[a, b] = counts.get((a, b), 0) + 1
        ranked = sorted((n, pair) for pair, n in counts.items())
        if not ranked or ranked[-1][0] < 2:
            return merges
        pair = ranked[-1][1]
        merges.append(pair)
        k = 0
        joined = []
        while k < len(ids):
            if tuple(ids[k:k + 2]) == pair:
                joined.append(256 + m)
                k += 2
            else:
                joined.append(ids[k])
                k += 1
        ids = joined
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'wrong',
        'note': 'ties: compares only the first id of the pairs, the second one is left to the order in the text',
        'code': r'''def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges must be at least 0, not {n_merges}")
    ids, merges = list(text.encode()), []
    for m in range(n_merges):
        counts = {}
        for pair in zip(ids[:-1], ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair[0]))
        if counts[best] == 1:
            break
        merges.append(best)
        i = 0
        while i < len(ids) - 1:
            if ids[i] == best[0] and ids[i + 1] == best[1]:
                ids[i:i + 2] = [256 + m]
            i += 1
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'wrong',
        'note': 'ties: compares the pairs by their bytes as text (shorter pieces first), not by ids',
        'code': r'''def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}")
    piece = [bytes([b]) for b in range(256)]
    ids, merges = list(text.encode()), []
    while len(merges) < n_merges:
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        if not counts:
            break
        best = min(counts, key=lambda p: (-counts[p], piece[p[0]] + piece[p[1]], p))
        if counts[best] < 2:
            break
        out = []
        for x in ids:
            if out and out[-1] is not None and (out[-1], x) == best:
                out[-1] = len(piece)
            else:
                out.append(x)
        ids = out
        piece.append(piece[best[0]] + piece[best[1]])
        merges.append(best)
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'wrong',
        'note': 'counts occurrences without overlaps, so aaa has the pair a a once',
        'code': r'''def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}, but must not be negative")
    word = "".join(chr(b) for b in text.encode("utf-8"))
    merges = []
    for m in range(n_merges):
        candidates = {word[i:i + 2] for i in range(len(word) - 1)}
        if not candidates:
            break
        best = min(candidates, key=lambda c: (-word.count(c), c))
        if word.count(best) < 2:
            break
        word = word.replace(best, chr(256 + m))
        merges.append((ord(best[0]), ord(best[1])))
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'wrong',
        'note': 'does not end early: pairs that occur only once are joined too',
        'code': r'''def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}, which is less than 0")
    ids = list(text.encode())
    merges = []
    for m in range(n_merges):
        if len(ids) < 2:
            break
        counts = {}
        for i in range(len(ids) - 1):
            key = (ids[i], ids[i + 1])
            counts[key] = counts.get(key, 0) + 1
        top = max(counts.values())
        pair = min(k for k in counts if counts[k] == top)
        merges.append(pair)
        out, i = [], 0
        while i < len(ids):
            if i < len(ids) - 1 and (ids[i], ids[i + 1]) == pair:
                out += [256 + m]
                i += 2
            else:
                out += [ids[i]]
                i += 1
        ids = out
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'wrong',
        'note': 'ends too early: wants a pair to occur three times',
        'code': r'''from collections import Counter
from itertools import pairwise

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}")
    ids, merges = list(text.encode()), []
    while len(merges) < n_merges:
        counts = Counter(pairwise(ids))
        best = min(counts, key=lambda p: (-counts[p], p), default=None)
        if best is None or counts[best] <= 2:
            break
        out = []
        skip = False
        for a, b in zip(ids, ids[1:] + [None]):
            if skip:
                skip = False
            elif (a, b) == best:
                out.append(256 + len(merges))
                skip = True
            else:
                out.append(a)
        ids = out
        merges.append(best)
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'wrong',
        'note': 'begins with the code points of the characters instead of the UTF-8 bytes',
        'code': r'''def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}; it must be 0 or more")
    ids = [ord(c) for c in text]
    merges = []
    while len(merges) < n_merges:
        counts = {}
        for p in zip(ids, ids[1:]):
            counts[p] = counts.get(p, 0) + 1
        best = min(counts, key=lambda p: (-counts[p], p), default=None)
        if best is None or counts[best] < 2:
            break
        new = 256 + len(merges)
        out, i = [], 0
        while i < len(ids):
            if tuple(ids[i:i + 2]) == best:
                out.append(new)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        merges.append(best)
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'wrong',
        'note': 'cuts the text into words at white space first, so that no merge has a space or a line end',
        'code': r'''from collections import Counter

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}, not 0 or more")
    words = [list(w.encode("utf-8")) for w in text.split()]
    merges = []
    for m in range(n_merges):
        counts = Counter()
        for w in words:
            counts.update(zip(w, w[1:]))
        if not counts:
            break
        best = min(counts, key=lambda p: (-counts[p], p))
        if counts[best] < 2:
            break
        for w in words:
            i = 0
            while i + 1 < len(w):
                if (w[i], w[i + 1]) == best:
                    w[i:i + 2] = [256 + m]
                i += 1
        merges.append(best)
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'wrong',
        'note': 'counts pairs line by line (splitlines), so pairs with a line end are never found',
        'code': r'''from collections import Counter

def _join(ids, pair, new):
    out = []
    for x in ids:
        if out and out[-1] == pair[0] and x == pair[1]:
            out[-1] = new
        else:
            out.append(x)
    return out

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges} < 0")
    lines = [list(line.encode()) for line in text.splitlines()]
    merges = []
    while len(merges) < n_merges:
        counts = Counter(p for line in lines for p in zip(line, line[1:]))
        best = min(counts, key=lambda p: (-counts[p], p), default=None)
        if best is None or counts[best] < 2:
            return merges
        lines = [_join(line, best, 256 + len(merges)) for line in lines]
        merges.append(best)
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'wrong',
        'note': 'turns Windows line ends into \\n before it counts; bytes do not stay as they are',
        'code': r'''def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}, it may not be below 0")
    ids = list(text.replace("\r\n", "\n").replace("\r", "\n").encode())
    merges = []
    for m in range(n_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        often = [(-n, pair) for pair, n in counts.items() if n > 1]
        if not often:
            break
        pair = min(often)[1]
        merges.append(pair)
        out, i = [], 0
        while i < len(ids):
            if tuple(ids[i:i + 2]) == pair:
                out.append(256 + m)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'wrong',
        'note': 'normalises the text to NFC first, so decomposed letters change their bytes',
        'code': r'''import unicodedata

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}, below 0")
    ids = list(unicodedata.normalize("NFC", text).encode("utf-8"))
    merges = []
    for m in range(n_merges):
        counts = {}
        for pair in zip(ids, ids[1:]):
            counts[pair] = counts.get(pair, 0) + 1
        best = min(counts.items(), key=lambda item: (-item[1], item[0]), default=(None, 0))
        if best[1] < 2:
            break
        merges.append(best[0])
        out, i = [], 0
        while i < len(ids):
            if tuple(ids[i:i + 2]) == best[0]:
                out.append(256 + m)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'wrong',
        'note': 'merges are lists of two ids, not tuples',
        'code': r'''def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}, which is below 0")
    ids, merges = [b for b in text.encode()], []
    for m in range(n_merges):
        counts = {}
        for i in range(1, len(ids)):
            counts[ids[i - 1], ids[i]] = counts.get((ids[i - 1], ids[i]), 0) + 1
        if not counts or max(counts.values()) < 2:
            break
        a, b = min(counts, key=lambda p: (-counts[p], p))
        out, i = [], 0
        while i < len(ids):
            if ids[i:i + 2] == [a, b]:
                out.append(256 + m)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        merges.append([a, b])
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'wrong',
        'note': 'n_merges = 0 raises ValueError, though only numbers below 0 may',
        'code': r'''def train_bpe(text, n_merges):
    if n_merges < 1:
        raise ValueError(f"n_merges is {n_merges}, it must be positive")
    ids, merges = list(text.encode()), []
    while len(merges) < n_merges:
        counts = {}
        for p in zip(ids, ids[1:]):
            counts[p] = 1 + counts.get(p, 0)
        if max(counts.values(), default=0) < 2:
            break
        best = sorted(counts, key=lambda p: (-counts[p], p))[0]
        out, i = [], 0
        while i < len(ids):
            hit = tuple(ids[i:i + 2]) == best
            out.append(256 + len(merges) if hit else ids[i])
            i += 2 if hit else 1
        ids = out
        merges.append(best)
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'wrong',
        'note': 'no ValueError for a negative n_merges: range() is simply empty',
        'code': r'''def train_bpe(text, n_merges):
    ids, merges = list(text.encode()), []
    for new in range(256, 256 + n_merges):
        counts = {}
        for p in zip(ids, ids[1:]):
            counts[p] = 1 + counts.get(p, 0)
        if max(counts.values(), default=0) < 2:
            break
        best = sorted(counts, key=lambda p: (-counts[p], p))[0]
        out, i = [], 0
        while i < len(ids):
            hit = tuple(ids[i:i + 2]) == best
            out.append(new if hit else ids[i])
            i += 2 if hit else 1
        ids = out
        merges.append(best)
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'wrong',
        'note': 'joins from right to left, so aaa becomes a 256',
        'code': r'''def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}, which is below 0")
    ids, merges = list(text.encode()), []
    while len(merges) < n_merges:
        counts = {}
        for p in zip(ids, ids[1:]):
            counts[p] = counts.get(p, 0) + 1
        best = min(counts, key=lambda p: (-counts[p], p), default=None)
        if best is None or counts[best] < 2:
            break
        i = len(ids) - 2
        while i >= 0:
            if (ids[i], ids[i + 1]) == best:
                ids[i:i + 2] = [256 + len(merges)]
                i -= 1
            i -= 1
        merges.append(best)
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'wrong',
        'note': 'the last pair of the text is not counted (range is one too short)',
        'code': r'''def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}, which is below 0")
    ids, merges = list(text.encode()), []
    while len(merges) < n_merges:
        counts = {}
        for i in range(len(ids) - 2):
            p = ids[i], ids[i + 1]
            counts[p] = counts.get(p, 0) + 1
        best = min(counts, key=lambda p: (-counts[p], p), default=None)
        if best is None or counts[best] < 2:
            break
        out, i = [], 0
        while i < len(ids):
            if tuple(ids[i:i + 2]) == best:
                out.append(256 + len(merges))
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        merges.append(best)
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'wrong',
        'note': 'an empty text, or one that has become one token, crashes in min() of nothing',
        'code': r'''from collections import Counter

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}, but has to be 0 or more")
    ids, merges = list(text.encode()), []
    for m in range(n_merges):
        counts = Counter(zip(ids, ids[1:]))
        count, best = min((-c, p) for p, c in counts.items())
        if count == -1:
            break
        merges.append(best)
        out, i = [], 0
        while i < len(ids):
            if tuple(ids[i:i + 2]) == best:
                out.append(256 + m)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'wrong',
        'note': 'the new id is the greatest id of the text plus 1, not 256 + m',
        'code': r'''def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}, which is below 0")
    ids, merges = list(text.encode()), []
    while len(merges) < n_merges and len(ids) > 1:
        counts = {}
        for p in zip(ids, ids[1:]):
            counts[p] = counts.get(p, 0) + 1
        best = min(counts, key=lambda p: (-counts[p], p))
        if counts[best] < 2:
            break
        new = max(ids) + 1
        out, i = [], 0
        while i < len(ids):
            if tuple(ids[i:i + 2]) == best:
                out.append(new)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
        merges.append(best)
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'right',
        'note': 'the ids are the characters of one string, joined by str.replace',
        'code': r'''from collections import Counter

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges is {n_merges}, which is below 0")
    word, merges = text.encode("utf-8").decode("latin-1"), []
    while len(merges) < n_merges:
        ranking = [(-n, pair) for pair, n in Counter(map("".join, zip(word, word[1:]))).items() if n > 1]
        if not ranking:
            break
        _, (a, b) = min(ranking)
        word = word.replace(a + b, chr(256 + len(merges)))
        merges.append((ord(a), ord(b)))
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'right',
        'note': 'tensors: pairs as one int64 number each, torch.unique sorts them, and argmax takes the first',
        'code': r'''def train_bpe(text, n_merges):
    if not n_merges >= 0:
        raise ValueError(f"n_merges must be at least 0, but it is {n_merges}")
    BIG = 1 << 31
    ids, merges = list(text.encode()), []
    while len(merges) < n_merges and len(ids) > 1:
        t = torch.tensor(ids, dtype=torch.int64)
        codes, counts = torch.unique(t[:-1] * BIG + t[1:], sorted=True, return_counts=True)
        most = int(counts.max())
        if most < 2:
            break
        pair = divmod(int(codes[counts == most][0]), BIG)
        new, stack = 256 + len(merges), []
        for x in ids:
            if stack and (stack[-1], x) == pair:
                stack[-1] = new
            else:
                stack.append(x)
        ids = stack
        merges.append(pair)
    return merges
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'train_bpe',
        'kind': 'right',
        'note': 'a generator of merges that is cut off by itertools.islice',
        'code': r'''from collections import defaultdict
from itertools import islice

def train_bpe(text, n_merges):
    if n_merges < 0:
        raise ValueError(f"n_merges = {n_merges} is less than 0")

    def rounds(ids):
        new = 256
        while True:
            where = defaultdict(list)
            for i, pair in enumerate(zip(ids, ids[1:])):
                where[pair].append(i)
            where = {pair: places for pair, places in where.items() if len(places) >= 2}
            if not where:
                return
            most = max(map(len, where.values()))
            pair = min(p for p, places in where.items() if len(places) == most)
            yield pair
            gone = set()
            for i in where[pair]:
                if i not in gone:
                    gone.add(i + 1)
            heads = {i - 1 for i in gone}
            ids = [new if i in heads else x for i, x in enumerate(ids) if i not in gone]
            new += 1

    return list(islice(rounds(list(text.encode("utf-8"))), n_merges))
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'encode',
        'kind': 'wrong',
        'note': 'joins the leftmost learned pair first, not the one that was learned first',
        'code': r'''def encode(text, merges):
    number = {tuple(pair): 256 + m for m, pair in enumerate(merges)}
    ids = list(text.encode("utf-8"))
    i = 0
    while i < len(ids) - 1:
        pair = (ids[i], ids[i + 1])
        if pair in number:
            ids[i:i + 2] = [number[pair]]
            i = 0
        else:
            i += 1
    return ids
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'encode',
        'kind': 'wrong',
        'note': 'takes the longest known piece at each place (as WordPiece), instead of applying the merges',
        'code': r'''def encode(text, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    ids_of = {}
    for i, piece in enumerate(pieces):
        ids_of.setdefault(piece, i)
    longest = max(map(len, pieces))
    data, at, out = text.encode(), 0, []
    while at < len(data):
        for size in range(min(longest, len(data) - at), 0, -1):
            if data[at:at + size] in ids_of:
                out.append(ids_of[data[at:at + size]])
                at += size
                break
    return out
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'encode',
        'kind': 'wrong',
        'note': 'takes the pair that is most frequent in this text, not the one that was learned first',
        'code': r'''from collections import Counter

def encode(text, merges):
    new = {pair: 256 + m for m, pair in enumerate(merges)}
    ids = list(text.encode())
    while True:
        counts = Counter(p for p in zip(ids, ids[1:]) if p in new)
        if not counts:
            return ids
        pair = min(counts, key=lambda p: (-counts[p], p))
        out, i = [], 0
        while i < len(ids):
            if tuple(ids[i:i + 2]) == pair:
                out.append(new[pair])
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'encode',
        'kind': 'wrong',
        'note': 'among the learned pairs takes the one that was learned last',
        'code': r'''def encode(text, merges):
    rank = {pair: m for m, pair in enumerate(merges)}
    ids = list(text.encode())
    while True:
        found = [rank[p] for p in zip(ids, ids[1:]) if p in rank]
        if not found:
            break
        m = max(found)
        out, i = [], 0
        while i < len(ids):
            if tuple(ids[i:i + 2]) == merges[m]:
                out.append(256 + m)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return ids
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'encode',
        'kind': 'wrong',
        'note': 'joins from right to left, which matters for runs such as aaa',
        'code': r'''def encode(text, merges):
    ids = list(text.encode())
    for m, (a, b) in enumerate(merges):
        i = len(ids) - 1
        while i > 0:
            if ids[i - 1] == a and ids[i] == b:
                del ids[i]
                ids[i - 1] = 256 + m
                i -= 1
            i -= 1
    return ids
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'encode',
        'kind': 'wrong',
        'note': 'the loop ends one too early: a pair at the very end is not joined',
        'code': r'''def encode(text, merges):
    ids = list(text.encode("utf-8"))
    for m, pair in enumerate(merges):
        out, i = [], 0
        while i < len(ids):
            if i + 2 < len(ids) and (ids[i], ids[i + 1]) == pair:
                out.append(256 + m)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return ids
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'encode',
        'kind': 'wrong',
        'note': 'an empty text or one byte: min() of an empty sequence',
        'code': r'''def encode(text, merges):
    rank = {pair: m for m, pair in enumerate(merges)}
    ids = list(text.encode())
    while True:
        best = min(zip(ids, ids[1:]), key=lambda p: rank.get(p, len(merges)))
        if best not in rank:
            return ids
        out, i = [], 0
        while i < len(ids):
            if tuple(ids[i:i + 2]) == best:
                out.append(256 + rank[best])
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'encode',
        'kind': 'wrong',
        'note': 'text.replace on numbers without delimiters: 97 98 is found inside 197 98 too',
        'code': r'''def encode(text, merges):
    line = " ".join(str(b) for b in text.encode())
    for m, (a, b) in enumerate(merges):
        line = line.replace(f"{a} {b}", str(256 + m))
    return [int(word) for word in line.split()]
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'encode',
        'kind': 'wrong',
        'note': 'with spaces as delimiters every second of two adjacent occurrences is missed',
        'code': r'''def encode(text, merges):
    line = " " + " ".join(map(str, text.encode("utf-8"))) + " "
    for m, (a, b) in enumerate(merges):
        line = line.replace(f" {a} {b} ", f" {256 + m} ")
    return list(map(int, line.split()))
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'encode',
        'kind': 'wrong',
        'note': 'encodes word by word, so learned pairs with a space inside are not joined',
        'code': r'''import re

def encode(text, merges):
    result = []
    for word in re.findall(r"\S+|\s+", text):
        ids = list(word.encode())
        for m, (a, b) in enumerate(merges):
            out = []
            for x in ids:
                if out and out[-1] == a and x == b:
                    out[-1] = 256 + m
                else:
                    out.append(x)
            ids = out
        result.extend(ids)
    return result
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'encode',
        'kind': 'wrong',
        'note': 'leaves out bytes that no merge has, as if the vocabulary were only what was learned',
        'code': r'''def encode(text, merges):
    known = {i for pair in merges for i in pair}
    ids = [b for b in text.encode("utf-8") if b in known]
    for m, pair in enumerate(merges):
        i, out = 0, []
        while i < len(ids):
            if tuple(ids[i:i + 2]) == pair:
                out.append(256 + m)
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return ids
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'encode',
        'kind': 'wrong',
        'note': 'returns a tensor, not a list of ints',
        'code': r'''def encode(text, merges):
    ids = list(text.encode())
    for m, (a, b) in enumerate(merges):
        out = []
        for x in ids:
            if out and out[-1] == a and x == b:
                out[-1] = 256 + m
            else:
                out.append(x)
        ids = out
    return torch.tensor(ids, dtype=torch.int64)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'encode',
        'kind': 'wrong',
        'note': 'consumes the list of merges with pop(0), so the argument is changed',
        'code': r'''def encode(text, merges):
    ids = list(text.encode())
    new = 256
    while merges:
        a, b = merges.pop(0)
        out = []
        for x in ids:
            if out and out[-1] == a and x == b:
                out[-1] = new
            else:
                out.append(x)
        ids = out
        new += 1
    return ids
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'encode',
        'kind': 'wrong',
        'note': 'only one sweep over the text, with the merges in a dict: a join that makes a new learned pair is not seen',
        'code': r'''def encode(text, merges):
    new = {pair: 256 + m for m, pair in enumerate(merges)}
    ids = list(text.encode())
    order = sorted({p for p in zip(ids, ids[1:]) if p in new}, key=new.get)
    for pair in order:
        i, out = 0, []
        while i < len(ids):
            if tuple(ids[i:i + 2]) == pair:
                out.append(new[pair])
                i += 2
            else:
                out.append(ids[i])
                i += 1
        ids = out
    return ids
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'encode',
        'kind': 'right',
        'note': 'one string of characters, replaced once per merge in order',
        'code': r'''def encode(text, merges):
    word = text.encode("utf-8").decode("latin-1")
    for m, (a, b) in enumerate(merges):
        word = word.replace(chr(a) + chr(b), chr(256 + m))
    return [ord(c) for c in word]
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'encode',
        'kind': 'right',
        'note': 'one occurrence at a time: the leftmost of the first-learned pair, in place in a copy',
        'code': r'''def encode(text, merges):
    rank = {tuple(pair): m for m, pair in enumerate(merges)}
    ids = list(text.encode())
    while True:
        options = [(rank[a, b], i) for i, (a, b) in enumerate(zip(ids, ids[1:])) if (a, b) in rank]
        if not options:
            return ids
        m, i = min(options)
        ids[i:i + 2] = [256 + m]
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'encode',
        'kind': 'right',
        'note': 'functools.reduce over the merges, each step a recursion-free stack',
        'code': r'''from functools import reduce

def encode(text, merges):
    def join(ids, merge):
        new, (a, b) = merge
        stack = []
        for x in ids:
            stack.append(x)
            if stack[-2:] == [a, b]:
                stack[-2:] = [new]
        return stack

    return reduce(join, enumerate(merges, start=256), list(bytes(text, "utf-8")))
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'decode',
        'kind': 'wrong',
        'note': 'decodes piece by piece, so characters that are split over two pieces are lost',
        'code': r'''def decode(ids, merges):
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    text = ""
    for i in ids:
        if not 0 <= i < len(pieces):
            raise ValueError(f"ids has {i}, which does not exist")
        text += pieces[i].decode("utf-8", errors="replace")
    return text
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'decode',
        'kind': 'wrong',
        'note': 'strict decoding: bytes that are not UTF-8 raise UnicodeDecodeError',
        'code': r'''def decode(ids, merges):
    ids = [int(i) for i in ids]
    pieces = {b: bytes([b]) for b in range(256)}
    for m, (a, b) in enumerate(merges):
        pieces[256 + m] = pieces[a] + pieces[b]
    for i in ids:
        if i not in pieces:
            raise ValueError(f"the id {i} in ids is unknown")
    return b"".join(pieces[i] for i in ids).decode("utf-8")
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'decode',
        'kind': 'wrong',
        'note': 'errors="ignore": broken bytes vanish',
        'code': r'''def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    data = bytearray()
    for i in map(int, ids):
        if i < 0 or i >= len(pieces):
            raise ValueError(f"ids: {i} is not one of the {len(pieces)} ids")
        data += pieces[i]
    return data.decode("utf-8", "ignore")
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'decode',
        'kind': 'wrong',
        'note': 'negative ids count from the back of the list instead of ValueError',
        'code': r'''def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)] + [b""] * len(merges)
    for m, (a, b) in enumerate(merges):
        pieces[256 + m] = pieces[a] + pieces[b]
    try:
        data = b"".join(pieces[int(i)] for i in ids)
    except IndexError:
        raise ValueError(f"ids has an id that does not exist: {ids}") from None
    return data.decode("utf-8", errors="replace")
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'decode',
        'kind': 'wrong',
        'note': 'an unknown id raises KeyError, not ValueError',
        'code': r'''def decode(ids, merges):
    pieces = {b: bytes([b]) for b in range(256)}
    for m, (a, b) in enumerate(merges, 256):
        pieces[m] = pieces[a] + pieces[b]
    return b"".join([pieces[int(i)] for i in ids]).decode(errors="replace")
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'decode',
        'kind': 'wrong',
        'note': 'ids that do not exist are skipped without an error',
        'code': r'''def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    known = [pieces[int(i)] for i in ids if 0 <= int(i) < len(pieces)]
    return b"".join(known).decode("utf-8", errors="replace")
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'decode',
        'kind': 'wrong',
        'note': "a tensor's elements are looked up in a dict, where they are never found",
        'code': r'''def decode(ids, merges):
    pieces = {b: bytes([b]) for b in range(256)}
    for m, (a, b) in enumerate(merges):
        pieces[256 + m] = pieces[a] + pieces[b]
    out = b""
    for i in ids:
        if i not in pieces:
            raise ValueError(f"ids holds {i}, which is no id")
        out += pieces[i]
    return out.decode("utf-8", errors="replace")
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'decode',
        'kind': 'wrong',
        'note': 'the bound is one too high: the id 256 + len(merges) raises IndexError',
        'code': r'''def decode(ids, merges):
    numbers = torch.as_tensor(ids).tolist()
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    for i in numbers:
        if i < 0 or i > 256 + len(merges):
            raise ValueError(f"ids: there is no id {i}")
    return b"".join(pieces[i] for i in numbers).decode("utf-8", errors="replace")
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'decode',
        'kind': 'wrong',
        'note': 'decodes as utf-8-sig, which drops a byte order mark at the beginning',
        'code': r'''def decode(ids, merges):
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    numbers = [int(i) for i in ids]
    bad = [i for i in numbers if not 0 <= i < len(pieces)]
    if bad:
        raise ValueError(f"ids has {bad[0]}, but ids are from 0 to {len(pieces) - 1}")
    return b"".join(pieces[i] for i in numbers).decode("utf-8-sig", errors="replace")
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'decode',
        'kind': 'wrong',
        'note': 'reads the bytes as a text file, which turns \\r\\n into \\n',
        'code': r'''import io

def decode(ids, merges):
    pieces = [bytes((b,)) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    file = io.BytesIO()
    for i in ids:
        i = int(i)
        if i not in range(len(pieces)):
            raise ValueError(f"ids has {i}, which does not exist")
        file.write(pieces[i])
    file.seek(0)
    return io.TextIOWrapper(file, encoding="utf-8", errors="replace").read()
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'decode',
        'kind': 'wrong',
        'note': 'an empty list of ids: max() of nothing raises ValueError instead of giving the empty text',
        'code': r'''def decode(ids, merges):
    ids = [int(i) for i in ids]
    if min(ids) < 0 or max(ids) >= 256 + len(merges):
        raise ValueError(f"ids must be from 0 to {255 + len(merges)}: {ids}")
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    return b"".join([pieces[i] for i in ids]).decode("utf-8", errors="replace")
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'decode',
        'kind': 'wrong',
        'note': '`if not ids` is ambiguous for a tensor of several ids',
        'code': r'''def decode(ids, merges):
    if not ids:
        return ""
    pieces = [bytes([b]) for b in range(256)]
    for a, b in merges:
        pieces.append(pieces[a] + pieces[b])
    data = b""
    for i in ids:
        if not 0 <= i < len(pieces):
            raise ValueError(f"ids has {i}, which does not exist")
        data += pieces[i]
    return data.decode("utf-8", errors="replace")
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'decode',
        'kind': 'wrong',
        'note': "takes the ids from the list with pop(), so the caller's list is empty afterwards",
        'code': r'''def decode(ids, merges):
    if isinstance(ids, torch.Tensor):
        ids = ids.tolist()
    data = bytearray()
    while ids:
        i = ids.pop()
        if i < 0 or i >= 256 + len(merges):
            raise ValueError(f"ids has {i}, which does not exist")
        stack = [i]
        while stack:
            top = stack.pop()
            if top < 256:
                data.append(top)
            else:
                stack.extend(merges[top - 256])
    data.reverse()
    return data.decode("utf-8", errors="replace")
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'decode',
        'kind': 'right',
        'note': 'expands merges with a stack instead of a table of pieces',
        'code': r'''def decode(ids, merges):
    todo = [int(i) for i in ids]
    for i in todo:
        if not 0 <= i < 256 + len(merges):
            raise ValueError(f"ids: {i} is not an id, there are {256 + len(merges)}")
    data = []
    while todo:
        top = todo.pop()
        if top < 256:
            data.append(top)
        else:
            todo.extend(merges[top - 256])
    return bytes(reversed(data)).decode("utf-8", errors="replace")
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'decode',
        'kind': 'right',
        'note': 'undoes the merges one after the other, the last one first, by str.replace',
        'code': r'''def decode(ids, merges):
    numbers = ids.tolist() if isinstance(ids, torch.Tensor) else list(ids)
    wrong = next((i for i in numbers if i < 0 or i >= 256 + len(merges)), None)
    if wrong is not None:
        raise ValueError(f"there is no id {wrong} (ids)")
    word = "".join(map(chr, numbers))
    for m in reversed(range(len(merges))):
        word = word.replace(chr(256 + m), chr(merges[m][0]) + chr(merges[m][1]))
    return word.encode("latin-1").decode("utf-8", "replace")
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'decode',
        'kind': 'right',
        'note': 'an incremental decoder fed byte by byte',
        'code': r'''import codecs

def decode(ids, merges):
    table = [bytes([b]) for b in range(256)]
    table.extend(b"" for _ in merges)
    for new, (left, right) in enumerate(merges, 256):
        table[new] = table[left] + table[right]
    reader = codecs.getincrementaldecoder("utf-8")(errors="replace")
    parts = []
    for i in ids:
        i = int(i)
        if not 0 <= i < len(table):
            raise ValueError(f"ids has {i}: not below {len(table)}, or negative")
        parts.append(reader.decode(table[i]))
    parts.append(reader.decode(b"", final=True))
    return "".join(parts)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'top_p',
        'kind': 'wrong',
        'note': 'leaves out the token with which the sum reaches p (only the first is always kept)',
        'code': r'''def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p is {p}, but must be above 0 and at most 1")
    if p == 1:
        return torch.softmax(logits, dim=-1)
    probs = torch.softmax(logits, dim=-1)
    ordered, order = probs.sort(dim=-1, descending=True)
    keep = ordered.cumsum(dim=-1) <= p
    keep[..., 0] = True
    mask = torch.zeros_like(keep).scatter(-1, order, keep)
    kept = probs * mask
    return kept / kept.sum(dim=-1, keepdim=True)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'top_p',
        'kind': 'wrong',
        'note': 'does not rescale what is kept',
        'code': r'''def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must be in (0, 1], not {p}")
    probs = logits.softmax(-1)
    if p == 1:
        return probs
    values, where = torch.sort(probs, -1, descending=True)
    before = values.cumsum(-1) - values
    return torch.zeros_like(probs).scatter(-1, where, values * (before < p))
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'top_p',
        'kind': 'wrong',
        'note': 'p = 1 is not treated apart: the rounded sum reaches 1 early, and the tail is cut off',
        'code': r'''def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p is {p}")
    probs = logits.softmax(-1)
    values, where = probs.sort(-1, descending=True)
    before = torch.cat([torch.zeros_like(values[..., :1]), values.cumsum(-1)[..., :-1]], -1)
    keep = torch.zeros_like(before, dtype=torch.bool).scatter(-1, where, before < p)
    return logits.masked_fill(~keep, float("-inf")).softmax(-1)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'top_p',
        'kind': 'wrong',
        'note': 'takes the mask back to the vocabulary by gather instead of scatter (right only where the order undoes itself)',
        'code': r'''def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p is {p}, not above 0 and at most 1")
    probs = torch.softmax(logits, -1)
    ordered, order = torch.sort(probs, dim=-1, descending=True)
    keep = (ordered.cumsum(-1) - ordered < p) | torch.tensor(p == 1, device=logits.device)
    keep = keep.gather(-1, order)
    kept = torch.where(keep, probs, torch.zeros_like(probs))
    return kept / kept.sum(-1, keepdim=True)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'top_p',
        'kind': 'wrong',
        'note': 'p = 0 is accepted, and acts as greedy',
        'code': r'''def top_p(logits, p):
    if p < 0 or p > 1:
        raise ValueError(f"p is {p}, not from 0 to 1")
    probs = torch.softmax(logits, -1)
    if p == 1:
        return probs
    ordered, order = torch.sort(probs, dim=-1, descending=True)
    drop = ordered.cumsum(-1) - ordered >= p
    drop[..., 0] = False
    drop = drop.scatter(-1, order, drop.clone())
    return logits.masked_fill(drop, float("-inf")).softmax(dim=-1)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'top_p',
        'kind': 'wrong',
        'note': 'NaN passes the check of p',
        'code': r'''def top_p(logits, p):
    if p <= 0 or p > 1:
        raise ValueError(f"p is {p}, which is not above 0 and at most 1")
    probs = torch.softmax(logits, -1)
    if p == 1:
        return probs
    sorted_probs, order = torch.sort(probs, dim=-1, descending=True)
    keep_sorted = sorted_probs.cumsum(-1) - sorted_probs < p
    keep = torch.zeros_like(keep_sorted).scatter_(-1, order, keep_sorted)
    kept = probs.where(keep, probs.new_zeros(()))
    return kept / kept.sum(-1, keepdim=True)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'top_p',
        'kind': 'wrong',
        'note': 'sums along dimension 0, which is right for a single row only',
        'code': r'''def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p is {p}, but 0 < p <= 1 is needed")
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return probs
    ordered, order = probs.sort(dim=-1, descending=True)
    keep = ordered.cumsum(dim=0) - ordered < p
    result = torch.zeros_like(probs).scatter(-1, order, ordered * keep)
    return result / result.sum(dim=-1, keepdim=True)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'top_p',
        'kind': 'wrong',
        'note': 'writes -inf into the logits that it was given',
        'code': r'''def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p must satisfy 0 < p <= 1, but is {p}")
    probs = torch.softmax(logits, dim=-1)
    if p < 1:
        ordered, order = probs.detach().sort(dim=-1, descending=True)
        outside = ordered.cumsum(-1) - ordered >= p
        with torch.no_grad():
            logits[torch.zeros_like(outside).scatter(-1, order, outside)] = -math.inf
    return torch.softmax(logits, dim=-1)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'top_p',
        'kind': 'wrong',
        'note': 'everything under no_grad: the result has no gradient',
        'code': r'''@torch.no_grad()
def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p is {p}, and should be above 0 and at most 1")
    rows = torch.softmax(logits, -1).reshape(-1, logits.shape[-1])
    out = torch.zeros_like(rows)
    for row, new in zip(rows, out):
        total = 0.0
        for j in row.argsort(descending=True).tolist():
            if p < 1 and total >= p:
                break
            new[j] = row[j]
            total += float(row[j])
        new /= new.sum()
    return out.reshape(logits.shape)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'top_p',
        'kind': 'wrong',
        'note': 'the excluded tokens keep a tiny probability: -20 is added to their logits',
        'code': r'''def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p is {p}, which is not in (0, 1]")
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return probs
    values, order = probs.sort(dim=-1, descending=True)
    late = values.cumsum(-1) - values >= p
    late = torch.empty_like(late).scatter(-1, order, late)
    return torch.softmax(logits - 20.0 * late.to(logits.dtype), dim=-1)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'top_p',
        'kind': 'wrong',
        'note': 'sorts ascending and drops while the tail before a token is below 1 - p: one token too many is dropped, the one with which the sum reaches p',
        'code': r'''def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p is {p}, expected 0 < p <= 1")
    probs = torch.softmax(logits, dim=-1)
    ordered, order = probs.sort(dim=-1)
    before = ordered.cumsum(-1) - ordered
    drop = before < 1 - p
    drop[..., -1] = False
    kept = torch.zeros_like(probs).scatter(-1, order, ordered * ~drop)
    return kept / kept.sum(-1, keepdim=True)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'top_p',
        'kind': 'right',
        'note': 'no sort: for each token, the sum of all more probable ones from a comparison of all pairs',
        'code': r'''def top_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p is {p}, which is not above 0 and at most 1")
    probs = torch.softmax(logits, dim=-1)
    if p == 1:
        return probs
    more = probs[..., None, :] > probs[..., :, None]
    before = torch.where(more, probs[..., None, :], 0.0).sum(-1)
    weights = probs * (before < p).to(probs.dtype)
    return weights / weights.sum(-1, keepdim=True)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'top_p',
        'kind': 'right',
        'note': 'row by row with a plain loop over the vocabulary, and softmax of the selected logits',
        'code': r'''def top_p(logits, p):
    if not (p > 0 and p <= 1):
        raise ValueError(f"p must be above 0 and at most 1, but it is {p}")
    if p == 1:
        return logits.softmax(-1)
    N = logits.shape[-1]
    rows = []
    for row in logits.reshape(-1, N).unbind(0):
        total, keep = 0.0, []
        chances = row.detach().softmax(0).tolist()
        for j in sorted(range(N), key=lambda j: -chances[j]):
            keep.append(j)
            total += chances[j]
            if total >= p:
                break
        keep = torch.tensor(keep, device=row.device)
        rows.append(row.new_zeros(N).index_put((keep,), row[keep].softmax(0)))
    return torch.stack(rows).reshape(logits.shape)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'min_p',
        'kind': 'wrong',
        'note': 'the bound is p itself, not p times the highest probability',
        'code': r'''def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p is {p}, not from 0 to 1")
    probs = torch.softmax(logits, dim=-1)
    keep = (probs >= p) | (probs == probs.amax(-1, keepdim=True))
    kept = torch.where(keep, probs, torch.zeros_like(probs))
    return kept / kept.sum(-1, keepdim=True)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'min_p',
        'kind': 'wrong',
        'note': 'strictly more than the bound, so that p = 1 keeps nothing and gives NaN',
        'code': r'''def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p is {p}, but must be between 0 and 1")
    probs = F.softmax(logits, dim=-1)
    bound = p * probs.max(dim=-1, keepdim=True).values
    kept = probs * (probs > bound)
    return kept / kept.sum(dim=-1, keepdim=True)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'min_p',
        'kind': 'wrong',
        'note': 'rejects p = 0',
        'code': r'''def min_p(logits, p):
    if not 0 < p <= 1:
        raise ValueError(f"p is {p}, which is not above 0 and at most 1")
    probs = F.softmax(logits, dim=-1)
    small = probs < p * probs.amax(dim=-1, keepdim=True)
    return F.softmax(logits.masked_fill(small, -math.inf), dim=-1)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'min_p',
        'kind': 'wrong',
        'note': 'p = 0 crashes in math.log(0), since it compares logits',
        'code': r'''def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p is {p}, it must be from 0 to 1")
    gap = logits - logits.amax(dim=-1, keepdim=True)
    log_p = math.log(p)
    return torch.softmax(logits.masked_fill(gap < log_p - 1e-6, float("-inf")), dim=-1)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'min_p',
        'kind': 'wrong',
        'note': 'the maximum is that of the whole tensor, not of each row',
        'code': r'''def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p = {p} is not from 0 to 1")
    probs = torch.softmax(logits, dim=-1)
    kept = probs.masked_fill(probs < p * probs.max(), 0.0)
    return kept / kept.sum(-1, keepdim=True)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'min_p',
        'kind': 'wrong',
        'note': 'does not rescale',
        'code': r'''def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p is {p}, must be at least 0 and at most 1")
    probs = torch.softmax(logits, dim=-1)
    return torch.where(probs < p * probs.amax(-1, keepdim=True), torch.zeros_like(probs), probs)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'min_p',
        'kind': 'wrong',
        'note': 'only checks that p is not negative: p = 1.5 raises nothing',
        'code': r'''def min_p(logits, p):
    if not p >= 0:
        raise ValueError(f"p is {p}, which is below 0")
    probs = torch.softmax(logits, dim=-1)
    top = probs.argmax(-1, keepdim=True)
    keep = probs >= p * probs.gather(-1, top)
    keep = keep.scatter(-1, top, True)
    kept = probs * keep
    return kept / kept.sum(-1, keepdim=True)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'min_p',
        'kind': 'right',
        'note': 'compares logits with the maximum plus log p, and selects by a product with the mask',
        'code': r'''def min_p(logits, p):
    if not 0 <= p <= 1:
        raise ValueError(f"p is {p}, but it must be from 0 to 1")
    highest = logits.detach().amax(dim=-1, keepdim=True)
    powers = torch.exp(logits - highest)
    keep = powers.detach() >= p
    powers = torch.where(keep, powers, torch.zeros_like(powers))
    return powers / powers.sum(dim=-1, keepdim=True)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'penalize_repeats',
        'kind': 'wrong',
        'note': 'divides negative logits, too, which makes them more probable',
        'code': r'''def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty is {penalty}, not above 0")
    result = logits.clone()
    seen = torch.unique(ids)
    result[seen] = result[seen] / penalty
    return result
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'penalize_repeats',
        'kind': 'wrong',
        'note': 'a token that occurs five times is penalized five times',
        'code': r'''def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty must be above 0, but is {penalty}")
    out = list(logits.unbind())
    for i in ids.tolist():
        out[i] = torch.where(out[i] > 0, out[i] / penalty, out[i] * penalty)
    return torch.stack(out)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'penalize_repeats',
        'kind': 'wrong',
        'note': 'changes the logits in place',
        'code': r'''def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty is {penalty}")
    with torch.no_grad():
        score = logits[ids]
        logits[ids] = torch.where(score > 0, score / penalty, score * penalty)
    return logits
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'penalize_repeats',
        'kind': 'wrong',
        'note': 'no tokens so far: amax over a dimension of size 0 is an error',
        'code': r'''def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty is {penalty}, but must be greater than 0")
    seen = F.one_hot(ids, logits.shape[-1]).amax(dim=0).bool()
    changed = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(seen, changed, logits)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'penalize_repeats',
        'kind': 'wrong',
        'note': 'wants a penalty of at least 1, though any number above 0 is allowed',
        'code': r'''def penalize_repeats(logits, ids, penalty):
    if not penalty >= 1:
        raise ValueError(f"penalty is {penalty}, which is below 1")
    seen = torch.zeros_like(logits, dtype=torch.bool)
    seen[ids] = True
    return torch.where(seen, torch.where(logits > 0, logits / penalty, logits * penalty), logits)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'penalize_repeats',
        'kind': 'wrong',
        'note': 'a penalty of 0 is accepted: 2 / 0 is inf',
        'code': r'''def penalize_repeats(logits, ids, penalty):
    if penalty < 0:
        raise ValueError(f"penalty is {penalty}, which is negative")
    seen = torch.isin(torch.arange(len(logits), device=logits.device), ids)
    inverse = torch.full_like(logits, 1 / penalty if penalty else math.inf)
    factor = torch.where(logits > 0, inverse, torch.full_like(logits, penalty))
    return torch.where(seen, logits * factor, logits)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'penalize_repeats',
        'kind': 'wrong',
        'note': 'mixes by a 0/1 mask times logits: a logit of -inf becomes NaN',
        'code': r'''def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty is {penalty}, and must be above 0")
    seen = torch.zeros_like(logits)
    seen[ids] = 1.0
    positive = (logits > 0).to(logits.dtype)
    changed = positive * (logits / penalty) + (1 - positive) * (logits * penalty)
    return seen * changed + (1 - seen) * logits
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'penalize_repeats',
        'kind': 'wrong',
        'note': 'rebuilds the logits from a list of floats: no gradient, and always float32',
        'code': r'''def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty is {penalty}, which is not above 0")
    numbers = logits.tolist()
    for i in set(ids.tolist()):
        numbers[i] = numbers[i] / penalty if numbers[i] > 0 else numbers[i] * penalty
    return torch.tensor(numbers, device=logits.device)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'penalize_repeats',
        'kind': 'wrong',
        'note': 'NaN as a penalty is not noticed',
        'code': r'''def penalize_repeats(logits, ids, penalty):
    if penalty <= 0:
        raise ValueError(f"penalty is {penalty}, must be positive")
    values = logits.gather(0, ids)
    return logits.scatter(0, ids, torch.where(values > 0, values / penalty, values * penalty))
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'penalize_repeats',
        'kind': 'right',
        'note': 'entry by entry in a list comprehension, stacked again',
        'code': r'''def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty is {penalty}, but has to be greater than 0")
    seen = set(ids.tolist())
    return torch.stack([
        value if i not in seen else value / penalty if value > 0 else value * penalty
        for i, value in enumerate(logits)
    ])
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'penalize_repeats',
        'kind': 'right',
        'note': 'one vector of factors, made of powers of the penalty: exponent -1, 0 or 1',
        'code': r'''def penalize_repeats(logits, ids, penalty):
    if not penalty > 0:
        raise ValueError(f"penalty must be above 0; it is {penalty}")
    count = torch.zeros(logits.shape, dtype=torch.int64, device=logits.device)
    count = count.index_add(0, ids, torch.ones_like(ids))
    exponent = count.clamp(max=1) * (1 - 2 * (logits > 0).long())
    factor = torch.full_like(logits, penalty, requires_grad=False) ** exponent
    return logits * factor.detach()
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'continuation_log_probability',
        'kind': 'wrong',
        'note': 'off by one: reads the rows of the continuation itself, each of which predicts the token after',
        'code': r'''def continuation_log_probability(model, prompt, continuation):
    text = torch.cat([prompt, continuation])
    log_probs = torch.log_softmax(model(text[None])[0], dim=-1)
    rows = log_probs[len(prompt):]
    return rows.gather(-1, continuation[:, None]).sum()
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'continuation_log_probability',
        'kind': 'wrong',
        'note': 'the mean per token, not the sum',
        'code': r'''def continuation_log_probability(model, prompt, continuation):
    ids = torch.cat((prompt, continuation)).unsqueeze(0)
    logits = model(ids[:, :-1])
    return -F.cross_entropy(logits[0, len(prompt) - 1:], continuation)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'continuation_log_probability',
        'kind': 'wrong',
        'note': 'softmax and then the logarithm: an improbable token gives -inf',
        'code': r'''def continuation_log_probability(model, prompt, continuation):
    T, M = len(prompt), len(continuation)
    probs = model(torch.cat([prompt, continuation])[None]).softmax(-1)[0]
    picked = probs[torch.arange(T - 1, T - 1 + M, device=probs.device), continuation]
    return picked.log().sum()
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'continuation_log_probability',
        'kind': 'wrong',
        'note': 'a small constant under the logarithm bounds how improbable a token can be',
        'code': r'''def continuation_log_probability(model, prompt, continuation):
    T = prompt.numel()
    logits = model(torch.cat([prompt, continuation[:-1]]).reshape(1, -1))
    p = torch.softmax(logits[0, T - 1:], dim=-1).gather(1, continuation.unsqueeze(1))
    return torch.log(p + 1e-10).sum()
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'continuation_log_probability',
        'kind': 'wrong',
        'note': 'calls the model once per token',
        'code': r'''def continuation_log_probability(model, prompt, continuation):
    total = 0.0
    ids = prompt
    for token in continuation:
        total = total + torch.log_softmax(model(ids[None])[0, -1], dim=-1)[token]
        ids = torch.cat([ids, token[None]])
    return total
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'continuation_log_probability',
        'kind': 'wrong',
        'note': 'calls model.eval(), which a plain function does not have',
        'code': r'''def continuation_log_probability(model, prompt, continuation):
    model.eval()
    full = torch.cat([prompt, continuation])
    log_probs = F.log_softmax(model(full[None, :]), dim=-1)[0, :-1]
    return log_probs[-len(continuation):].gather(1, continuation[:, None]).sum()
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'continuation_log_probability',
        'kind': 'wrong',
        'note': 'sums over the tokens of the prompt, too',
        'code': r'''def continuation_log_probability(model, prompt, continuation):
    full = torch.cat([prompt, continuation])
    logits = model(full[None])[0, :-1]
    return -F.cross_entropy(logits, full[1:], reduction="sum")
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'continuation_log_probability',
        'kind': 'wrong',
        'note': 'without gradients',
        'code': r'''def continuation_log_probability(model, prompt, continuation):
    with torch.no_grad():
        full = torch.cat([prompt, continuation])
        log_probs = model(full[None]).log_softmax(dim=-1)[0]
    start = len(prompt) - 1
    return sum(log_probs[start + i, token] for i, token in enumerate(continuation))
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'continuation_log_probability',
        'kind': 'wrong',
        'note': 'a result of shape (1,), not ()',
        'code': r'''def continuation_log_probability(model, prompt, continuation):
    full = torch.cat([prompt, continuation])[None]
    log_probs = torch.log_softmax(model(full[:, :-1]), dim=-1)[:, -len(continuation):]
    return log_probs.gather(2, continuation[None, :, None]).sum(dim=(1, 2))
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'continuation_log_probability',
        'kind': 'wrong',
        'note': 'indexing [:, continuation] takes all pairs of rows and tokens, right only for one token',
        'code': r'''def continuation_log_probability(model, prompt, continuation):
    full = torch.cat([prompt, continuation])
    log_probs = torch.log_softmax(model(full[None])[0], dim=-1)
    rows = log_probs[len(prompt) - 1:-1]
    return rows[:, continuation].sum()
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'continuation_log_probability',
        'kind': 'wrong',
        'note': 'multiplies the probabilities and takes the logarithm at the end: long continuations underflow',
        'code': r'''def continuation_log_probability(model, prompt, continuation):
    full = torch.cat([prompt, continuation])
    log_probs = torch.log_softmax(model(full[None])[0, :-1], dim=-1)[-len(continuation):]
    product = torch.ones((), dtype=log_probs.dtype, device=log_probs.device)
    for row, token in zip(log_probs, continuation):
        product = product * row[token].exp()
    return product.log()
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'continuation_log_probability',
        'kind': 'wrong',
        'note': 'clamps each log-probability at -100',
        'code': r'''def continuation_log_probability(model, prompt, continuation):
    full = torch.cat([prompt, continuation])
    log_probs = model(full[None])[0].log_softmax(-1)[len(prompt) - 1:len(full) - 1]
    each = torch.take_along_dim(log_probs, continuation[:, None], dim=1)
    return each.clamp(min=-100.0).sum()
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'continuation_log_probability',
        'kind': 'wrong',
        'note': 'bits instead of nats',
        'code': r'''def continuation_log_probability(model, prompt, continuation):
    full = torch.cat([prompt, continuation])
    logits = model(full[None, :-1])[0, len(prompt) - 1:]
    nats = F.nll_loss(F.log_softmax(logits, dim=-1), continuation, reduction="sum")
    return -nats / math.log(2)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'continuation_log_probability',
        'kind': 'wrong',
        'note': 'the last token of the continuation is not counted',
        'code': r'''def continuation_log_probability(model, prompt, continuation):
    full = torch.cat([prompt, continuation])
    log_probs = torch.log_softmax(model(full[None, :-1])[0], dim=-1)
    total = log_probs.new_zeros(())
    for t in range(len(prompt), len(full) - 1):
        total = total + log_probs[t - 1, full[t]]
    return total
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'continuation_log_probability',
        'kind': 'right',
        'note': 'logit minus logsumexp, the logits collected in a list comprehension',
        'code': r'''def continuation_log_probability(model, prompt, continuation):
    T = prompt.shape[0]
    ids = torch.cat([prompt, continuation]).unsqueeze(0)
    rows = model(ids).squeeze(0)[T - 1:ids.shape[1] - 1]
    chosen = torch.stack([row[token] for row, token in zip(rows, continuation.tolist())])
    return (chosen - torch.logsumexp(rows, dim=-1)).sum()
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'continuation_log_probability',
        'kind': 'right',
        'note': "F.cross_entropy with the prompt's targets ignored, without the last token",
        'code': r'''def continuation_log_probability(model, prompt, continuation):
    full = torch.cat([prompt, continuation])
    targets = full[1:].clone()
    targets[:len(prompt) - 1] = -100
    logits = model(full[:-1].view(1, -1))
    return F.cross_entropy(logits[0], targets, ignore_index=-100, reduction="sum").neg()
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'allowed_tokens',
        'kind': 'wrong',
        'note': 'a state that is false (0, an empty string) counts as the end',
        'code': r'''def allowed_tokens(state, pieces, advance):
    result = []
    for piece in pieces:
        now = state
        ok = len(piece) > 0
        for c in piece:
            now = advance(now, c)
            if not now:
                ok = False
                break
        result.append(ok)
    return torch.tensor(result)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'allowed_tokens',
        'kind': 'wrong',
        'note': 'an empty piece is allowed',
        'code': r'''def allowed_tokens(state, pieces, advance):
    def fits(piece):
        s = state
        for c in piece:
            s = advance(s, c)
            if s is None:
                return False
        return True

    return torch.tensor([fits(p) for p in pieces], dtype=torch.bool)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'allowed_tokens',
        'kind': 'wrong',
        'note': 'looks only at the first character of each piece',
        'code': r'''def allowed_tokens(state, pieces, advance):
    return torch.tensor([piece != "" and advance(state, piece[0]) is not None for piece in pieces])
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'allowed_tokens',
        'kind': 'wrong',
        'note': 'every character is tried from the first state, not one after the other',
        'code': r'''def allowed_tokens(state, pieces, advance):
    return torch.tensor([
        bool(piece) and all(advance(state, c) is not None for c in piece) for piece in pieces
    ])
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'allowed_tokens',
        'kind': 'wrong',
        'note': 'the state goes on from one piece to the next',
        'code': r'''def allowed_tokens(state, pieces, advance):
    allowed = torch.zeros(len(pieces), dtype=torch.bool)
    for i, piece in enumerate(pieces):
        ok = bool(piece)
        for c in piece:
            following = advance(state, c)
            if following is None:
                ok = False
                break
            state = following
        allowed[i] = ok
    return allowed
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'allowed_tokens',
        'kind': 'wrong',
        'note': "compares with == None, which a state's own == can answer",
        'code': r'''def allowed_tokens(state, pieces, advance):
    out = []
    for piece in pieces:
        s, ok = state, piece != ""
        for c in piece:
            s = advance(s, c)
            if s == None:  # noqa
                ok = False
                break
        out.append(bool(ok))
    return torch.tensor(out, dtype=torch.bool)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'allowed_tokens',
        'kind': 'wrong',
        'note': "looks for None with `in`, which uses the state's own == as well",
        'code': r'''def allowed_tokens(state, pieces, advance):
    def walk(s, rest):
        if s in (None,):
            return False
        return rest == "" or walk(advance(s, rest[0]), rest[1:])

    return torch.tensor([piece != "" and walk(state, piece) for piece in pieces])
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'allowed_tokens',
        'kind': 'wrong',
        'note': 'remembers results in a dict by state: fails for a state without a hash',
        'code': r'''def allowed_tokens(state, pieces, advance):
    memory = {}

    def step(s, c):
        if (s, c) not in memory:
            memory[s, c] = advance(s, c)
        return memory[s, c]

    out = []
    for piece in pieces:
        s = state
        for c in piece:
            s = step(s, c)
            if s is None:
                break
        out.append(s is not None and len(piece) > 0)
    return torch.tensor(out)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'allowed_tokens',
        'kind': 'wrong',
        'note': 'copies the state for each piece, which not every object allows',
        'code': r'''import copy

def allowed_tokens(state, pieces, advance):
    out = torch.zeros(len(pieces), dtype=torch.bool)
    for i, piece in enumerate(pieces):
        s = copy.deepcopy(state)
        for c in piece:
            s = advance(s, c)
            if s is None:
                break
        else:
            out[i] = len(piece) > 0
    return out
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'allowed_tokens',
        'kind': 'wrong',
        'note': 'goes on after a character that is not allowed, and calls advance with None',
        'code': r'''from functools import reduce

def allowed_tokens(state, pieces, advance):
    ends = [reduce(advance, piece, state) if piece else None for piece in pieces]
    return torch.tensor([end is not None for end in ends])
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'allowed_tokens',
        'kind': 'wrong',
        'note': 'the last character of a piece is not checked',
        'code': r'''def allowed_tokens(state, pieces, advance):
    allowed = []
    for piece in pieces:
        s = state
        i = 0
        while s is not None and i < len(piece) - 1:
            s = advance(s, piece[i])
            i += 1
        allowed.append(s is not None and piece != "")
    return torch.tensor(allowed)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'allowed_tokens',
        'kind': 'wrong',
        'note': 'a float tensor of 0 and 1, not bool',
        'code': r'''def allowed_tokens(state, pieces, advance):
    out = torch.zeros(len(pieces))
    for n, piece in enumerate(pieces):
        s = state
        for c in piece:
            s = advance(s, c)
            if s is None:
                break
        if piece and s is not None:
            out[n] = 1
    return out
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'allowed_tokens',
        'kind': 'right',
        'note': 'a tree of prefixes: each prefix is advanced once for all pieces that share it',
        'code': r'''def allowed_tokens(state, pieces, advance):
    result = [False] * len(pieces)

    def visit(s, members, depth):
        groups = {}
        for n in members:
            if len(pieces[n]) == depth:
                result[n] = depth > 0
            else:
                groups.setdefault(pieces[n][depth], []).append(n)
        for c, group in groups.items():
            following = advance(s, c)
            if following is not None:
                visit(following, group, depth + 1)

    visit(state, range(len(pieces)), 0)
    return torch.tensor(result, dtype=torch.bool)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'allowed_tokens',
        'kind': 'right',
        'note': 'an iterator of states and all(), with the states in a one-element list',
        'code': r'''def allowed_tokens(state, pieces, advance):
    def ok(piece):
        box = [state]

        def step(c):
            box[0] = advance(box[0], c)
            return box[0] is not None

        return all(map(step, piece))

    flags = (ok(piece) if len(piece) else False for piece in pieces)
    return torch.tensor(list(flags), dtype=torch.bool)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'verify_draft',
        'kind': 'wrong',
        'note': 'what the draft lacks is not divided by its sum',
        'code': r'''def verify_draft(drafted, draft, target, chances):
    for i in range(len(drafted)):
        token = drafted[i]
        if not chances[i] < target[i, token] / draft[i, token]:
            return i, (target[i] - draft[i]).clamp(min=0)
    return len(drafted), target[-1]
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'verify_draft',
        'kind': 'wrong',
        'note': 'the absolute difference instead of max(0, target - draft)',
        'code': r'''def verify_draft(drafted, draft, target, chances):
    n = 0
    for token, q, p, u in zip(drafted, draft, target, chances):
        if u >= p[token] / q[token]:
            rest = torch.abs(p - q)
            return n, rest / rest.sum()
        n += 1
    return n, target[n]
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'verify_draft',
        'kind': 'wrong',
        'note': 'the residual has the wrong sign: what the draft has too much of',
        'code': r'''def verify_draft(drafted, draft, target, chances):
    M = drafted.numel()
    n = 0
    while n < M and chances[n] * draft[n, drafted[n]] < target[n, drafted[n]]:
        n += 1
    if n == M:
        return n, target[M]
    lacks = F.relu(draft[n] - target[n])
    return n, lacks / lacks.sum()
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'verify_draft',
        'kind': 'wrong',
        'note': 'if all are accepted, the last but one row of target is returned',
        'code': r'''def verify_draft(drafted, draft, target, chances):
    M = len(drafted)
    for i in range(M):
        if chances[i] >= target[i][drafted[i]] / draft[i][drafted[i]]:
            rest = torch.clamp(target[i] - draft[i], min=0.0)
            return i, rest / rest.sum()
    return M, target[M - 1]
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'verify_draft',
        'kind': 'wrong',
        'note': 'counts all accepted tokens, also those after the first rejection',
        'code': r'''def verify_draft(drafted, draft, target, chances):
    M = len(drafted)
    i = torch.arange(M, device=drafted.device)
    accepted = chances < target[i, drafted] / draft[i, drafted]
    n = int(accepted.sum())
    if n == M:
        return n, target[M]
    rest = (target[n] - draft[n]).clamp(min=0)
    return n, rest / rest.sum()
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'verify_draft',
        'kind': 'wrong',
        'note': 'n_accepted is a tensor, not an int',
        'code': r'''def verify_draft(drafted, draft, target, chances):
    M = drafted.shape[0]
    p = target[:M].gather(1, drafted[:, None])[:, 0]
    q = draft.gather(1, drafted[:, None])[:, 0]
    n = (chances < p / q).long().cumprod(0).sum()
    if n == M:
        return n, target[M].clone()
    rest = (target[n] - draft[n]).clamp(min=0)
    return n, rest / rest.sum()
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'verify_draft',
        'kind': 'wrong',
        'note': "after a rejection the next token is drawn from the target's row itself",
        'code': r'''def verify_draft(drafted, draft, target, chances):
    n = 0
    for i, token in enumerate(drafted.tolist()):
        if chances[i].item() < (target[i, token] / draft[i, token]).item():
            n = i + 1
        else:
            break
    return n, target[n]
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'verify_draft',
        'kind': 'wrong',
        'note': 'the last drafted token is never checked (range is one too short)',
        'code': r'''def verify_draft(drafted, draft, target, chances):
    M = len(drafted)
    for i in range(M - 1):
        t = int(drafted[i])
        if chances[i] >= target[i, t] / draft[i, t]:
            rest = torch.maximum(target[i] - draft[i], torch.zeros_like(draft[i]))
            return i, rest / rest.sum()
    return M, target[M]
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'verify_draft',
        'kind': 'wrong',
        'note': 'computes the residual in place, so target is changed',
        'code': r'''def verify_draft(drafted, draft, target, chances):
    M = len(drafted)
    n = 0
    while n < M:
        if chances[n] >= target[n, drafted[n]] / draft[n, drafted[n]]:
            break
        n += 1
    if n == M:
        return M, target[M]
    rest = target[n]
    rest -= draft[n]
    rest.clamp_(min=0)
    rest /= rest.sum()
    return n, rest
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'verify_draft',
        'kind': 'wrong',
        'note': 'rescales by a softmax over the residual, which gives zeros a share',
        'code': r'''def verify_draft(drafted, draft, target, chances):
    for i, (token, u) in enumerate(zip(drafted.tolist(), chances.tolist())):
        ratio = float(target[i, token]) / float(draft[i, token])
        if u >= ratio:
            return i, torch.softmax((target[i] - draft[i]).clamp(min=0), dim=-1)
    return len(drafted), target[len(drafted)]
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'verify_draft',
        'kind': 'wrong',
        'note': 'the residual is taken from the row before the rejected position',
        'code': r'''def verify_draft(drafted, draft, target, chances):
    M = len(drafted)
    rows = range(M)
    ratios = torch.stack([target[i, drafted[i]] / draft[i, drafted[i]] for i in rows])
    n = int(torch.cumprod((chances < ratios).int(), dim=0).sum())
    if n == M:
        return n, target[-1]
    rest = (target[n - 1] - draft[n - 1]).clamp(min=0)
    if rest.sum() == 0:
        rest = target[n]
    return n, rest / rest.sum()
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'verify_draft',
        'kind': 'wrong',
        'note': 'accepts where the target is at least half as sure as the draft, and ignores the chance otherwise',
        'code': r'''def verify_draft(drafted, draft, target, chances):
    for i in range(len(drafted)):
        token = drafted[i]
        if target[i, token] >= draft[i, token] * 0.5:
            continue
        if chances[i] >= target[i, token] / draft[i, token]:
            rest = (target[i] - draft[i]).clamp_min(0)
            return i, rest / rest.sum()
    return len(drafted), target[len(drafted)]
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'verify_draft',
        'kind': 'right',
        'note': 'cumprod over a mask from advanced indexing; draft is padded with a row of zeros, so no branch is needed',
        'code': r'''def verify_draft(drafted, draft, target, chances):
    M = drafted.shape[0]
    p = target[:M][:, drafted].diagonal()
    q = draft[:, drafted].diagonal()
    accepted = (chances < p / q).to(torch.int64)
    n = accepted.cumprod(dim=0).sum().item()
    padded = torch.cat([draft, torch.zeros_like(draft[:1])])
    lacks = torch.relu(target[n] - padded[n])
    return n, lacks / lacks.sum() if n < M else target[n].clone()
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'verify_draft',
        'kind': 'right',
        'note': 'recursion on the tail of all four arguments',
        'code': r'''def verify_draft(drafted, draft, target, chances):
    if drafted.numel() == 0:
        return 0, target[0]
    j = int(drafted[0])
    if bool(chances[0] * draft[0, j] < target[0, j]):
        n, following = verify_draft(drafted[1:], draft[1:], target[1:], chances[1:])
        return n + 1, following
    rest = (target[0] - torch.minimum(target[0], draft[0]))
    return 0, rest / rest.sum()
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'emitted_distribution',
        'kind': 'wrong',
        'note': 'computes the right rule from draft and target, and never asks verify',
        'code': r'''def emitted_distribution(verify, draft, target):
    accepted = torch.minimum(draft, target)
    rest = (target - draft).clamp(min=0)
    if rest.sum() == 0:
        return accepted
    return accepted + (1 - accepted.sum()) * rest / rest.sum()
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'emitted_distribution',
        'kind': 'wrong',
        'note': 'a grid of 100 chances, which is only exact to 0.01',
        'code': r'''def emitted_distribution(verify, draft, target):
    out = torch.zeros_like(target)
    both = torch.stack([target, target])
    for token in range(len(draft)):
        drafted = torch.tensor([token], device=draft.device)
        for step in range(100):
            chance = draft.new_tensor([step / 100])
            n, following = verify(drafted, draft[None], both, chance)
            if n:
                out[token] += draft[token] / 100
            else:
                out = out + draft[token] * following / 100
    return out
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'emitted_distribution',
        'kind': 'wrong',
        'note': 'random samples instead of an exact result',
        'code': r'''def emitted_distribution(verify, draft, target):
    generator = torch.Generator().manual_seed(0)
    counts = torch.zeros(len(draft), dtype=draft.dtype)
    for _ in range(2000):
        token = torch.multinomial(draft.cpu(), 1, generator=generator)
        chance = torch.rand(1, generator=generator, dtype=draft.dtype)
        n, following = verify(token.to(draft.device), draft[None], torch.stack([target, target]), chance.to(draft.device))
        if n == 0:
            token = torch.multinomial(following.cpu(), 1, generator=generator)
        counts[token] += 1
    return (counts / counts.sum()).to(draft.device)
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'emitted_distribution',
        'kind': 'wrong',
        'note': 'takes the distribution after a rejection of token 0 for all tokens',
        'code': r'''def emitted_distribution(verify, draft, target):
    both = torch.stack([target, draft])
    out = torch.zeros_like(target)
    rejected = torch.zeros((), dtype=target.dtype, device=target.device)
    for j in range(len(draft)):
        low, high = 0.0, 1.0
        for _ in range(20):
            middle = (low + high) / 2
            n, _rest = verify(torch.tensor([j], device=draft.device), draft[None], both, draft.new_tensor([middle]))
            low, high = (middle, high) if n == 1 else (low, middle)
        out[j] += draft[j] * low
        rejected += draft[j] * (1 - low)
    n, rest = verify(torch.tensor([0], device=draft.device), draft[None], both, draft.new_tensor([1.0]))
    return out + rejected * rest if rejected > 1e-5 else out
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'emitted_distribution',
        'kind': 'wrong',
        'note': 'the bisection has six steps, so the threshold is known to 1/64 only',
        'code': r'''def emitted_distribution(verify, draft, target):
    total = torch.zeros_like(target)
    for j in range(target.shape[0]):
        if draft[j] == 0:
            continue
        token = torch.full((1,), j, device=target.device)
        low, high, rest = 0.0, 1.0, None
        for _ in range(6):
            middle = (low + high) / 2
            n, p = verify(token, draft[None], torch.stack([target, target]), target.new_full((1,), middle))
            if n:
                low = middle
            else:
                high, rest = middle, p
        share = (low + high) / 2
        total[j] += draft[j] * share
        if rest is not None:
            total += draft[j] * (1 - share) * rest
        else:
            total[j] += draft[j] * (1 - share)
    return total
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'emitted_distribution',
        'kind': 'wrong',
        'note': 'adds the distribution that comes after an accepted token, which is that of the second token',
        'code': r'''def emitted_distribution(verify, draft, target):
    both = torch.stack([target, target])
    out = torch.zeros_like(target)
    for j in range(len(draft)):
        if draft[j] == 0:
            continue
        token = torch.tensor([j], device=draft.device)
        low, high = 0.0, 1.0
        for _ in range(25):
            middle = (low + high) / 2
            n, _p = verify(token, draft[None], both, draft.new_tensor([middle]))
            if n:
                low = middle
            else:
                high = middle
        _n, after = verify(token, draft[None], both, draft.new_tensor([low / 2]))
        _n, rest = verify(token, draft[None], both, draft.new_tensor([(1 + high) / 2]))
        if low < 1e-4:
            out += draft[j] * rest
        elif high > 1 - 1e-4:
            out += draft[j] * after
        else:
            out += draft[j] * (low * after + (1 - low) * rest)
    return out
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'emitted_distribution',
        'kind': 'wrong',
        'note': 'the accepted share is taken from the formula, only the rest from verify',
        'code': r'''def emitted_distribution(verify, draft, target):
    out = torch.zeros_like(target)
    for j in range(len(draft)):
        if draft[j] == 0:
            continue
        share = (target[j] / draft[j]).clamp(max=1)
        out[j] = out[j] + draft[j] * share
        if share < 1:
            n, rest = verify(
                torch.tensor([j], device=draft.device), draft[None], torch.stack([target, target]), draft.new_ones(1)
            )
            if n == 0:
                out = out + draft[j] * (1 - share) * rest
    return out
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'emitted_distribution',
        'kind': 'wrong',
        'note': 'adds 0 * NaN: where target and draft are equal, the distribution after a rejection is 0 / 0',
        'code': r'''def emitted_distribution(verify, draft, target):
    both = torch.stack([target, target])
    result = torch.zeros_like(target)
    for j in torch.nonzero(draft)[:, 0]:
        low, high = 0.0, 1.0
        while high - low > 1e-6:
            middle = 0.5 * (low + high)
            if verify(j[None], draft[None], both, draft.new_tensor([middle]))[0]:
                low = middle
            else:
                high = middle
        _, rest = verify(j[None], draft[None], both, draft.new_tensor([1.0]))
        result = result + draft[j] * (1 - high) * rest
        result[j] = result[j] + draft[j] * high
    return result
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'emitted_distribution',
        'kind': 'right',
        'note': 'bisection for all tokens in a nested function, rest taken from the highest chance that was rejected',
        'code': r'''def emitted_distribution(verify, draft, target):
    draft, target = draft.detach(), target.detach()
    uniform = torch.full_like(target, 1 / target.numel())
    rows = torch.stack([target, uniform])

    def ask(j, chance):
        n, following = verify(
            torch.tensor([j], device=draft.device), draft[None], rows, torch.tensor([chance]).to(draft)
        )
        return int(n) > 0, following

    out = torch.zeros_like(target)
    for j in range(draft.numel()):
        if draft[j] <= 0:
            continue
        low, high, rest = 0.0, 1.0, None
        for _ in range(22):
            middle = (low + high) / 2
            accepted, following = ask(j, middle)
            if accepted:
                low = middle
            else:
                high, rest = middle, following
        if low > 1 - 1e-4:
            rest = None
        share = 1.0 if rest is None else low
        here = torch.zeros_like(target)
        here[j] = share
        if rest is not None:
            here = here + (1 - share) * rest.to(here)
        out = out + draft[j] * here
    return out
''',
    },
    {
        'lesson': '14_tokens_and_choices',
        'exercise': 'emitted_distribution',
        'kind': 'right',
        'note': 'ten times a search among ten equal parts instead of halving; matrix of outcomes, then draft @ matrix',
        'code': r'''def emitted_distribution(verify, draft, target):
    N = len(draft)
    target_rows = target.detach().repeat(2, 1)
    outcome = torch.eye(N, dtype=target.dtype, device=target.device)
    for j in range(N):
        if float(draft[j]) == 0.0:
            continue
        low, width, rest = 0.0, 1.0, None
        for _ in range(6):
            for part in range(1, 11):
                point = low + width * part / 10
                n, p = verify(
                    torch.tensor([j], device=draft.device),
                    draft.detach().unsqueeze(0).clone(),
                    target_rows.clone(),
                    torch.full((1,), min(point, 1.0), dtype=draft.dtype, device=draft.device),
                )
                if n != 1:
                    rest = p.detach()
                    low, width = low + width * (part - 1) / 10, width / 10
                    break
            else:
                low += width
                break
        if rest is not None and 1 - low > 1e-4:
            outcome[j] *= low
            outcome[j] += (1 - low) * rest
    return draft.detach() @ outcome
''',
    },
]
