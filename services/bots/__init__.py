"""The bots' workers: a queue of awaited decisions, and processes that have built-in bots decide them."""
