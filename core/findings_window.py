"""A finding about the hard window: prompts that were answered although they are larger than what is known for it.

A window is documented, and never inferred from a success. Documentation may be older than the model behind a name, so
where a recording contradicts it that is said, and a person sets the window.
"""

from __future__ import annotations

from collections.abc import Iterator

from .finding import Finding, Level, calls_of
from .models import profile
from .reading import model_named
from .replay import Replay
from .wording import counted


def window_contradicted(replay: Replay) -> Iterator[Finding]:
    """Find calls that were answered with more reported input than the documented window, where that one is in use."""
    window, sent = replay.config.model.window, _answered(replay)
    beyond = {} if window is None else {call: tokens for call, tokens in sent.items() if tokens > window}
    beyond = {call: tokens for call, tokens in beyond.items() if profile(_asked(replay, call)).window == window}
    if not beyond or window is None:
        return
    call = max(beyond, key=beyond.__getitem__)
    known = f"the {window:,} that are known as the window of {_asked(replay, call)}"
    several = (
        f"{counted(len(beyond), 'call')} were answered with more tokens than {known}, the largest, call {call + 1},"
    )
    told = several if len(beyond) > 1 else f"Call {call + 1} was answered with more tokens than {known},"
    yield Finding(
        name="window_contradicted",
        level=Level.WARNING,
        sentence=f"{told} with {beyond[call]:,}. So the window is larger, unless the report of a call adds up several"
        " requests: set the window, on which the soft budget rests.",
        call=call,
        figures={"calls": len(beyond), "largest": beyond[call], "window": window},
    )


def _answered(replay: Replay) -> dict[int, int]:
    """Return the reported input of each call that has a response."""
    calls = replay.transcript.calls
    return {at: calls[at].usage.input or 0 for at in calls_of(replay) if calls[at].response is not None}


def _asked(replay: Replay, call: int) -> str | None:
    """Return the model that a call was sent to as recorded, whatever is assumed in its place."""
    transcript = replay.transcript
    return model_named(transcript.heads[transcript.calls[call].head]) or transcript.model_of(call)
