def test_graded(graded):
    print(graded.root)
