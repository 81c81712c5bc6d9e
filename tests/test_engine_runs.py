"""Replay, session and stateless service give the same bytes and decisions for every call of a run."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st

from core.errors import RequestError
from core.readers.builder import TranscriptBuilder
from core.replay import replay
from core.runtime import ContextRuntime, Session
from core.transcript import Transcript
from core.wire import dump
from tests.engine_bodies import DIALECTS, Wire, bodies, growing
from tests.engine_checks import KINDS, configurations, size, with_budget
from tests.explore import examples, explore

BOTH = pytest.mark.parametrize("dialect", DIALECTS)
EACH = pytest.mark.parametrize("config_kind", [*KINDS, "published"])


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


def fail(session: Session, body: Wire, way: int) -> None:
    """Make a call that fails, or one that has nothing to do with the run."""
    if way == 0:
        with pytest.raises(RequestError):
            session.assemble({**body, "messages": None})
    elif way == 1:
        with pytest.raises(RequestError, match="nope"):
            session.assemble({**body, "messages": body["messages"][:1]}, {"nope": 1})
    elif way == 2:
        with pytest.raises(RequestError, match="JSON"):
            session.assemble({**body, "messages": [*body["messages"][:-1], {"role": "user", "content": object()}]})


@examples(50)
@BOTH
@EACH
def test_replay_session_and_service_agree(config_kind: str, dialect: str, count: int) -> None:
    def run(data: st.DataObject) -> None:
        runs = data.draw(growing(dialect))
        config = data.draw(run_configurations(config_kind, dialect, runs))
        hints = [data.draw(st.sampled_from([None, None, {"pins": ["c0", "m1.0"]}])) for _ in runs]
        replayed = replay(recorded(dialect, runs, hints), config)
        session = ContextRuntime.load(config).session()
        for call, body in enumerate(runs):
            fail(session, body, data.draw(st.integers(0, 8)))
            if data.draw(st.integers(0, 8)) == 0:
                session.assemble(data.draw(bodies(dialect, most=3)))
            alone = ContextRuntime.load(config).assemble(body, hints[call])
            live = session.assemble(body, hints[call])
            assert dump(replayed.request(call)) == dump(live.request) == dump(alone.request)
            assert replayed.plan(call).decisions == live.decisions == alone.decisions
            assert replayed.calls["in_window"][call] == alone.tokens_after
            assert replayed.calls["status"][call] == live.status == alone.status
            assert replayed.calls["excess"][call] == live.excess == alone.excess
            assert replayed.calls["before"][call] == alone.tokens_before

    explore(count, run)


def recorded(dialect: str, runs: list[Wire], hints: list[Any]) -> Transcript:
    builder = TranscriptBuilder(dialect)
    for body, given in zip(runs, hints, strict=True):
        builder.call(builder.body(body), hints=given)
    return builder.build()
