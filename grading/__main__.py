"""`python -m grading` is the `grading` command."""

import sys

from .cli.main import main

sys.exit(main())
