"""Players, names and tokens."""

import pytest

from services.kit.errors import PlatformError
from services.lobby.messages.players import NewPlayer, NewToken


async def refused(reason, call):
    with pytest.raises(PlatformError) as raised:
        await call
    assert raised.value.reason == reason
    return raised.value


async def test_a_player_has_a_token_of_which_only_a_digest_is_kept(scene):
    registered = await scene.lobby.players.register(NewPlayer(name="保皇高手"))
    caller = await scene.lobby.callers.caller(registered.secret)
    assert (caller.name, caller.is_bot, caller.scopes) == ("保皇高手", False, {"play"})
    [(stored,)] = await scene.execute("select array_agg(t::text) from (select * from lobby.tokens) t")
    assert registered.secret not in str(stored)
    assert await scene.lobby.players.get(caller.player_id) == registered.player


async def test_a_program_has_the_scope_bot(scene):
    caller = await scene.player(is_bot=True)
    assert (caller.is_bot, caller.scopes) == (True, {"bot"})


@pytest.mark.parametrize("other", ["Paul", "paul", "PAUL", "PauI", "Раul", "P a u l"])
async def test_names_that_look_alike_are_refused(other, scene):
    await scene.lobby.players.register(NewPlayer(name="Paul"))
    error = await refused("NAME_TAKEN", scene.lobby.players.register(NewPlayer(name=other)))
    assert error.violations[0].field == "name"
    [(players,)] = await scene.execute("select count(*) from lobby.players")
    assert players == 1


@pytest.mark.parametrize("secret", ["", "bh_", "bh_" + "0" * 48, "x" * 1000, "bh_" + "g" * 48])
async def test_what_is_no_token_opens_nothing(secret, scene):
    await refused("UNAUTHENTICATED", scene.lobby.callers.caller(secret))


async def test_tokens_are_listed_and_revoked(scene):
    players, callers = scene.lobby.players, scene.lobby.callers
    first = await scene.player()
    added = await players.add_token(first, NewToken(label="laptop"))
    assert [token.label for token in (await players.tokens(first)).tokens] == ["", "laptop"]
    second = await callers.caller(added.secret)
    assert (second.player_id, second.scopes) == (first.player_id, first.scopes)
    await players.revoke_token(first, added.token.token_id)
    await refused("UNAUTHENTICATED", callers.caller(added.secret))
    await refused("TOKEN_NOT_FOUND", players.revoke_token(first, added.token.token_id))


async def test_a_token_of_others_cannot_be_revoked_but_by_an_operator(scene):
    owner, other = await scene.player(), await scene.player()
    operator = await scene.player(scopes=("operator",))
    await refused("TOKEN_NOT_FOUND", scene.lobby.players.revoke_token(other, owner.token_id))
    await scene.lobby.players.revoke_token(operator, owner.token_id)
    assert (await scene.lobby.players.tokens(owner)).tokens == []


async def test_nobody_gives_a_scope_that_he_lacks(scene):
    caller = await scene.player()
    await refused("FORBIDDEN", scene.lobby.players.add_token(caller, NewToken(scopes=["operator"])))
    await refused("MALFORMED_REQUEST", scene.lobby.players.add_token(caller, NewToken(scopes=[])))


async def test_a_token_expires(scene):
    caller = await scene.player()
    added = await scene.lobby.players.add_token(caller, NewToken(expires_in_seconds=1000))
    await scene.lobby.callers.caller(added.secret)
    await scene.execute("update lobby.tokens set expires_at = clock_timestamp() where expires_at is not null")
    scene.lobby.callers.forget(added.token.token_id)
    await refused("UNAUTHENTICATED", scene.lobby.callers.caller(added.secret))


async def test_tokens_of_a_player_are_bounded(scene):
    caller = await scene.player()
    for _ in range(49):
        await scene.lobby.players.add_token(caller, NewToken())
    await refused("TOO_MANY", scene.lobby.players.add_token(caller, NewToken()))
