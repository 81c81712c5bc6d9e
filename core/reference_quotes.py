"""Quotations: what stands in quotes or back quotes and is more than one plain word.

JSON keys are quoted everywhere, so one plain word is none. That costs some recall, and is wanted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

from .normal_text import one_line
from .reference_classes import Reference, ReferenceClass
from .reference_words import PAIRS

SHORTEST_QUOTE, LONGEST_CJK = 5, 40

_QUOTES = (
    ("`", re.compile(r"`(?:[A-Za-z]{1,400}`|([^`\n]{1,400})`)")),
    ('"', re.compile(r"\"(?<![A-Za-z0-9_]\")(?:[A-Za-z]{0,400}\"|([^\"\n]{0,400})\")")),
    ("'", re.compile(r"'(?<![A-Za-z0-9_]')(?:[A-Za-z]{0,400}'|([^'\n]{0,400})')(?![A-Za-z0-9_])")),
    ("“", re.compile(r"“([^“”\n]{1,400})”")),
    ("‘", re.compile(r"‘([^‘’\n]{1,400})’")),
)
"""Each with its mark. Plain words are taken too, so that quotes pair up, but hold nothing."""
_CJK_QUOTES = re.compile(r"「([^」\n]{2,40})」|『([^』\n]{2,40})』|《([^》\n]{2,40})》|【([^】\n]{2,40})】")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MARK = re.compile(r"[^A-Za-z0-9_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_FEW_WORDS = re.compile(r"[A-Za-z]+ [A-Za-z]+")
"""Two plain words in a string literal are a label that any program may print."""
_LETTER = re.compile(r"[A-Za-z]{2}")
_BEGINS_CODE, _ENDS_CODE = frozenset(",;.)]}=+|&"), frozenset("([{=+|&,")


def quotations(
    text: str, code: bool, claimed: Collection[tuple[int, int]], is_finer: Callable[[int, int], bool]
) -> Iterator[Reference]:
    """Yield the quotations of a text.

    `claimed` are the stretches of other references, and `is_finer` says whether one has claimed most of a stretch.
    """
    left = text
    if not text.isascii():
        yield from _cjk_quotations(text)
    for mark, pattern in _QUOTES:
        if mark not in left:
            continue
        spans = []
        for found in pattern.finditer(left):
            inner = found[1]
            if inner is None or found.span(1) in claimed:
                continue  # a plain word, or nothing but another reference
            if len(inner) < 2 or not text.startswith(inner, found.start(1)):
                continue  # what stands around a quotation taken before
            reference = _quotation(inner, code and mark != "`")
            if reference is not None and not is_finer(*found.span(1)):
                spans.append(found.span())
                yield reference
        left = blanked(left, spans)


def blanked(text: str, spans: list[tuple[int, int]]) -> str:
    """Return a text with some stretches, given in order, as spaces."""
    if not spans:
        return text
    pieces, end = [], 0
    for start, stop in spans:
        pieces += [text[end:start], " " * (stop - start)]
        end = stop
    return "".join([*pieces, text[end:]])


def _cjk_quotations(text: str) -> Iterator[Reference]:
    for found in _CJK_QUOTES.finditer(text):
        inner = found[found.lastindex or 0]
        if _CJK.search(inner):
            yield Reference(ReferenceClass.CJK, (one_line(inner).strip(),))


def _quotation(inner: str, literal: bool) -> Reference | None:
    if inner[0].isspace() or inner[-1].isspace() or (inner.isalpha() and inner.isascii()):
        return None
    is_one_line = inner.isprintable() and "  " not in inner
    text = (inner if is_one_line else one_line(inner)).rstrip(",.;:!?")
    wide = not text.isascii() and _CJK.search(text) is not None
    if wide and 2 <= len(text) <= LONGEST_CJK:
        return Reference(ReferenceClass.CJK, (text,))
    if not wide and not _LETTER.search(text):
        return None
    return None if _is_label(text, literal) else Reference(ReferenceClass.QUOTED, (text,))


def _is_label(text: str, literal: bool) -> bool:
    """Whether a quoted text is one word, a choice, a label or a piece of code between two strings."""
    if len(text) < SHORTEST_QUOTE or not _MARK.search(text) or text in PAIRS:
        return True
    if literal and _FEW_WORDS.fullmatch(text):
        return True
    return text[0] in _BEGINS_CODE or text[-1] in _ENDS_CODE
