"""Whose decision is awaited, and until when: as the events say, whoever looks."""

from baohuang import Game, RuleSet
from baohuang.rules.autoplay import auto_action
from baohuang.rules.commands import Act, Forfeit, Start, StartAutoPlay, StopAutoPlay
from baohuang.rules.decide import execute
from baohuang.rules.events import AutoPlayReason, ForfeitReason, Step
from baohuang.rules.outcome import Due, DueKind
from services.lobby.clocks import HandSeats, advance

PEOPLE = HandSeats((None,) * 5, 30, 20)


class Table:
    """A game whose commits are a second apart."""

    def __init__(self, seats=PEOPLE, preset="jiaodong", seed=3):
        game = Game.deal(RuleSet.preset(preset), seed=seed)
        self.state, self.seats, self.now = game.state, seats, 0
        self.position = advance(None, game.events, 0, seats)

    def commit(self, events):
        self.now += 1000
        self.position = advance(self.position, events, self.now, self.seats)
        self.state = self.position.state

    def act(self, seat):
        self.commit(execute(self.state, Act(seat, auto_action(self.state, seat)))[0])

    def command(self, command):
        self.commit(execute(self.state, command)[0])

    def until(self, step):
        while self.state.public.step is not step:
            self.act(self.state.to_act[0])

    def deadlines(self):
        return {each.seat: each.deadline_ms for each in self.position.awaited}


def test_opening_steps_and_plays_have_their_own_times():
    table = Table()
    [seat] = table.state.to_act
    assert table.state.public.step is Step.THRONE
    assert table.deadlines() == {seat: 20_000}
    table.until(Step.PLAY)
    [seat] = table.state.to_act
    assert table.deadlines() == {seat: table.now + 30_000}


def test_all_seats_of_a_step_have_one_end_whoever_answers():
    # R5.0: another seat's answer neither prolongs nor shortens anything.
    table = Table()
    table.until(Step.CLAIM)
    end = table.now + 20_000
    assert table.deadlines() == dict.fromkeys(range(5), end)
    table.act(3)
    assert table.deadlines() == dict.fromkeys((0, 1, 2, 4), end)
    table.act(0)
    assert table.deadlines() == dict.fromkeys((1, 2, 4), end)


def test_several_answers_of_a_seat_in_one_step_share_its_time():
    # R10.6: a receiver of several cards gives back one after another.
    dues = tuple([Due(DueKind.TRIBUTE, giver, 2) for giver in (0, 1)])
    events, state = execute(
        None, Start(rules=RuleSet.preset("shandong-folk"), first_drawer=2, dues=dues, seed=5)
    )
    position = advance(None, events, 0, PEOPLE)
    assert [(each.seat, each.decision.answers, each.deadline_ms) for each in position.awaited] == [
        (2, 0, 20_000)
    ]
    events, state = execute(state, Act(2, auto_action(state, 2)))
    position = advance(position, events, 5_000, PEOPLE)
    assert [(each.seat, each.decision.answers, each.deadline_ms) for each in position.awaited] == [
        (2, 1, 20_000)
    ]


def test_auto_play_has_no_time_and_taking_back_control_gives_a_new_one():
    table = Table()
    table.until(Step.PLAY)
    [seat] = table.state.to_act
    table.command(StartAutoPlay(seat, AutoPlayReason.TIMEOUT))
    [awaited] = table.position.awaited
    assert (awaited.kind, awaited.deadline_ms, awaited.decision.starts) == ("auto", None, 1)
    table.command(StopAutoPlay(seat))
    [awaited] = table.position.awaited
    assert (awaited.kind, awaited.deadline_ms) == ("player", table.now + 30_000)


def test_auto_play_of_another_seat_changes_no_time():
    table = Table()
    table.until(Step.PLAY)
    [seat] = table.state.to_act
    before = table.deadlines()
    table.command(StartAutoPlay((seat + 1) % 5, AutoPlayReason.REQUEST))
    assert table.deadlines() == before


def test_built_in_bots_have_no_time():
    table = Table(HandSeats(("greedy",) * 5, 30, 20))
    [awaited] = table.position.awaited
    assert (awaited.kind, awaited.bot, awaited.deadline_ms) == ("bot", "greedy", None)


def test_a_bot_plays_for_whoever_left_for_good():
    # R8.5
    table = Table()
    table.until(Step.PLAY)
    [seat] = table.state.to_act
    table.command(Forfeit(seat, ForfeitReason.FORCED_EXIT))
    [awaited] = table.position.awaited
    assert (awaited.kind, awaited.bot, awaited.deadline_ms) == ("bot", "greedy", None)


def test_a_hand_that_is_over_awaits_nothing():
    table = Table()
    table.until(Step.OVER)
    assert table.position.awaited == ()
