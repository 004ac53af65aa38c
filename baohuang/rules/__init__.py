"""The rules of Baohuang as a decider: `decide`, `evolve`, `view` and `redact` on frozen values.

To read them, begin with the words (`cards`, `actions`, `roles`, `ruleset`), then what beats what (`cover`,
`shapes`, `plays`), what happens (`commands`, `events`, `state`, `outcome`), and last `decide` and `evolve`,
which call the rest. Clause ids such as R4.1 are those of docs/rules.md.
"""
