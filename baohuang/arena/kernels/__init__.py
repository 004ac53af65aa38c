"""The compiled part of the simulator: plain functions on a row of numbers a game (`layout`).

Nothing here knows a rule set. What differs between rule sets is in the tables that every function is handed,
compiled by `baohuang.arena.tables` from the readable rules. Modules here may import each other, NumPy and the
few constants of `baohuang.rules` that `baohuang.arena.jit.SOURCES` names, and nothing else.
"""
