"""Constants and helpers that several exercises of the lesson share."""

TURNING = "3. Turn a vector by its position"
CLOCKS = "4. Many clocks"
GAP = "6. Only the gap counts"
LAYOUTS = "Two layouts in memory (extra)"


def turned(case, far):
    """Allow the error of float32 angles at positions up to `far` (see the package)."""
    return case.tolerance(1e-4, max(1e-5, 1e-6 * far))
