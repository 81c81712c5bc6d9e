"""What a text names so definitely that it can be looked for elsewhere: paths, ids, numbers, identifiers, quotations.

Classes claim their stretch of text in the order of `ReferenceClass`, and one stretch yields one reference: the date
inside a file name is part of the path. All patterns begin where a run of their own characters begins and are bounded,
so that the time is linear in the text, whatever it holds. Each stage first looks for a mark that it cannot do without.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable

from .reference_addresses import emails, is_namespace, url_forms, urls
from .reference_chunks import is_identifier, references_of_word
from .reference_classes import Reference, ReferenceClass
from .reference_dates import dates
from .reference_numbers import numbers
from .reference_quotes import blanked, quotations
from .reference_words import BARE_FILES
from .wire import digest

__all__ = ["Reference", "ReferenceClass", "references_of"]

_QUERY_MARKS = re.compile("[&=#]")
_DIGIT = re.compile("[0-9]")
_ERROR = re.compile(
    r"\b(?:HTTP(?:/\d\.\d)?\s(?P<http>[1-5]\d\d)|(?P<exit>exit (?:code|status)):? (?P<code>\d{1,3})"
    r"|[Ss]tatus(?: code)?:? (?P<status>[45]\d\d)|[Ee]rrno:? (?P<errno>\d{1,3}))\b(?![.-]\d)",
    re.ASCII,
)
_ERROR_MARKS = {
    "HTTP": re.compile(r"HTTP(?:/\d\.\d)?\s[1-5]", re.ASCII),
    "exit ": re.compile(r"exit (?:code|status):? \d", re.ASCII),
    "tatus": re.compile(r"tatus(?: code)?:? [45]"),
    "rrno": re.compile(r"rrno:? \d", re.ASCII),
}
_ARROW = re.compile(r"(?<![A-Za-z0-9_>])[A-Za-z_]\w{1,60}(?:->[A-Za-z_]\w{1,60}){1,6}", re.ASCII)
_ARROW_HEAD = re.compile(r"->(?<=[A-Za-z0-9_]->)[A-Za-z_]")

_IN_WORD = r"A-Za-z0-9_./\\@#:~+%$-"
_CAPITAL = rf"(?!E[A-Z]|SIG|(?:{'|'.join(sorted(BARE_FILES))})(?![A-Za-z]))[A-Z](?:[A-Z]++|[a-z]*+)"
_PIECE = r"[A-Za-z](?:[A-Z]++|[a-z]*+)"
_PLAIN = (
    rf"[a-z]++(?:-(?:{_PIECE}|[0-9]{{1,7}}+))*+|{_CAPITAL}(?:-{_PIECE})*+"
    r"|[0-9]{1,7}+(?:[.:%+-][0-9]{1,7}+)*+|(?=[^A-Za-z0-9_])"
)
_PASSED = rf"[^{_IN_WORD}]++|[:+%-]*+(?:{_PLAIN})[.:~+%-]*+(?![{_IN_WORD}])|(?<=<)/[{_IN_WORD}]*+"
_WORD = re.compile(rf"(?:{_PASSED})*+([{_IN_WORD}]*+)")
"""A word that may be a reference, with all that stands before it and is none: plain words and numbers, alone or
joined by hyphens, punctuation, closing tags.

