"""python ft.py steps=1500 lr=2e-3 init=shipped share=0.25 seed=0 out=x.pt"""
import sys, time, math, random, re, json
from dataclasses import replace
import torch, torch.nn.functional as F
torch.set_num_threads(1)
from course.models import small_lm, river_town
from course.models.modern_lm import BUILT_IN
from course.models.small_lm import split_words, untrained, PARAGRAPH, SmallLM, held_out
from tools.train_small_lm import vocabulary, random_repeats, learning_rate, _built_in
o = dict(steps="1500", lr="2e-3", init="shipped", share="0.2", seed="40", out="", repeated="4", rows="16", pre="0", maxp="19")
o.update(a.split("=") for a in sys.argv[1:])
steps, lr, seed, R, ROWS, pre = int(o["steps"]), float(o["lr"]), int(o["seed"]), int(o["repeated"]), int(o["rows"]), int(o["pre"])
L = 96
SENSES = {"bank": (["flooded","crumbled","sank"],["opened","closed","paid"], ["river","stream","canal","lake"],["money","coins","gold","clerk"])}
town = river_town._town()
double = [s for s in town["text"]["stories"] if "<aside>" in s]; plain = [s for s in town["text"]["stories"] if "<aside>" not in s]
def text_of(stories, words, seed):
    keep = town["text"]["stories"]; town["text"]["stories"] = stories
    t = river_town.generate_stories(words, seed); town["text"]["stories"] = keep; return t
a = text_of(plain, 900_000, 1); b = text_of(double, 250_000, 1)
shipped = small_lm.load()
words = list(shipped.words); low = {w.lower() for w in words}
words += [w for w in vocabulary(b) if w.lower() not in low]
ids_of = {w.lower(): i for i, w in enumerate(words)}
def tensor(t): return torch.tensor([ids_of[w.lower()] for w in split_words(t) if w.lower() in ids_of])
A, B = tensor(a), tensor(b)
ends = torch.tensor([w in (".", PARAGRAPH, "?", "!") for w in words])
def begins(x): return 1 + ends[x[:-L-1]].nonzero()
bA, bB = begins(A), begins(B)
g = torch.Generator().manual_seed(seed)
model = untrained(words, seed)
if o["init"] == "shipped":
    sd = model.state_dict(); 
    for k, v in shipped.state_dict().items():
        if k == "tokens.weight": sd[k][: len(v)] = v; sd[k][len(v):] = sd[k][len(v):] * v.std() / sd[k].std()
        else: sd[k] = v
    model.load_state_dict(sd)
parts = replace(BUILT_IN, attend=_built_in)
held = text_of(double, 40_000, 2)
sent = [m for m in re.findall(r"[^.]*\bbank \w+[^.]*\.", held)]
def cases(n=100):
    out = []
    for s in sent:
        w = split_words(s.strip()); low_ = [x.lower() for x in w]; k = low_.index("bank")
        for which in (0, 1):
            cue = [i for i, x in enumerate(low_[:k]) if x in SENSES["bank"][2 + which]]
            if cue and 2 <= k - cue[0] <= 12: out.append((w[:k + 1], cue[0], which))
        if len(out) >= n: break
    return out[:n]
CASES = cases()
@torch.no_grad()
def evaluate(model):
    sets = [torch.tensor([ids_of[x] for x in SENSES["bank"][i]]) for i in (0, 1)]
    def score(change=None):
        ok = 0
        for w, c, which in CASES:
            ids = torch.tensor([[ids_of[x.lower()] for x in w]])
            p = model.run(ids, change).logits[0, -1].softmax(-1)
            ok += p[sets[which]].sum() > p[sets[1 - which]].sum()
        return int(ok)
    attn = torch.zeros(3, 4); prev = torch.zeros(3, 4)
    for w, c, which in CASES:
        ids = torch.tensor([[ids_of[x.lower()] for x in w]])
        r = model.run(ids); wt = r.weights[:, 0, :, -1]
        attn += (wt[..., c] >= 0.5); 
        prev += wt[..., -2] if len(w) - 1 - c > 1 else 0
    l, h = divmod(int(attn.argmax()), 4)
    def zero(layer, heads):
        if layer == l: heads = heads.clone(); heads[:, h] = 0
        return heads
    rep = random_repeats(64, L, len(words), torch.Generator().manual_seed(9))
    period = 12
    drawn = torch.randint(len(words), (32, period), generator=torch.Generator().manual_seed(3)).repeat(1, 5)
    wts = model.run(drawn).weights  # (3, B, 4, T, T)
    ind = torch.stack([wts[..., t, t - period + 1] for t in range(2 * period, 5 * period)]).mean((0, 2))
    pv = torch.stack([wts[..., t, t - 1] for t in range(2 * period, 5 * period)]).mean((0, 2))
    rl = F.cross_entropy(model(rep[:, :-1]).transpose(1, 2), rep[:, 1:], reduction="none")[:, L // 2:].mean()
    st = SmallLM(words, {}); st.load_state_dict(model.state_dict())
    loss = st.loss(text_of(plain, 4000, 2))
    print(f"  right {score()} of {len(CASES)}, head L{l}H{h} {int(attn[l,h])}, without it {score(zero)}; induction {[round(float(x),2) for x in ind.flatten()]}, previous {[round(float(x),2) for x in pv.flatten()]}, repeats {rl:.2f}, held-out {loss:.3f}", flush=True)
opt = torch.optim.AdamW(model.parameters(), lr=lr, betas=(0.9, 0.98), weight_decay=0.02)
sch = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: learning_rate(s, steps))
t0 = time.process_time(); nB = round((ROWS - R) * float(o["share"]))
print(o, len(words), "rows of double", nB, len(CASES)); evaluate(model)
for step in range(steps):
    n = 0 if step < pre else nB
    ra = bA[torch.randint(len(bA), (ROWS - R - n,), generator=g)]; rb = bB[torch.randint(len(bB), (n,), generator=g)]
    batch = torch.cat([A[ra + torch.arange(L + 1)], B[rb + torch.arange(L + 1)], random_repeats(R, L + 1, len(words), g)])
    losses = F.cross_entropy(model(batch[:, :-1], parts).transpose(1, 2), batch[:, 1:], reduction="none")
    opt.zero_grad(); losses.mean().backward(); torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0); opt.step(); sch.step()
    if step % 250 == 249 or step == steps - 1:
        print(f"step {step+1} {time.process_time()-t0:.0f} s, stories {losses[:-R].mean():.3f} repeats {losses[-R:, L//2:].mean():.3f}", flush=True); evaluate(model)
if o["out"]: torch.save({"words": words, "state": model.state_dict()}, o["out"])
