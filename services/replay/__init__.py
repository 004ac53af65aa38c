"""The replay service: an index of all games, their records, and pages that step through them."""
