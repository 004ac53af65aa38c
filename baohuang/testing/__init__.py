"""Help for tests: builders of situations, hypothesis strategies, and the runner of rule cases.

`baohuang.testing.strategies` needs hypothesis; nothing else here does.
"""
