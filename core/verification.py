"""Proof that production does what the inspector showed: the golden calls of an export, replayed.

A golden call names a transcript by its sha256, a call, and the sha256 of the body that was sent. A later engine, or a
changed configuration, that sends other bytes is told by its hash; with the older configuration at hand, by the first
byte that differs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .config import Configuration
from .identity import transcript_sha256
from .redact import mask_transcript
from .replay import Replay, replay
from .transcript import Transcript
from .wire import body_sha256, dump


@dataclass(frozen=True, slots=True)
class Checked:
    """One golden call; `call` is 0-based as in JSON.

    `got` is None where the transcript was not given or has no such call.
    """

    transcript: str
    title: str
    call: int
    expected: str
    got: str | None

    @property
    def holds(self) -> bool:
        """Whether the same bytes came out."""
        return self.got == self.expected

    @property
    def _call(self) -> str:
        """The call as people count: from 1."""
        return f"call {self.call + 1:,}" if self.call >= 0 else "a call that is no number from 0 on"

    def __str__(self) -> str:
        """Return a whole sentence."""
        where = f"{self.title or self.transcript[:12]}, {self._call}"
        if self.got is None:
            return f"{where}: not checked, transcript {self.transcript} was not given or has no such call."
        if self.holds:
            return f"{where}: the same bytes ({self.got})."
        return f"{where}: other bytes; expected {self.expected}, got {self.got}."


def golden(config: Configuration) -> list[Mapping[str, Any]]:
    """Return the golden calls that a configuration's provenance holds."""
    found = (config.provenance or {}).get("golden")
    return [call for call in found if isinstance(call, Mapping)] if isinstance(found, list) else []


def verify(config: Configuration, transcripts: Sequence[Transcript]) -> Iterator[Checked]:
    """Yield each golden call of a configuration, replayed on the transcripts given."""
    by_hash = {transcript_sha256(known): known for transcript in transcripts for known in _as_stored(transcript)}
    replays: dict[str, Replay] = {}
    for made in golden(config):
        name, said = str(made.get("transcript")), made.get("call")
        call = said if isinstance(said, int) else -1
        transcript, got = by_hash.get(name), None
        if transcript is not None and 0 <= call < len(transcript.calls):
            if name not in replays:
                replays[name] = replay(transcript, config)
            got = body_sha256(replays[name].request(call))
        yield Checked(name, transcript.title if transcript else "", call, str(made.get("prompt_sha256")), got)


def _as_stored(transcript: Transcript) -> tuple[Transcript, Transcript]:
    """Return a transcript as it is and as the inspector keeps it, with its secrets masked."""
    return transcript, mask_transcript(transcript)[0]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first byte in which two bodies differ, with what stands around it in each."""

    byte: int
    ours: str
    theirs: str

    def __str__(self) -> str:
        """Return a whole sentence."""
        return f"They differ first at byte {self.byte:,}: {self.ours!r} here, {self.theirs!r} there."


CONTEXT = 30


def first_difference(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Difference | None:
    """Return where two request bodies differ first as they would be sent; None if they do not."""
    a, b = (dump(body).encode("utf-8", "surrogatepass") for body in (ours, theirs))
    if a == b:
        return None
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    around = slice(max(0, low - CONTEXT), low + CONTEXT)
    return Difference(low, a[around].decode("utf-8", "replace"), b[around].decode("utf-8", "replace"))
