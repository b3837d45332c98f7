# %% wrong: layernorm | The mean is subtracted first, as in LayerNorm; an RMS norm only divides by the root mean square.
def qk_norm_scores(query, key, gain_q, gain_k):
    def norm(x, g):
        x = x - x.mean(-1, keepdim=True)
        return x / torch.sqrt((x ** 2).mean(-1, keepdim=True) + 1e-6) * g
    q, k = norm(query, gain_q), norm(key, gain_k)
    return q @ k.transpose(-2, -1) / math.sqrt(query.shape[-1])
# %% wrong: l2_normalize | Vectors are divided by their length (L2 norm) and not by their root mean square, so they are too small by the factor √K.
def qk_norm_scores(query, key, gain_q, gain_k):
    q = F.normalize(query, dim=-1) * gain_q
    k = F.normalize(key, dim=-1) * gain_k
    return torch.einsum("...tk,...sk->...ts", q, k) * query.size(-1) ** -0.5
# %% wrong: no_scale | The dot products are not multiplied by 1/√K, as if the normalisation had replaced the scaling.
class _RMS(nn.Module):
    def __init__(self, gain):
        super().__init__()
        self.g = gain
    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.g
def qk_norm_scores(query, key, gain_q, gain_k):
    q = _RMS(gain_q).forward(query)
    k = _RMS(gain_k).forward(key)
    return q.matmul(k.mT)
# %% wrong: scale_by_K | The dot products are divided by K instead of by √K.
def qk_norm_scores(query, key, gain_q, gain_k):
    K = query.shape[-1]
    rms = lambda t: (t.square().mean(dim=-1, keepdim=True) + 1e-6).sqrt()
    qn = query / rms(query) * gain_q
    kn = key / rms(key) * gain_k
    return (qn @ kn.transpose(-1, -2)) / K
# %% wrong: eps_outside_root | The small number is added to the root and not to the mean square under the root.
def rms_norm_(x, weight, eps=1e-6):
    root = torch.sqrt(torch.mean(x * x, dim=-1, keepdim=True))
    return x / (root + eps) * weight
def qk_norm_scores(query, key, gain_q, gain_k):
    scores = rms_norm_(query, gain_q) @ rms_norm_(key, gain_k).transpose(-2, -1)
    return scores / query.shape[-1] ** 0.5
# %% wrong: no_eps | The 1e-6 is left out, so a vector of zeros gives 0/0 = NaN.
def qk_norm_scores(query, key, gain_q, gain_k):
    query = gain_q * query / query.pow(2).mean(-1, True).sqrt()
    key = gain_k * key / key.pow(2).mean(-1, True).sqrt()
    return torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(key.shape[-1])
# %% wrong: only_queries | Only the queries are normalised; the keys are merely multiplied by their gain.
def qk_norm_scores(query, key, gain_q, gain_k):
    K = query.shape[-1]
    q = F.rms_norm(query, (K,), gain_q, 1e-6)
    k = key * gain_k
    return q @ k.mT / K ** 0.5
# %% wrong: shared_gain | The gain of the queries is used for the keys too.
def qk_norm_scores(query, key, gain_q, gain_k):
    def norm(x, gain=gain_q):
        ms = torch.mean(x ** 2, dim=-1, keepdim=True)
        return gain * (x * torch.rsqrt(ms + 1e-6))
    return torch.einsum("...ik,...jk->...ij", norm(query), norm(key)) / math.sqrt(query.shape[-1])
# %% wrong: one_plus_gain | The gain is taken as an offset from 1, (1 + gain), as in Gemma's code, and not as the factor itself.
def qk_norm_scores(query, key, gain_q, gain_k):
    def _norm(x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    q = _norm(query) * (1.0 + gain_q)
    k = _norm(key) * (1.0 + gain_k)
    d = q.shape[-1]
    return q @ k.transpose(-2, -1) * d ** -0.5
# %% wrong: rms_over_positions | The mean of squares is taken over the positions (dimension -2) and not over the entries of each vector.
def qk_norm_scores(query, key, gain_q, gain_k):
    q_rms = torch.sqrt(query.pow(2).mean(dim=-2, keepdim=True) + 1e-6)
    k_rms = torch.sqrt(key.pow(2).mean(dim=-2, keepdim=True) + 1e-6)
    q = query / q_rms * gain_q
    k = key / k_rms * gain_k
    return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
# %% wrong: rms_of_whole_tensor | One root mean square of the whole tensor is used for all vectors, instead of one for each vector.
def qk_norm_scores(query, key, gain_q, gain_k):
    out = []
    for x, g in ((query, gain_q), (key, gain_k)):
        out.append(x / (x.pow(2).mean() + 1e-6).sqrt() * g)
    q, k = out
    return torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.shape[-1])
