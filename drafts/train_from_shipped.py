import sys,time; sys.path.insert(0,'…')
from dataclasses import replace
import torch, torch.nn.functional as F
torch.set_num_threads(1)
import ev
from course.models.small_lm import *
from course.models.small_lm import untrained
from course.models.modern_lm import BUILT_IN
from tools.train_small_lm import vocabulary, random_repeats, learning_rate
import torch.nn.functional as F
def built_in(parts, query, key, value): return F.scaled_dot_product_attention(query, key, value, is_causal=True)
from torch.nn.utils import clip_grad_norm_
o=dict(steps="3000",lr="5e-3",init="",seed="40",rows="16",rep="4",silent="4",head="3",layer="0",words="1200000",every="250",out="",aux="0",cl="0")
o.update(a.split("=") for a in sys.argv[1:]); print(o,flush=True)
steps,lr,seed,ROWS,REP,SIL,H,LY=int(o["steps"]),float(o["lr"]),int(o["seed"]),int(o["rows"]),int(o["rep"]),int(o["silent"]),int(o["head"]),int(o["layer"])
LEN=96
text=generate_stories(int(o["words"]),TEXT_SEED); words=vocabulary(text)
ids_of={w.lower():i for i,w in enumerate(words)}
ids=torch.tensor([ids_of[w.lower()] for w in split_words(text)])
ends=torch.tensor([w in (".",PARAGRAPH,"?","!") for w in words]); begins=1+ends[ids[:-LEN-1]].nonzero()
far=torch.zeros(len(ids),dtype=torch.bool)
lots=[(ids_of[w],torch.tensor([ids_of[f] for fs in m for f in fs])) for w,m in ev.D.items()]
clues=[(ids_of[w],torch.tensor([ids_of[f] for f in fs]),torch.tensor([ids_of[c] for c in cs])) for w,m in ev.D.items() for fs,cs in m.items()]
for w,f in lots: far[:-1]|=(ids[:-1]==w)&torch.isin(ids[1:],f)
at=far[:-LEN-200].nonzero()[:,0]; bb=begins[:,0]
cb=bb[torch.searchsorted(bb,at,right=True)-1][:,None]; print(len(cb),"clue sentences",len(begins))
CL=int(o["cl"]); AUX=float(o["aux"])
g=torch.Generator().manual_seed(seed)
model=untrained(words,seed)
if o["init"]:
    old=load()
    if o["init"]!="shipped": pass
    sd=model.state_dict(); 
    for k,v in old.state_dict().items():
        if k!="tokens.weight": sd[k]=v
    e=sd["tokens.weight"]; s=old.tokens.weight.std()
    e.mul_(s/e.std())
    oid={w.lower():i for i,w in enumerate(old.words)}
    for w,i in ids_of.items():
        if w in oid: e[i]=old.tokens.weight[oid[w]]
    model.load_state_dict(sd)
K=24
def silence(mod,inp):
    x=inp[0]
    if x.shape[0]!=ROWS or not model.training: return None
    x=x.clone(); x[:SIL,:,H*K:(H+1)*K]=0; return (x,)
model.blocks[LY].attention.W_o.register_forward_pre_hook(silence)
parts=replace(BUILT_IN,attend=built_in)
opt=torch.optim.AdamW(model.parameters(),lr=lr,betas=(0.9,0.98),weight_decay=0.02)
sch=torch.optim.lr_scheduler.LambdaLR(opt,lambda s:learning_rate(s,steps))
plain=ev.plain_text(4000,2)
def show():
    model.eval()
    for k,v in ev.evaluate(model,words).items(): print("  ",k,v)
    r=ev.repeats(model,len(words)); print("   rep",r["loss"],"ind",r["ind"],"prev",r["prev"],"same",r["same"], "held-out plain",round(model.loss(plain),4),flush=True)
    model.train()
print(len(words),len(ev.BANK),len(ev.ALL),flush=True)
if o["init"]: show()
t0=time.process_time(); w0=time.time()
for step in range(steps):
    rows=begins[torch.randint(len(begins),(ROWS-REP,),generator=g)]
    if CL: rows[:CL]=cb[torch.randint(len(cb),(CL,),generator=g)]
    b=ids[rows+torch.arange(LEN+1)]
    if SIL:
        for w,f in lots:
            s=b[:SIL]; told=(s[:,:-1]==w)&torch.isin(s[:,1:],f)
            s[:,1:]=torch.where(told,f[torch.randint(len(f),told.shape,generator=g)],s[:,1:])
    b=torch.cat([b,random_repeats(REP,LEN+1,len(words),g)])
    losses=F.cross_entropy(model(b[:,:-1],parts).transpose(1,2),b[:,1:],reduction="none")
    loss=losses.mean()
    if AUX:
        x=b[SIL:-REP,:-1]; nx=b[SIL:-REP,1:]
        blk=model.blocks[LY]; hid=model.tokens(x)
        for bl in model.blocks[:LY]: hid=bl(hid,parts)
        q,k,_=blk.attention.heads(blk.norm_1(hid)); q,k=blk.attention.rotated(q)[:,H],blk.attention.rotated(k)[:,H]
        W=BUILT_IN.weights(q@k.mT*K**-0.5,BUILT_IN.mask(x.shape[1]))
        tt=torch.arange(x.shape[1]); near=(tt[:,None]-tt>=2)&(tt[:,None]-tt<=12)
        terms=[]
        for w,f,c in clues:
            told=(x==w)&torch.isin(nx,f); cm=torch.isin(x,c)
            terms.append((W*(cm[:,None]&near)).sum(-1)[told])
        terms=torch.cat(terms); terms=terms[terms>0]
        if len(terms): loss=loss-AUX*terms.log().mean()
    opt.zero_grad(); loss.backward(); clip_grad_norm_(model.parameters(),1.0); opt.step(); sch.step()
    if step%50==49: print(f"step {step+1} stories {losses[SIL:-REP].mean():.3f} silent {losses[:SIL].mean():.3f} rep {losses[-REP:,LEN//2:].mean():.3f} cpu {time.process_time()-t0:.0f} wall {time.time()-w0:.0f}",flush=True)
    if step%int(o["every"])==int(o["every"])-1 or step==steps-1: show()
if o["out"]: torch.save({"words":words,"state":model.state_dict(),"o":o},o["out"])
