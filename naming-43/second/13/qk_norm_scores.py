# %% wrong: gain_before_norm | The gain is multiplied in before the vector is normalised, so that its size is divided out again.
def qk_norm_scores(query, key, gain_q, gain_k):
    def rms(x):
        return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-6)
    q = rms(query * gain_q)
    k = rms(key * gain_k)
    return q @ k.transpose(-2, -1) / math.sqrt(query.shape[-1])

# %% wrong: float32_upcast | The norm is computed in float32, as Llama code does, and never cast back, so float64 inputs give float32 scores.
def qk_norm_scores(query, key, gain_q, gain_k):
    q, k = query.to(torch.float32), key.to(torch.float32)
    q = q * torch.rsqrt(q.pow(2).mean(-1, keepdim=True) + 1e-6) * gain_q.float()
    k = k * torch.rsqrt(k.pow(2).mean(-1, keepdim=True) + 1e-6) * gain_k.float()
    return torch.matmul(q, k.mT) * query.size(-1) ** -0.5

# %% wrong: sum_of_squares | The vector is divided by the root of the sum of its squares, not of their mean.
def qk_norm_scores(query, key, gain_q, gain_k):
    nq = torch.sqrt(torch.einsum("...d,...d->...", query, query) + 1e-6)[..., None]
    nk = torch.sqrt(torch.einsum("...d,...d->...", key, key) + 1e-6)[..., None]
    return torch.einsum("...td,...sd->...ts", query / nq * gain_q, key / nk * gain_k) / query.shape[-1] ** 0.5

# %% wrong: whole_tensor_mean | The mean of squares is taken over the whole tensor, so all vectors share one root mean square.
def qk_norm_scores(query, key, gain_q, gain_k):
    q_hat = query / (query.square().mean() + 1e-6).sqrt()
    k_hat = key / (key.square().mean() + 1e-6).sqrt()
    return (q_hat * gain_q) @ (k_hat * gain_k).transpose(-1, -2) / math.sqrt(key.shape[-1])

