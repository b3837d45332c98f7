"""measure.py LESSON_NN: verdicts of independent answers, in naming-43/measured_NN.txt"""
import sys,re,glob,os,types
from pathlib import Path
ROOT=Path("."); sys.path.insert(0,str(ROOT))
import torch, math
from grading.exercises.lesson import load_lesson
from grading.grader.local import grade_in_process
from grading.proof.prover import own_code
n=sys.argv[1]; only=sys.argv[2:]
lesson=next(p.name for p in (ROOT/"grader_tests").glob(f"{n}_*"))
L=load_lesson(ROOT/"grader_tests"/lesson)
out=open(f"naming-43/measured_{n}{'_'+only[0] if only else ''}.txt","w")
GIVEN={"torch":torch,"math":math,"nn":torch.nn,"F":torch.nn.functional}
# right answers to the other exercises of the lesson
solved=dict(GIVEN)
for f in sorted(glob.glob(f"naming-43/{n}/*.py")):
    t=open(f).read(); ex=os.path.basename(f)[:-3]
    m=re.search(r"^# %% right: .*\n((?:(?!# %%).*\n?)*)",t,re.M)
    ns=dict(GIVEN); exec(m[1],ns); solved[ex]=ns[ex]
for f in sorted(glob.glob(f"naming-43/{n}/*.py")):
    ex=os.path.basename(f)[:-3]
    if only and ex not in only: continue
    e=L.exercises[ex]
    for kind,head,body in re.findall(r"^# %% (wrong|right): ?(.*)\n((?:(?!# %%).*\n?)*)",open(f).read(),re.M):
        ns=dict(solved)
        try:
            exec(compile(body,"<answer>","exec"),ns)
            v=grade_in_process(e,{**solved,ex:ns[ex]},seed=0,cells=[body],lesson=L)
            txt=(v.mistake_names or "-") + ("" if v.certain else " (hedged)")
            lost=[c.name[:30] for c in v.criteria if c.earned<c.points]
            res=f"{v.earned:g}/{e.points:g} {txt} | lost: {lost} | {v.status}"
        except Exception as x: res=f"ERROR {type(x).__name__}: {x}"
        print(f"{ex}\t{kind}\t{head}\n      -> {res}",file=out,flush=True)
print("done",file=out)
