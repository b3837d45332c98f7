"""What the grade says of fresh wrong answers: python names.py OUT LESSON..."""
import sys, runpy, json
from pathlib import Path
from benchmarks.naming import judged
from grading.exercises.answer_text import Answer
from grading.exercises.lesson import load_lesson
A=runpy.run_path('fresh_answers.py')['ANSWERS']
for lesson in sys.argv[2:]:
    ex=load_lesson(Path('grader_tests')/lesson).exercises
    for n,a in enumerate(A):
        if a['lesson']!=lesson or a['kind']!='wrong' or a['exercise'] not in ex: continue
        try:
            v=judged(ex[a['exercise']],Answer(a['exercise'],'handed in',a['code']),seed=7)[0]
            row=[n,lesson,a['exercise'],a['note'],v.earned,v.mistake_names,v.explanation,v.advice]
        except Exception as e: row=[n,lesson,a['exercise'],a['note'],None,repr(e)[:200],'','']
        with open(sys.argv[1],'a') as f: f.write(json.dumps(row)+"\n")
