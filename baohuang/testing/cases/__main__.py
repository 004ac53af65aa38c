"""`python -m baohuang.testing.cases FILE ...`: prints each failure, then `N passed, N failed`."""

import sys

from baohuang.testing.cases.run import main

sys.exit(main(sys.argv[1:]))
