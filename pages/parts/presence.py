"""When each block of a prompt came in, and in how many calls it was sent: what a long tool result really costs.

A message is one node of the transcript's tree, so one pass over the nodes answers for all calls. The blocks of the
fixed part have no node; they are told by kind and text.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.replay import Replay
from core.spans import Span
from core.transcript import ROOT, Transcript


@dataclass(frozen=True, slots=True)
class Presence:
    """`first[x]` is the call (0-based) in which x entered, `sent[x]` in how many calls it was sent, up to the end."""

    message_first: list[int]
    message_sent: list[int]
    fixed_first: dict[tuple[str, str], int]
    fixed_sent: dict[tuple[str, str], int]

    def of(self, span: Span, path: list[int]) -> tuple[int, int]:
        """Return in which call a span of a captured prompt entered, and in how many calls it was sent."""
        if span.message < 0:
            key = _key(span)
            return self.fixed_first[key], self.fixed_sent[key]
        node = path[span.message]
        return self.message_first[node], self.message_sent[node]


def presence(captured: Replay) -> Presence:
    """Return the presence of everything in a transcript, from its replay as captured."""
    first, sent = _messages(captured.transcript)
    fixed_first: dict[tuple[str, str], int] = {}
    fixed_sent: dict[tuple[str, str], int] = {}
    for call in range(len(captured.transcript.calls)):
        for key in dict.fromkeys(map(_key, captured.plan(call).fixed.spans)):
            fixed_first.setdefault(key, call)
            fixed_sent[key] = fixed_sent.get(key, 0) + 1
    return Presence(first, sent, fixed_first, fixed_sent)


def _messages(transcript: Transcript) -> tuple[list[int], list[int]]:
    """Return first call and number of calls of each message: those of its descendants that end a prompt, added up."""
    never = len(transcript.calls)
    first, sent = [never] * len(transcript.messages), [0] * len(transcript.messages)
    for number, call in enumerate(transcript.calls):
        if call.captured != ROOT:
            first[call.captured] = min(first[call.captured], number)
            sent[call.captured] += 1
    for node in range(len(transcript.messages) - 1, -1, -1):
        parent = transcript.parents[node]
        if parent != ROOT:
            first[parent] = min(first[parent], first[node])
            sent[parent] += sent[node]
    return first, sent


def _key(span: Span) -> tuple[str, str]:
    return span.kind, f"{span.name}\0{span.text}"


def shortened_calls(transcript: Transcript) -> list[int]:
    """Return the calls (0-based) whose prompt does not go on from the one before: compacted, edited, or begun anew."""
    pairs = enumerate(zip(transcript.calls, transcript.calls[1:], strict=False), start=1)
    return [number for number, (before, call) in pairs if not _holds(transcript, call.captured, before.captured)]


def _holds(transcript: Transcript, last: int, node: int) -> bool:
    """Return whether the prompt that ends with `last` holds the message `node`."""
    if node == ROOT:
        return True
    depths = transcript.depths
    while last != ROOT and depths[last] > depths[node]:
        last = transcript.parents[last]
    return last == node
