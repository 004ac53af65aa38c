"""The lobby: tables over REST, and the followers that keep their games going."""
