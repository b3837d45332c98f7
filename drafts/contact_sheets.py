from PIL import Image
from pathlib import Path
import collections,sys
g=collections.defaultdict(list)
for p in sorted(Path('.').glob('*.png')):
    if p.name.startswith('sheet'): continue
    l,t,n=p.stem.rsplit('-',2); g[l,t].append(p)
for (l,t),ps in g.items():
    ims=[Image.open(p) for p in ps]
    w,h=ims[0].size
    per=6
    for k in range(0,len(ims),per):
        part=ims[k:k+per]
        s=Image.new('RGB',(w*3,h*2))
        for i,im in enumerate(part): s.paste(im,((i%3)*w,(i//3)*h))
        s.save(f'sheet-{l}-{t}-{k//per}.png')
print(len(g), w,h)
