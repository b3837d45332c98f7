import random,sys,json,copy
sys.path.insert(0,'/work/main')
import pytest
from tests.nbgrader_plugins import test_repair as t
def test_show(sanitize, course, solved):
    for seed in (2456,):
        s=copy.deepcopy(solved)
        rng=random.Random(seed); names=rng.choices(sorted(t.MANGLES), k=rng.randint(2,6)); print("=====",seed,names)
        for n in names: t.MANGLES[n](s,rng)
        for c in s["cells"]: print("  IN ",c["cell_type"],c.get("id"),repr(c["source"][:150]),str(c["metadata"].get("nbgrader"))[:60])
        nb=sanitize(s)
        for c in nb["cells"]: print("  OUT ",c["cell_type"],c.get("id"),repr(c["source"][:150]),c["metadata"].get("nbgrader",{}).get("grade_id"))
        print(nb.metadata)
from tests.nbgrader_plugins.conftest import *
from tests.nbgrader_plugins.test_repair import solved
