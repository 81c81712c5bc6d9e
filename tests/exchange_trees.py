"""Random trees of exchanges with tools, small enough for any brute-force look, and configurations that change them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from core.transcript import ROOT, Call, Fidelity, Transcript, Usage
from core.wire import Wire
from tests.runs import result, tool, user, uses

PATHS = [f"shop/part_{number}.py" for number in range(8)]
START = datetime(2026, 1, 15, tzinfo=UTC)
PAUSES = (0, 90, 400, 4000)
SYSTEM = {"role": "system", "content": "Rules:\n- Answer in English, please.\n- Never touch the database.\n" * 90}
TOOLS = [tool("read_file", "Reads a file. " * 20), tool("write_file", "Writes a file. " * 20)]

SMALL = {"budget": {"soft_limit": 2400}}
CONFIGURATIONS: tuple[dict[str, Any], ...] = (
    {"strategy": {"kind": "full_history"}},
    {"strategy": {"kind": "as_captured"}},
    {"strategy": {"kind": "keep_last", "keep_messages": 4}, **SMALL},
    {"strategy": {"kind": "keep_last", "keep_messages": 4}, "budget": {"soft_limit": 1}},
    {"strategy": {"kind": "mask_tool_results", "keep": 1, "trigger": 0}},
    {"strategy": {"kind": "mask_tool_results", "keep": 2, "trigger": 0, "placeholder": "[{tool} read {id}]"}},
    {"strategy": {"kind": "tiered_injection", "keep_messages": 3, "trigger": 0}},
    {"strategy": {"kind": "summarize_and_keep", "keep_messages": 3, "min_turns": 0, "min_steps": 0}, **SMALL},
    {"strategy": {"kind": "span_triage"}, **SMALL},
    {"strategy": {"kind": "keep_last", "keep_messages": 4}, "shrink": [{"kind": "dedupe_instructions"}], **SMALL},
    {"strategy": {"kind": "mask_tool_results", "keep": 1, "trigger": 0}, "model": {"name": "gpt-4o"}},
    {"strategy": {"kind": "full_history"}, "counter": {"kind": "chars4"}},
)


@st.composite
def exchanges(draw: st.DrawFn, number: int) -> tuple[Wire, Wire]:
    """Draw a reply that names something of earlier results and calls a tool, and its result."""
    called, earlier = draw(st.sampled_from(["read_file", "write_file"])), draw(st.integers(0, number))
    said = draw(st.sampled_from([f"It is net_sum_{earlier} here.", "Nothing of note."]))
    body = f"def total_{number}(order):\n    return order.net_sum_{number} + order.tax_sum\n"
    reply = uses(f"c{number}", called, said, path=draw(st.sampled_from(PATHS)))
    return reply, result(f"c{number}", body * draw(st.sampled_from([1, 12])))


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    """Draw a tree of exchanges with a call before each, some on branches, with usage and pauses."""
    messages, parents, calls, at = [user("Fix the rounding.")], [ROOT], [], START
    for number in range(draw(st.integers(1, 12))):
        branches = draw(st.sampled_from([False, False, True]))
        last = draw(st.sampled_from(range(0, len(messages), 2))) if branches else len(messages) - 1
        reply, answer = draw(exchanges(number))
        at += timedelta(seconds=draw(st.sampled_from(PAUSES)))
        usage = Usage(draw(st.none() | st.integers(500, 5000)), None, None, draw(st.none() | st.integers(1, 90)))
        model = draw(st.sampled_from(["claude-sonnet-4-5", "claude-sonnet-4-5", "gpt-4o"]))
        calls.append(Call(0, last, last, reply, usage, model, at, Fidelity.RECONSTRUCTED))
        parents += [last, len(messages)]
        messages += [reply, answer]
    head = {"model": calls[0].model, "messages": [SYSTEM], "tools": TOOLS}
    return Transcript("openai_chat", tuple(messages), tuple(parents), (head,), tuple(calls))
