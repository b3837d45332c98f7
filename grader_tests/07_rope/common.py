"""Constants and helpers that several exercises of the lesson share."""

TURNING = "2. Turn a vector by its position"
CLOCKS = "3. Many clocks"
LAYOUTS = "6. Two layouts in memory"


def turned(case, far):
    """Allow the error of float32 angles at positions up to `far` (see the package)."""
    return case.tolerance(1e-4, max(1e-5, 1e-6 * far))
