"""What a text names so definitely that it can be looked for elsewhere: paths, ids, numbers, identifiers, quotations.

Classes claim their stretch of text in the order of `ReferenceClass`, and one stretch yields one reference: the date
inside a file name is part of the path. All patterns begin where a run of their own characters begins and are bounded,
so that the time is linear in the text, whatever it holds.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from .normal_text import one_line
from .reference_chunks import is_identifier, references_of_word
from .reference_classes import Reference, ReferenceClass
from .reference_dates import dates
from .reference_numbers import numbers
from .reference_words import BARE_FILES, PAIRS
from .wire import digest

__all__ = ["Reference", "ReferenceClass", "references_of"]

_URL = re.compile(
    r"[A-Za-z](?<![A-Za-z0-9+.-][A-Za-z])[A-Za-z0-9+.-]{1,20}://[^\s\"'`<>()\[\]{}|\\^\u3000-\u303f\uff00-\uff65“”‘’]{2,2000}"
)
_NAMESPACE = re.compile(
    r"https?://(?:www\.)?w3\.org/|https?://schemas\.|https?://(?:localhost|127\.0\.0\.1)(?::\d+)?/?$"
)
_EMAIL = re.compile(
    r"[A-Za-z0-9._%+-](?<![A-Za-z0-9._%+-]{2})[A-Za-z0-9._%+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}"
)
_ERROR = re.compile(
    r"\bHTTP(?:/\d\.\d)?\s(?P<http>[1-5]\d\d)\b|\b(?P<exit>exit (?:code|status)):? (?P<code>\d{1,3})\b"
    r"|\b[Ss]tatus(?: code)?:? (?P<status>[45]\d\d)\b|\b[Ee]rrno:? (?P<errno>\d{1,3})\b",
    re.ASCII,
)
_ERROR_WORDS = ("HTTP", "exit ", "tatus", "rrno")
_ARROW = re.compile(r"(?<![A-Za-z0-9_>])[A-Za-z_]\w{1,60}(?:->[A-Za-z_]\w{1,60}){1,6}", re.ASCII)
_WORD = re.compile(r"[A-Za-z0-9_./\\@#:~+%$-]+")
_WIDE_ENDING = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
    r"\.(?:md|txt|pdf|docx?|xlsx?|csv|json|ya?ml|html?|py|js|ts|png|jpe?g|sql|log|pptx?)(?![A-Za-z0-9_])"
)
_WIDE_NAME = re.compile(r"[^\s\"'`*<>|,:;/()，。、：；！？（）\[\]【】「」『』《》“”]+$")
_QUOTES = (
    ("`", re.compile(r"`([^`\n]{1,400})`")),
    ('"', re.compile(r"\"(?<![A-Za-z0-9_]\")([^\"\n]{0,400})\"")),
    ("'", re.compile(r"'(?<![A-Za-z0-9_]')([^'\n]{0,400})'(?![A-Za-z0-9_])")),
    ("“", re.compile(r"“([^“”\n]{1,400})”")),
    ("‘", re.compile(r"‘([^‘’\n]{1,400})’")),
)
_CJK_QUOTES = re.compile(r"「([^」\n]{2,40})」|『([^』\n]{2,40})』|《([^》\n]{2,40})》|【([^】\n]{2,40})】")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MARK = re.compile(r"[^A-Za-z0-9_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_FEW_WORDS = re.compile(r"[A-Za-z]+ [A-Za-z]+")
"""Two plain words in a string literal are a label that any program may print."""
_LETTER = re.compile(r"[A-Za-z]{2}")
SHORTEST_QUOTE, LONGEST_CJK, LONGEST_NAME = 5, 40, 80
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

    def references(self) -> Iterator[Reference]:
        if "://" in self.text:
            yield from self._urls()
        if "@" in self.text:
            yield from self._emails()
        yield from self._dates()
        yield from self._errors()
        if not self.text.isascii():
            yield from self._wide_files()
        yield from self._arrows()
        yield from self._words()
        yield from self._numbers()
        yield from self._quotations()

    def _claim(self, spans: list[tuple[int, int]]) -> None:
        if not spans:
            return
        self.claimed += spans
        self._blank(spans)

    def _blank(self, spans: list[tuple[int, int]]) -> None:
        pieces, end = [], 0
        for start, stop in spans:
            pieces += [self.left[end:start], " " * (stop - start)]
            end = stop
        self.left = "".join([*pieces, self.left[end:]])

    def _urls(self) -> Iterator[Reference]:
        spans = []
        for found in _URL.finditer(self.left):
            url = found[0].rstrip(".,;:!?*_")
            spans.append((found.start(), found.start() + len(url)))
            if not _NAMESPACE.match(url):
                yield Reference(ReferenceClass.URL, tuple(_url_forms(url)))
                yield from _query_values(url, self.code)
        self._claim(spans)

    def _emails(self) -> Iterator[Reference]:
        spans = []
        for found in _EMAIL.finditer(self.left):
            spans.append(found.span())
            yield Reference(ReferenceClass.EMAIL, (found[0].rstrip(".-").lower(),))
        self._claim(spans)

    def _dates(self) -> Iterator[Reference]:
        found = dates(self.left)
        self._claim([(start, stop) for start, stop, _ in found])
        for _, _, key in found:
            yield Reference(ReferenceClass.DATE, (key,))

    def _errors(self) -> Iterator[Reference]:
        if not any(word in self.left for word in _ERROR_WORDS):
            return
        spans = []
        for found in _ERROR.finditer(self.left):
            spans.append(found.span())
            code = found["http"] or found["status"] or found["errno"]
            yield Reference(ReferenceClass.ERROR, (code or f"{found['exit']} {found['code']}",))
        self._claim(spans)

    def _wide_files(self) -> Iterator[Reference]:
        spans: list[tuple[int, int]] = []
        for found in _WIDE_ENDING.finditer(self.left):
            first = max(found.start() - LONGEST_NAME, spans[-1][1] if spans else 0)
            name = _WIDE_NAME.search(self.left[first : found.start() + 1])
            if name is not None:
                spans.append((first + name.start(), found.end()))
                yield Reference(ReferenceClass.PATH, (self.left[first + name.start() : found.end()],))
        self._claim(spans)

    def _arrows(self) -> Iterator[Reference]:
        if "->" in self.left:
            found = list(_ARROW.finditer(self.left))
            self._claim([match.span() for match in found])
            for match in found:
                names = [name for name in reversed(match[0].split("->")) if is_identifier(name)]
                yield Reference(ReferenceClass.IDENTIFIER, (match[0], *names))

    def _words(self) -> Iterator[Reference]:
        text, spans = self.left, []
        for found in _WORD.finditer(text):
            word = found[0]
            if word.isalpha() and word[1:].islower() and word not in BARE_FILES:
                continue
            start, stop = found.span()
            before, after = text[start - 1 : start], text[stop : stop + 1]
            if before == "<" and word[0] == "/":
                continue
            quoted = self.code or (before in QUOTE_MARKS and after in QUOTE_MARKS)
            references = references_of_word(word, after == "(", quoted)
            if references:
                spans.append((start, stop))
                yield from references
        self._claim(spans)

    def _numbers(self) -> Iterator[Reference]:
        found = list(numbers(self.left))
        self._claim([(start, stop) for start, stop, _ in found])
        for _, _, reference in found:
            yield reference

    def _quotations(self) -> Iterator[Reference]:
        self.claimed.sort()
        self.left = self.text
        if not self.text.isascii():
            for found in _CJK_QUOTES.finditer(self.text):
                inner = found[found.lastindex or 0]
                if _CJK.search(inner):
                    yield Reference(ReferenceClass.CJK, (one_line(inner).strip(),))
        for mark, pattern in _QUOTES:
            if mark in self.left:
                yield from self._quoted(pattern, self.code and mark != "`")

    def _quoted(self, pattern: re.Pattern[str], literal: bool) -> Iterator[Reference]:
        spans = []
        for found in pattern.finditer(self.left):
            inner = found[1]
            if len(inner) > 1 and (reference := _quotation(inner, literal)) and not self._is_finer(*found.span(1)):
                spans.append(found.span())
                yield reference
        if spans:
            self._blank(spans)

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


QUOTE_MARKS = frozenset("`\"'“”")


def _quotation(inner: str, literal: bool) -> Reference | None:
    if inner[0].isspace() or inner[-1].isspace() or (inner.isalpha() and inner.isascii()):
        return None
    text = one_line(inner).rstrip(",.;:!?")
    wide = not text.isascii() and _CJK.search(text) is not None
    if wide and 2 <= len(text) <= LONGEST_CJK:
        return Reference(ReferenceClass.CJK, (text,))
    if len(text) < SHORTEST_QUOTE or not (wide or _LETTER.search(text)) or not _MARK.search(text) or text in PAIRS:
        return None
    if literal and _FEW_WORDS.fullmatch(text):
        return None
    if text[0] in ",;.)]}=+|&" or text[-1] in "([{=+|&,":
        return None
    return Reference(ReferenceClass.QUOTED, (text,))


def _url_forms(url: str) -> Iterator[str]:
    """Yield the address without its scheme, then without query and fragment, then its parents down to the host."""
    url = url.partition("://")[2].rstrip("/")
    yield url
    plain = re.split(r"[?#]", url, maxsplit=1)[0].rstrip("/")
    if plain != url:
        yield plain
    while "/" in plain:
        plain = plain[: plain.rfind("/")]
        yield plain


def _query_values(url: str, code: bool) -> Iterator[Reference]:
    _, mark, query = url.partition("?")
    if mark:
        for piece in re.split(r"[&=#]", query[:2000]):
            yield from references_of_word(piece, False, code)
