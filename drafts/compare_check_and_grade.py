"""Points of `check` and of the grade on fresh answers: python compare.py ANSWERS.py OUT.jsonl [LESSON ...]"""
import json, runpy, sys, tempfile, time
from collections import defaultdict
from pathlib import Path

from tests.test_check_and_grade import checked, solutions, hand_in, grade_lesson, build_course, released_notebook, write_answers, grades
from tests.support.repository import SEED

answers = runpy.run_path(sys.argv[1])["ANSWERS"]
out = Path(sys.argv[2])
wanted = sys.argv[3:]
by = defaultdict(lambda: defaultdict(list))
for n, a in enumerate(answers):
    by[a["lesson"]][a["exercise"]].append((n, a))
for lesson in sorted(by):
    if wanted and lesson not in wanted: continue
    begun = time.time()
    with tempfile.TemporaryDirectory() as folder:
        root = build_course(Path(folder) / "course", [lesson], seed=SEED, release=True)
        right = solutions(root, lesson)
        count = max(map(len, by[lesson].values()))
        notebooks, used = [], []
        for i in range(count):
            mine = {name: found[i] for name, found in by[lesson].items() if i < len(found)}
            unknown = set(mine) - set(right)
            if unknown: print("unknown", lesson, unknown); mine = {k: v for k, v in mine.items() if k in right}
            notebook = write_answers(released_notebook(root, lesson), right | {name: a["code"] for name, (_, a) in mine.items()})
            hand_in(root, lesson, f"turn-{i}", notebook)
            notebooks.append(notebook); used.append(mine)
        grade_lesson(root, lesson)
        given = {(g.student, g.verdict.exercise): g.verdict for g in grades(root, lesson)}
        for i, (notebook, mine) in enumerate(zip(notebooks, used)):
            said = checked(notebook, Path(folder))
            for name, (n, a) in mine.items():
                v = given.get((f"turn-{i}", name))
                row = {"n": n, "lesson": lesson, "exercise": name, "kind": a["kind"], "note": a["note"], "check": said.get(name), "grade": (v.earned, v.status) if v else None,
                       "of": getattr(v, "points", None), "named": [str(x) for x in getattr(v, "mistakes", [])][:3] if v else None}
                with out.open("a") as f: f.write(json.dumps(row) + "\n")
    print(lesson, count, f"{time.time()-begun:.0f} s", flush=True)
