"""What several exercises of the lesson say."""

TURNING = "2. Turn a vector by its position"
CLOCKS = "3. Many clocks"
LAYOUTS = "6. Two layouts in memory"


def turned(case, far):
    """Judged with room for angles in float32, for positions up to `far` (see the top of the package)."""
    return case.tolerance(1e-4, max(1e-5, 1e-6 * far))
