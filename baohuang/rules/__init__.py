"""The rules of Baohuang as a decider: `decide`, `evolve`, `view` and `redact` on frozen values.

Clause ids such as R4.1 are those of docs/rules.md.
"""