Passing over plain words inside one match is three times faster than looking at each.
"""

_WIDE_ENDING = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
    r"\.(?:md|txt|pdf|docx?|xlsx?|csv|json|ya?ml|html?|py|js|ts|png|jpe?g|sql|log|pptx?)(?![A-Za-z0-9_])"
)
_WIDE_NAME = re.compile(r"[^\s\"'`*<>|,:;/()，。、：；！？（）\[\]【】「」『』《》“”]+$")
LONGEST_NAME = 80
QUOTE_MARKS = frozenset("`\"'“”")
MOSTLY = 0.6
"""A quotation of which one finer reference is this share is that reference."""

_MEMO: dict[tuple[bytes, bool], tuple[Reference, ...]] = {}
_MOST_MEMOS = 100_000


def references_of(text: str, code: bool = False) -> tuple[Reference, ...]:
    """Return the references of a normal text, each once, in no particular order; remembered by the text's content.

    `code` says that the text is an argument of a tool, where two words with a slash between them are a path.
    """
    key = (digest(text), code)
    if key not in _MEMO:
        if len(_MEMO) >= _MOST_MEMOS:
            _MEMO.clear()
        _MEMO[key] = tuple(dict.fromkeys(_Extraction(text, code).references()))
    return _MEMO[key]


class _Extraction:
    """One text being taken apart: what was claimed is blanked, and remembered for the quotations."""

    def __init__(self, text: str, code: bool) -> None:
        self.text = text
        self.left = text
        self.code = code
        self.claimed: list[tuple[int, int]] = []
        self.found: list[Reference] = []

    def references(self) -> list[Reference]:
        if "://" in self.text:
            self._urls()
        if "@" in self.text:
            self._emails()
        if has_digit := _DIGIT.search(self.text) is not None:
            self._dates()
            self._errors()
        if not self.text.isascii():
            self._wide_files()
        if "->" in self.text:
            self._arrows()
        self._words()
        if has_digit:
            self._numbers()
        self.claimed.sort()
        self.found += quotations(self.text, self.code, frozenset(self.claimed), self._is_finer)
        return self.found

    def _claim(self, spans: list[tuple[int, int]]) -> None:
        if spans:
            self.claimed += spans
            self.left = blanked(self.left, spans)

    def _urls(self) -> None:
        spans = []
        for start, stop, url in urls(self.left):
            spans.append((start, stop))
            if not is_namespace(url) and (forms := url_forms(url)):
                self.found.append(Reference(ReferenceClass.URL, tuple(forms)))
                self.found += _query_values(url, self.code)
        self._claim(spans)

    def _emails(self) -> None:
        spans = []
        for start, stop, email in emails(self.left):
            spans.append((start, stop))
            self.found.append(Reference(ReferenceClass.EMAIL, (email.rstrip(".-").lower(),)))
        self._claim(spans)

    def _dates(self) -> None:
        found = dates(self.left)
        self._claim([(start, stop) for start, stop, _ in found])
        self.found += [Reference(ReferenceClass.DATE, (key,)) for _, _, key in found]

    def _errors(self) -> None:
        if not any(word in self.left and mark.search(self.left) for word, mark in _ERROR_MARKS.items()):
            return
        spans = []
        for found in _ERROR.finditer(self.left):
            spans.append(found.span())
            code = found["http"] or found["status"] or found["errno"]
            self.found.append(Reference(ReferenceClass.ERROR, (code or f"{found['exit']} {found['code']}",)))
        self._claim(spans)

    def _wide_files(self) -> None:
        spans: list[tuple[int, int]] = []
        for found in _WIDE_ENDING.finditer(self.left):
            first = max(found.start() - LONGEST_NAME, spans[-1][1] if spans else 0)
            name = _WIDE_NAME.search(self.left[first : found.start() + 1])
            if name is not None:
                spans.append((first + name.start(), found.end()))
                self.found.append(Reference(ReferenceClass.PATH, (self.left[first + name.start() : found.end()],)))
        self._claim(spans)

    def _arrows(self) -> None:
        if _ARROW_HEAD.search(self.left) is None:
            return
        found = list(_ARROW.finditer(self.left))
        self._claim([match.span() for match in found])
        for match in found:
            names = [name for name in reversed(match[0].split("->")) if is_identifier(name)]
            self.found.append(Reference(ReferenceClass.IDENTIFIER, (match[0], *names)))

    def _words(self) -> None:
        text, spans, code = self.left, [], self.code
        for found in _WORD.finditer(text):
            span = start, stop = found.span(1)
            if stop - start < 2:
                continue
            after = text[stop : stop + 1]
            quoted = code or (after in QUOTE_MARKS and text[start - 1 : start] in QUOTE_MARKS)
            references = references_of_word(text[start:stop], after == "(", quoted)
            if references:
                spans.append(span)
                self.found += references
        self._claim(spans)

    def _numbers(self) -> None:
        found = list(numbers(self.left))
        self._claim([(start, stop) for start, stop, _ in found])
        self.found += [reference for _, _, reference in found]

    def _is_finer(self, start: int, stop: int) -> bool:
        """Whether one finer reference has claimed most of a stretch."""
        first = max(0, bisect_left(self.claimed, (start, 0)) - 1)
        for index in range(first, len(self.claimed)):
            from_, to = self.claimed[index]
            if from_ >= stop:
                return False
            if min(stop, to) - max(start, from_) >= MOSTLY * (stop - start):
                return True
        return False


def _query_values(url: str, code: bool) -> Iterable[Reference]:
    _, mark, query = url.partition("?")
    if mark:
        for piece in _QUERY_MARKS.split(query[:2000]):
            yield from references_of_word(piece, False, code)
