"""The only writer of live games: validates commands against the log of a game and appends what follows."""
