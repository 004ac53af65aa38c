"""Rule cases: short situations with their right answers, run against the library.

`python -m baohuang.testing.cases FILE` runs a file (docs/testing.md has the format).
"""

from baohuang.testing.cases.run import check_case, main, run_file

__all__ = ["check_case", "main", "run_file"]
