"""measure2.py SET_FOLDER LESSON OUT EXERCISE…: verdicts, with source lines as in a notebook"""
import sys,re,glob,os,linecache
from pathlib import Path
sys.path.insert(0,".")
import torch, math
from grading.exercises.lesson import load_lesson
from grading.grader.local import grade_in_process
folder,n,outp,*only=sys.argv[1:]
lesson=next(p.name for p in Path("grader_tests").glob(f"{n}_*"))
L=load_lesson(Path("grader_tests")/lesson)
out=open(outp,"a")
GIVEN={"torch":torch,"math":math,"nn":torch.nn,"F":torch.nn.functional}
k=0
def run(body,ns):
    global k; k+=1; name=f"<ipython-input-{k}>"
    linecache.cache[name]=(len(body),None,body.splitlines(True),name); exec(compile(body,name,"exec"),ns)
PAT=r"^# %% (wrong|right): ?(.*)\n((?:(?!# %% (?:wrong|right)).*\n?)*)"
solved=dict(GIVEN)
for f in sorted(glob.glob(f"{folder}/{n}/*.py")):
    t=open(f).read(); ex=os.path.basename(f)[:-3]
    body=[b for kind,_,b in re.findall(PAT,t,re.M) if kind=="right"][0]
    ns=dict(GIVEN); run(body,ns); solved[ex]=ns[ex]
for ex in only:
    f=f"{folder}/{n}/{ex}.py"
    e=L.exercises[ex]
    for kind,head,body in re.findall(PAT,open(f).read(),re.M):
        ns=dict(solved)
        try:
            run(body,ns)
            v=grade_in_process(e,{**solved,ex:ns[ex]},seed=0,cells=[body],lesson=L)
            txt=(str(v.mistake_names) if v.mistake_names else "-") + ("" if v.certain else " (hedged)")
            lost=[c.name[:30] for c in v.criteria if c.earned<c.points]
            res=f"{v.earned:g}/{e.points:g} {txt} | lost: {lost} | {v.status}"
        except Exception as x: res=f"ERROR {type(x).__name__}: {x}"
        print(f"{ex}\t{kind}\t{head}\n      -> {res}",file=out,flush=True)