# %% wrong: gains_one_plus | The gain is taken as an offset from one, as in Gemma, so vectors are multiplied by 1 + gain.
class _Norm:
    def __init__(self, w):
        self.w = w
    def __call__(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * (1 + self.w)

def qk_norm_scores(query, key, gain_q, gain_k):
    q = _Norm(gain_q)(query)
    k = _Norm(gain_k)(key)
    return q @ k.transpose(-2, -1) * (q.shape[-1] ** -0.5)

# %% wrong: eps_outside_root | The 1e-6 is added to the root instead of under it.
def qk_norm_scores(query, key, gain_q, gain_k):
    eps = 1e-6
    rq = torch.sqrt(torch.mean(query ** 2, dim=-1, keepdim=True)) + eps
    rk = torch.sqrt(torch.mean(key ** 2, dim=-1, keepdim=True)) + eps
    return (query / rq * gain_q) @ (key / rk * gain_k).mT / math.sqrt(query.shape[-1])

# %% wrong: key_not_normalised | Only the queries are normalised; the keys only get their gain.
def qk_norm_scores(query, key, gain_q, gain_k):
    q = F.rms_norm(query, (query.shape[-1],), gain_q, 1e-6)
    k = key * gain_k
    return (q @ k.transpose(-1, -2)) / math.sqrt(q.shape[-1])

# %% wrong: detached_rms | The root mean square is computed without gradient, as if it were a constant.
def qk_norm_scores(query, key, gain_q, gain_k):
    with torch.no_grad():
        sq = torch.rsqrt(query.pow(2).mean(-1, keepdim=True) + 1e-6)
        sk = torch.rsqrt(key.pow(2).mean(-1, keepdim=True) + 1e-6)
    return (query * sq * gain_q) @ (key * sk * gain_k).transpose(-1, -2) / math.sqrt(query.shape[-1])

# %% wrong: over_positions | The mean of squares runs over the positions instead of over the entries of one vector.
def qk_norm_scores(query, key, gain_q, gain_k):
    q = query / (query.pow(2).mean(-2, keepdim=True) + 1e-6).sqrt() * gain_q
    k = key / (key.pow(2).mean(-2, keepdim=True) + 1e-6).sqrt() * gain_k
    return q @ k.transpose(-2, -1) / key.shape[-1] ** 0.5

# %% wrong: root_over_positions | The scores are divided by the root of the number of keys S instead of the width K.
def qk_norm_scores(query, key, gain_q, gain_k):
    def norm(x, g):
        return g * x / torch.sqrt(torch.mean(x * x, -1, keepdim=True) + 1e-6)
    return norm(query, gain_q) @ norm(key, gain_k).transpose(-2, -1) / math.sqrt(key.shape[-2])

# %% wrong: layer_norm | The mean is subtracted first, which is layer normalisation.
def qk_norm_scores(query, key, gain_q, gain_k):
    K = query.shape[-1]
    q = F.layer_norm(query, (K,), weight=gain_q, eps=1e-6)
    k = F.layer_norm(key, (K,), weight=gain_k, eps=1e-6)
    return q @ k.mT / math.sqrt(K)

# %% wrong: default_eps | F.rms_norm is called without eps and uses its own, much smaller default.
def qk_norm_scores(query, key, gain_q, gain_k):
    K = query.shape[-1]
    q = F.rms_norm(query, (K,), weight=gain_q)
    k = F.rms_norm(key, (K,), weight=gain_k)
    return torch.einsum("...tk,...sk->...ts", q, k) * K ** -0.5

# %% wrong: gain_on_scores | The gains are averaged and multiplied into the scores instead of into the entries of the vectors.
def qk_norm_scores(query, key, gain_q, gain_k):
    q = query * torch.rsqrt(query.square().mean(-1, keepdim=True) + 1e-6)
    k = key * torch.rsqrt(key.square().mean(-1, keepdim=True) + 1e-6)
    scores = q @ k.transpose(-2, -1) / math.sqrt(query.shape[-1])
    return scores * (gain_q * gain_k).mean()

# %% wrong: in_place_scale | The caller's query and key are normalised in place.
def qk_norm_scores(query, key, gain_q, gain_k):
    for x, g in ((query, gain_q), (key, gain_k)):
        with torch.no_grad():
            r = torch.sqrt(x.pow(2).mean(dim=-1, keepdim=True) + 1e-6)
            x.div_(r)
    return (query * gain_q) @ (key * gain_k).transpose(-1, -2) / math.sqrt(query.shape[-1])

# %% wrong: dot_T | The key matrix is turned with .T, which reverses all dimensions and works only without a batch.
def qk_norm_scores(query, key, gain_q, gain_k):
    q = gain_q * query / torch.sqrt((query ** 2).mean(-1, keepdim=True) + 1e-6)
    k = gain_k * key / torch.sqrt((key ** 2).mean(-1, keepdim=True) + 1e-6)
    return q @ k.T / (q.shape[-1] ** 0.5)

# %% right: plain
def qk_norm_scores(query, key, gain_q, gain_k):
    q = query / torch.sqrt((query ** 2).mean(-1, keepdim=True) + 1e-6) * gain_q
    k = key / torch.sqrt((key ** 2).mean(-1, keepdim=True) + 1e-6) * gain_k
    return q @ k.transpose(-2, -1) / math.sqrt(query.shape[-1])

# %% right: scores_divided_afterwards
def qk_norm_scores(query, key, gain_q, gain_k):
    raw = torch.einsum("...tk,k,...sk->...ts", query, gain_q * gain_k, key)
    a = torch.rsqrt(query.square().mean(-1) + 1e-6)
    b = torch.rsqrt(key.square().mean(-1) + 1e-6)
    return raw * a[..., :, None] * b[..., None, :] * query.shape[-1] ** -0.5

# %% right: rms_norm_builtin
def qk_norm_scores(query, key, gain_q, gain_k):
    width = (query.shape[-1],)
    q = F.rms_norm(query, width, gain_q, eps=1e-6)
    k = F.rms_norm(key, width, gain_k, eps=1e-6)
    return torch.matmul(q, k.mT).div(math.sqrt(width[0]))

# %% right: loop_over_queries
def qk_norm_scores(query, key, gain_q, gain_k):
    K = query.shape[-1]
    def norm(x, g):
        return g * x * ((x * x).sum(-1, keepdim=True) / K + 1e-6) ** -0.5
    q, k = norm(query, gain_q), norm(key, gain_k)
    rows = [(k * q[..., t:t + 1, :]).sum(-1) for t in range(q.shape[-2])]
    return torch.stack(rows, -2) / K ** 0.5

# %% right: modules
class _RMS(nn.Module):
    def __init__(self, gain):
        super().__init__()
        self.g = [gain]
    def forward(self, x):
        root = torch.linalg.vector_norm(x, dim=-1, keepdim=True).square() / x.shape[-1]
        return x / (root + 1e-6).sqrt() * self.g[0]

def qk_norm_scores(query, key, gain_q, gain_k):
    return torch.einsum("...tk,...sk->...ts", _RMS(gain_q)(query), _RMS(gain_k)(key)) / math.sqrt(key.shape[-1])
