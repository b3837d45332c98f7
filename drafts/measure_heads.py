import torch, re
import torch.nn.functional as F
from course.models.river_town import generate_stories, _entries, _town
from course.models.small_lm import split_words
from course.models import river_town
D={}
for e in _entries("clue"): D.setdefault(e["word"],{}).setdefault((e["did"],e["did2"],e["did3"]),[]).append(e["name"])
ENDS={".","?","!","¶",'"'}
def cases(per=50, only=None, seed=2, words=300_000):
    out={}
    for s in generate_stories(words,seed).splitlines():
        t=split_words(s); low=[a.lower() for a in t]
        for i in range(1,len(t)-1):
            if low[i] in D and (only is None or low[i]==only):
                for m,(f,c) in enumerate(D[low[i]].items()):
                    if low[i+1] in f:
                        b=i
                        while b and t[b-1] not in ENDS: b-=1
                        pos=[j for j in range(max(b,i-12),i-1) if low[j] in c]
                        if pos:
                            L=out.setdefault((low[i],m),[])
                            k=tuple(low[b:i+1])
                            if len(L)<per and k not in [x[0] for x in L]: L.append((k,pos[-1]-b,f,[g for g in D[low[i]] if g!=f][0]))
    return [x for l in out.values() for x in l]
def plain_text(words,seed):
    T=_town()["text"]; keep=T["stories"]; T["stories"]=[s for s in keep if ":clue}" not in s]
    t=generate_stories(words,seed); T["stories"]=keep; return t
BANK=cases(50,"bank"); ALL=cases(13); PLAIN=None
@torch.no_grad()
def evaluate(model, words, full=False):
    ids_of={w.lower():i for i,w in enumerate(words)}
    out={}
    for name,C in (("bank",BANK),("all",ALL)):
        T=max(len(c[0]) for c in C)
        ids=torch.zeros(len(C),T,dtype=torch.long); last=torch.tensor([len(c[0])-1 for c in C]); clue=torch.tensor([c[1] for c in C])
        for r,c in enumerate(C): ids[r,:len(c[0])]=torch.tensor([ids_of[w] for w in c[0]])
        R=torch.arange(len(C))
        good=torch.tensor([[ids_of[w] for w in c[2]] for c in C]); bad=torch.tensor([[ids_of[w] for w in c[3]] for c in C])
        def right(change=None):
            lg=model.run(ids,change).logits[R,last]; p=lg.softmax(-1)
            a=p.gather(1,good).sum(1); b=p.gather(1,bad).sum(1)
            return int((a>b).sum()), float((a/(a+b)).mean())
        w=model.run(ids).weights  # 3,B,4,T,T
        at=w[:,R,:,last,clue]  # B,3,4?
        at=torch.stack([w[:,r,:,last[r],clue[r]] for r in R]) # B,3,4
        pv=torch.stack([w[:,r,:,last[r],last[r]-1] for r in R]).mean(0)
        n=(at>=.5).sum(0)
        ab=torch.zeros(3,4,dtype=torch.long)
        for l in range(3):
            for h in range(4):
                def z(layer,heads,l=l,h=h):
                    if layer==l: heads=heads.clone(); heads[:,h]=0
                    return heads
                ab[l,h]=right(z)[0]
        out[name]=(len(C),right(),n.tolist(),ab.tolist(),[[round(x,2) for x in q] for q in at.mean(0).tolist()])
    return out
@torch.no_grad()
def repeats(model,n):
    g=torch.Generator().manual_seed(3); per=12
    d=torch.stack([torch.randperm(n,generator=g)[:per] for _ in range(16)]).repeat(1,4)
    w=model.run(d).weights
    q=torch.arange(2*per,4*per)
    f=lambda k:[[round(x,2) for x in y] for y in w[...,q,q-k].mean((1,3)).tolist()]
    lo=F.cross_entropy(model(d[:,:-1]).transpose(1,2),d[:,1:],reduction="none")
    return dict(same=f(12),self=f(0),prev=f(1),ind=f(11),loss=round(float(lo[:,15:].mean()),3),first=round(float(lo[:,:11].mean()),2))