# %% wrong: in_place | The query and key of the caller are overwritten by in-place division.
def qk_norm_scores(query, key, gain_q, gain_k):
    query /= torch.sqrt(query.pow(2).mean(-1, keepdim=True) + 1e-6)
    key /= torch.sqrt(key.pow(2).mean(-1, keepdim=True) + 1e-6)
    return (query * gain_q) @ (key * gain_k).transpose(-2, -1) / math.sqrt(query.shape[-1])
# %% wrong: detached_rms | The root mean square is treated as a constant (detached), so the gradient with respect to query and key is wrong.
def qk_norm_scores(query, key, gain_q, gain_k):
    def normalise(x, gain):
        rms = (x.detach().square().mean(-1, keepdim=True) + 1e-6).sqrt()
        return x / rms * gain
    q = normalise(query, gain_q)
    k = normalise(key, gain_k)
    return q @ k.mT / math.sqrt(q.size(-1))
# %% wrong: missing_root | Vectors are divided by the mean square; the square root is forgotten.
def qk_norm_scores(query, key, gain_q, gain_k):
    mean_sq_q = (query * query).sum(-1, keepdim=True) / query.shape[-1]
    mean_sq_k = (key * key).sum(-1, keepdim=True) / key.shape[-1]
    q = gain_q * query / (mean_sq_q + 1e-6)
    k = gain_k * key / (mean_sq_k + 1e-6)
    return torch.einsum("...td,...sd->...ts", q, k) / math.sqrt(query.shape[-1])
# %% wrong: gain_before_norm | The gain is multiplied in before the root mean square is taken, so the normalisation partly undoes it.
def qk_norm_scores(query, key, gain_q, gain_k):
    def rms_norm(x):
        return x / torch.sqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    q = rms_norm(query * gain_q)
    k = rms_norm(key * gain_k)
    return q @ k.transpose(-2, -1) / math.sqrt(query.shape[-1])
# %% right: plain
def qk_norm_scores(query, key, gain_q, gain_k):
    q = query / torch.sqrt((query ** 2).mean(-1, keepdim=True) + 1e-6) * gain_q
    k = key / torch.sqrt((key ** 2).mean(-1, keepdim=True) + 1e-6) * gain_k
    return q @ k.transpose(-2, -1) / math.sqrt(query.shape[-1])
# %% right: rms_norm_builtin
def qk_norm_scores(query, key, gain_q, gain_k):
    K = query.shape[-1]
    q = F.rms_norm(query, (K,), weight=gain_q, eps=1e-6)
    k = F.rms_norm(key, (K,), weight=gain_k, eps=1e-6)
    return torch.einsum("...tk,...sk->...ts", q, k) * K ** -0.5
# %% right: gains_merged
def qk_norm_scores(query, key, gain_q, gain_k):
    K = query.shape[-1]
    raw = (query * (gain_q * gain_k)) @ key.mT
    inv_q = torch.rsqrt(query.square().mean(-1) + 1e-6).unsqueeze(-1)
    inv_k = torch.rsqrt(key.square().mean(-1) + 1e-6).unsqueeze(-2)
    return raw * inv_q * inv_k / K ** 0.5
# %% right: module
class RMSNorm(nn.Module):
    def __init__(self, eps=1e-6):
        super().__init__()
        self.eps = eps
    def forward(self, x, gain):
        var = x.pow(2).sum(-1, keepdim=True) / x.size(-1)
        return gain * (x * (var + self.eps).pow(-0.5))
def qk_norm_scores(query, key, gain_q, gain_k):
    norm = RMSNorm()
    q = norm(query, gain_q) / query.size(-1) ** 0.25
    k = norm(key, gain_k) / query.size(-1) ** 0.25
    return torch.matmul(q, k.transpose(-1, -2))
# %% right: loop_over_queries
def qk_norm_scores(query, key, gain_q, gain_k):
    d = key.shape[-1]
    def unit(v, g):
        return v * g / (v.mul(v).mean(-1, keepdim=True).add(1e-6)).sqrt()
    key = unit(key, gain_k)
    rows = []
    for t in range(query.shape[-2]):
        q = unit(query[..., t, :], gain_q)
        rows.append((key * q.unsqueeze(-2)).sum(-1))
    return torch.stack(rows, dim=-2) / math.sqrt(d)
