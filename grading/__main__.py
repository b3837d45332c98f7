"""`python -m grading` is the `grading` command."""

import sys

from .cli import main

sys.exit(main())
