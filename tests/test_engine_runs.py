"""Replay, session and stateless service give the same bytes and decisions for every call of a run."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import strategies as st

from core.decisions import Decision
from core.errors import RequestError
from core.readers.builder import TranscriptBuilder
from core.replay import replay
from core.runtime import ContextRuntime, Hints, Result, Session
from core.summaries import Range
from core.transcript import Transcript
from core.wire import dump
from tests.engine_bodies import DIALECTS, LISTS, Wire, bodies, growing
from tests.engine_checks import loaded, size, with_budget
from tests.engine_configurations import KINDS, STUBBING, configurations, hints, summarise
from tests.explore import examples, explore

ALL = pytest.mark.parametrize("dialect", DIALECTS)
EACH = pytest.mark.parametrize("config_kind", [*KINDS, *STUBBING, "published"])


@st.composite
def run_configurations(draw: Any, kind: str, dialect: str, runs: list[Wire]) -> dict[str, Any]:
    """A configuration with a budget that bites for some calls of the run."""
    published = {"kind": "summarize_and_keep", "mode": "published", "keep_messages": draw(st.integers(0, 5))}
    config = draw(configurations("summarize_and_keep" if kind == "published" else kind, dialect))
    if kind == "published":
        config["strategy"] = published
    if draw(st.booleans()):
        config["model"] = {**config["model"], "name": "gpt-4o"}
    most = max(size(config, body) for body in runs)
    return with_budget(config, draw(st.one_of(st.none(), st.integers(0, most), st.integers(0, most))))


def fail(session: Session, body: Wire, listed: str, way: int) -> None:
    """Make a call that fails, or one that has nothing to do with the run."""
    if way == 0:
        with pytest.raises(RequestError):
            session.assemble({**body, listed: None})
    elif way == 1:
        with pytest.raises(RequestError, match="nope"):
            session.assemble({**body, listed: body[listed][:1]}, {"nope": 1})
    elif way == 2:
        with pytest.raises(RequestError, match="JSON"):
            session.assemble({**body, listed: [*body[listed], {"role": "user", "content": object()}]})
    elif way == 3:
        with pytest.raises(RequestError, match="JSON"):
            session.assemble({**body, listed: [{"role": "user", "content": object()}, *body[listed]]})


def same(live: Result, alone: Result) -> None:
    assert dump(live.request) == dump(alone.request)
    assert live.decisions == alone.decisions
    assert live.plan.kinds() == alone.plan.kinds()
    assert (live.status, live.excess, live.blockers) == (alone.status, alone.excess, alone.blockers)
    assert (live.tokens_before, live.tokens_after) == (alone.tokens_before, alone.tokens_after)


def given_hints(data: st.DataObject, body: Wire, dialect: str, before: Hints | None) -> Hints | None:
    """Hints of a call: most often those of the call before, as production repeats them."""
    return before if data.draw(st.integers(0, 2)) else data.draw(hints(len(body[LISTS[dialect]])))


def agree(config_kind: str, dialect: str, data: st.DataObject) -> None:
    runs = data.draw(growing(dialect))
    config = data.draw(run_configurations(config_kind, dialect, runs))
    live, given = loaded(config), None
    session, told = live.session(), []
    for body in runs:
        fail(session, body, LISTS[dialect], data.draw(st.integers(0, 8)))
        if data.draw(st.integers(0, 8)) == 8:
            session.assemble(data.draw(bodies(dialect, most=3)))
        given = given_hints(data, body, dialect, given)
        told.append((given, loaded(config).assemble(body, given)))
        same(session.assemble(body, given), told[-1][1])
    replayed = replay(recorded(dialect, runs, [hinted for hinted, _ in told]), config, live.summaries.stored())
    for call, (_, alone) in enumerate(told):
        assert dump(replayed.request(call)) == dump(alone.request)
        assert [without_reason(made) for made in replayed.plan(call).decisions] == [
            without_reason(made) for made in alone.decisions
        ]
        assert replayed.calls["in_window"][call] == alone.tokens_after
        assert replayed.calls["status"][call] == alone.status
        assert replayed.calls["excess"][call] == alone.excess
        assert replayed.calls["before"][call] == alone.tokens_before


def without_reason(made: Decision) -> Decision:
    """A decision without its reason: a replay does not know why the summariser wrote nothing."""
    return replace(made, reason="")


def recorded(dialect: str, runs: list[Wire], given: list[Hints | None]) -> Transcript:
    builder = TranscriptBuilder(dialect)
    for body, known in zip(runs, given, strict=True):
        builder.call(builder.body(body), hints=None if known is None else asdict(known))
    return builder.build()


class Outage:
    """A summariser that cannot be reached at times."""

    def __init__(self) -> None:
        self.down = False

    def __call__(self, asked: Range) -> str:
        if self.down:
            raise OSError("the summariser cannot be reached")
        return summarise(asked)


def through_outages(config_kind: str, dialect: str, data: st.DataObject) -> None:
    runs = data.draw(growing(dialect))
    config = data.draw(run_configurations(config_kind, dialect, runs))
    config["strategy"] |= {"summary": "model"}
    ours, theirs = Outage(), Outage()
    session, service = ContextRuntime.load(config, ours).session(), ContextRuntime.load(config, theirs)
    for body in runs:
        ours.down = theirs.down = data.draw(st.booleans())
        same(session.assemble(body), service.assemble(body))


@examples(14)
@ALL
@EACH
def test_replay_session_and_service_agree(config_kind: str, dialect: str, count: int) -> None:
    explore(count, lambda data: agree(config_kind, dialect, data))


@examples(14)
@ALL
@pytest.mark.parametrize("config_kind", ["summarize_and_keep", "tiered_injection"])
def test_session_and_service_agree_while_the_summariser_fails_at_times(
    config_kind: str, dialect: str, count: int
) -> None:
    explore(count, lambda data: through_outages(config_kind, dialect, data))
