"""What the responses of a transcript name, kept so that a new process need not take their texts apart again.

Only the references of responses are kept. The rest of the loss measure (which texts hold their words and lines)
depends on all responses together, and the words and lines of every text, kept for any question, would take 16 to
120 % of the transcript's own size. Measured on six real runs with 27 to 346 texts of responses: to look references up
takes 2 to 10 ms where to extract them takes 4 to 23 ms, and the database grows by 2 to 16 %. The gain is small, so they
are worked out with the import and looked up only when something asks what a configuration loses.

A kept reference is as good as the extractor that found it, so the version is a hash of the extractor's own source.
"""

from __future__ import annotations

import hashlib
import logging
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from core import references as extractor
from core.dialects import dialect
from core.dialects.base import Part, PartKind
from core.normal_text import arguments_text, normal
from core.reference_classes import Reference, ReferenceClass
from core.transcript import Transcript
from core.wire import digest

from .analyses import Analyses
from .errors import StorageError

__all__ = ["KEY", "KeptReferences", "counter", "plain_references", "source_hash", "version"]

KEY = "references"
"""What the analyses' counter begins with; the version follows."""

_READ = frozenset({PartKind.TEXT, PartKind.THINKING, PartKind.TOOL_RESULT})

log = logging.getLogger(__name__)


class KeptReferences:
    """The stored references of responses."""

    def __init__(self, analyses: Analyses) -> None:
        self._analyses = analyses

    def bring(self, transcript: Transcript, transcript_id: int) -> int:
        """Make the references of a transcript's responses known to the extractor; extract and store those missing.

        Return how many texts were extracted. A database that cannot be written is no error: they are only not kept.
        """
        texts = _response_texts(transcript)
        known = self._analyses.get(counter(), texts)
        _remember(known)
        found = _extracted({key: read for key, read in texts.items() if key not in known})
        try:
            self._analyses.put(counter(), found, transcript_id, instead_of=f"{KEY}:")
        except StorageError as error:
            log.info("References were not kept: %s", error)
        return len(found)


def plain_references(transcript: Transcript) -> dict[bytes, Any]:
    """Return what the responses of a transcript name, by the keys of their texts, as values for `counter()`."""
    return _extracted(_response_texts(transcript))


def counter() -> str:
    """Return the name under which these analyses are kept."""
    return f"{KEY}:{version()}"


@cache
def version() -> str:
    """Return what names the extractor of this process."""
    return source_hash(Path(extractor.__file__).parent)


def source_hash(folder: Path) -> str:
    """Return a hash of an extractor's source and of the Python that runs it, 16 hex digits."""
    made = hashlib.blake2b(repr(sys.version_info[:2]).encode(), digest_size=8)
    for path in sorted([*folder.glob("reference*"), folder / "normal_text.py"]):
        made.update(path.read_bytes())
    return made.hexdigest()


def _response_texts(transcript: Transcript) -> dict[bytes, tuple[str, bool]]:
    """Return the normal texts of all responses, and whether each is arguments of a tool, as the measure reads them."""
    spoken = dialect(transcript.dialect)
    parts = (part for call in transcript.calls for part in spoken.message(call.response or {}).parts)
    read = ((_text(part), part.kind is PartKind.TOOL_CALL) for part in parts)
    return {_key(*one): one for one in read}


def _extracted(texts: Mapping[bytes, tuple[str, bool]]) -> dict[bytes, Any]:
    return {key: _plain(extractor.references_of(*read)) for key, read in texts.items()}


def _text(part: Part) -> str:
    if part.kind is PartKind.TOOL_CALL:
        return arguments_text(part.text)
    return normal(part.text) if part.kind in _READ else ""


def _key(text: str, code: bool) -> bytes:
    """Return what a text is stored under: the same words are other references as arguments of a tool."""
    return digest(text) + bytes([code])


def _remember(known: Mapping[bytes, Any]) -> None:
    memo = extractor._MEMO
    if len(memo) + len(known) > extractor._MOST_MEMOS:
        memo.clear()
    memo.update({(key[:-1], bool(key[-1])): _references(value) for key, value in known.items()})


def _plain(references: Sequence[Reference]) -> list[list[str]]:
    return [[str(made.kind), *made.forms] for made in references]


def _references(value: Sequence[Sequence[Any]]) -> tuple[Reference, ...]:
    return tuple(Reference(ReferenceClass(kind), tuple(forms)) for kind, *forms in value)
