"""`python -m baohuang.cli` is `baohuang`."""

from baohuang.cli import main

main()
