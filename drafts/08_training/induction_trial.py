import math,time,torch,sys
from torch import nn
from torch.nn import functional as F
torch.set_num_threads(1)
exec(open('/tmp/l08/solutions_exec.py').read())
D,H,T,N,B,steps,peak,lo,hi=[float(v) for v in sys.argv[1:10]]
D,H,T,N,B,steps,lo,hi=map(int,(D,H,T,N,B,steps,lo,hi))
L=2
class M(nn.Module):
    def __init__(s):
        super().__init__(); s.block_size=T
        s.tok=nn.Embedding(N,D); s.pos=nn.Embedding(T,D)
        s.blocks=nn.ModuleList(TransformerBlock(D,H,0.0) for _ in range(L)); s.norm=nn.LayerNorm(D); s.head=nn.Linear(D,N)
        s.register_buffer('mask',torch.ones(T,T,dtype=torch.bool).triu(1))
        nn.init.normal_(s.tok.weight,std=0.5*D**-.5*2); nn.init.normal_(s.pos.weight,std=.5*D**-.5*2)
    def forward(s,i):
        T=i.shape[1]; x=s.tok(i)+s.pos.weight[:T]
        for b in s.blocks: x=b(x,s.mask[:T,:T])
        return s.head(s.norm(x))

def rep(B,g):
    M_,S=lo,hi
    lst=torch.rand(B,N,generator=g).argsort(1)[:,:M_]
    k=-(-(T+1-M_)//S)
    st=torch.randint(M_-S+1,(B,k,1),generator=g)
    idx=(st+torch.arange(S)).flatten(1)
    full=torch.cat([lst,lst.gather(1,idx)],1)[:,:T+1]
    x,y=full[:,:-1],full[:,1:].clone()
    z=y.clone(); pos=torch.arange(1,T+1); z[:, (pos<M_)|((pos-M_)%S==0)]=-100; rep.z=z
    return x,y
def maps(m,ids):
    out=[]; hs=[]
    for mod in m.modules():
        if isinstance(mod,nn.MultiheadAttention):
            hs.append(mod.register_forward_pre_hook(lambda mod,a,k: out.append((mod,a,k)),with_kwargs=True))
    m.eval(); 
    with torch.no_grad(): m(ids)
    for h in hs: h.remove()
    with torch.no_grad(): return torch.stack([mod(*a,**{**k,'need_weights':True,'average_attn_weights':False})[1] for mod,a,k in out],1)
def prev(w):
    return w.diagonal(-1,3,4).mean((0,3))
def score(w,ids):
    prev=ids.roll(1,1); T=ids.shape[1]
    hit=(ids[:,:,None]==prev[:,None,:])&torch.ones(T,T,dtype=torch.bool).tril()
    hit[:,:,0]=False
    has=hit.any(-1)
    return ((w*hit[:,None,None]).sum(-1)*has[:,None,None]).sum((0,3))/has.sum()
torch.manual_seed(int(sys.argv[10]) if len(sys.argv)>10 else 0)
m=M(); g=torch.Generator().manual_seed(int(sys.argv[10]) if len(sys.argv)>10 else 0)
opt=torch.optim.AdamW(m.parameters(),lr=peak)
t0=time.process_time();w0=time.time();run=[]
gt=torch.Generator().manual_seed(99); tx,ty=rep(64,gt); tz=rep.z
for s in range(steps):
    for q in opt.param_groups: q['lr']=learning_rate(s,steps//10,steps,peak)
    x,y=rep(B,g)
    m.train();opt.zero_grad();l=language_model_loss(m(x),y);l.backward();nn.utils.clip_grad_norm_(m.parameters(),1.0);opt.step();run.append(l.item())
    if (s+1)%max(1,steps//12)==0: print(s+1,'%.3f'%(sum(run[-20:])/20), [[round(float(v),2) for v in r] for r in score(maps(m,tx),tx)], [[round(float(v),2) for v in r] for r in prev(maps(m,tx))],'clean %.3f'%float(language_model_loss(m(tx),tz)),'cpu %.1f'%(time.process_time()-t0),flush=True)
