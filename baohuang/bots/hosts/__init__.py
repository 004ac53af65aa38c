"""Where bots run: in this process, in one of their own, or as somebody's service; what comes of it is told
in one form.

A host plays one bot in any number of games at once. Whatever the bot does, a host answers in time and raises
nothing for it: what went wrong is a `Fault` of the game concerned. The referee (baohuang.bots.referee) plays
whole games with hosts.
"""

from baohuang.bots.hosts.host import (
    MOST_GAMES,
    Answer,
    Decision,
    EndedGame,
    Fault,
    FaultKind,
    Host,
    NewGame,
    Started,
    Times,
)
from baohuang.bots.hosts.spec import open_host

__all__ = [
    "MOST_GAMES",
    "Answer",
    "Decision",
    "EndedGame",
    "Fault",
    "FaultKind",
    "Host",
    "NewGame",
    "Started",
    "Times",
    "open_host",
]
