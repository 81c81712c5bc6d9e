"""The distinct texts of a transcript, looked through once for everything that its responses name.

A first look at a text's words says which references may stand in it; only for those is it searched, and only when
somebody asks. Lines are compared whole, so for them the first look is all there is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from .copied_lines import lines_of
from .normal_text import is_escaped, normal
from .reference_classes import ReferenceClass
from .text_index import TextIndex, Words, longest_word, watch_words, words_of
from .wire import digest

LINE = "line"
"""The kind of a copied line, beside the classes of references."""


class Use(NamedTuple):
    """A reference, in the form in which the prompt has it, or a copied line (`LINE`)."""

    kind: Any
    form: str


class WatchedTexts:
    """The distinct texts of a transcript, and which of what is watched for stands in each."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._texts: list[TextIndex] = []
        self._words: dict[bytes, set[int]] = {}
        self._lines: dict[str, list[int]] = {}
        self._holding: dict[Use, Collection[int]] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def forget(self) -> None:
        """Let go of the texts; what was found stays known, and nothing else can be asked for."""
        self._texts, self._words, self._lines = [], {}, {}
        self.__dict__.pop("_not_ascii", None)

    def add(self, text: str) -> int:
        """Return the number of a text; equal texts have one."""
        number = self._numbers.setdefault(digest(text), len(self._numbers))
        if number == len(self._texts):
            self._texts.append(TextIndex(text))
        return number

    def look_through(self, uses: Iterable[Use], lines: set[str]) -> None:
        """Look through all texts for the words of these uses and for these lines."""
        words = frozenset(word for use in uses for words in watch_words(*use)[:2] for word in words)
        for number, text in enumerate(self._texts):
            for word in words_of(text.text, words):
                self._words.setdefault(word, set()).add(number)
            for line in lines.intersection(lines_of(text.text)):
                self._lines.setdefault(line, []).append(number)

    def holding(self, use: Use, possible: Collection[int] | None = None) -> Collection[int]:
        """Return the numbers of the texts in which a use stands; `possible` are those that may, if they are known."""
        known = self._holding.get(use)
        if known is None:
            found = self.possible(use) if possible is None else possible
            known = self._holding[use] = [number for number in found if self._texts[number].holds(*use)]
        return known

    def possible(self, use: Use) -> Collection[int]:
        """Return the numbers of texts beside which none holds a use, without a look into them.

        Where having the words is holding the use, nothing more has to be found out.
        """
        known = self._holding.get(use)
        if known is not None:
            return known
        if use.kind == LINE:
            known = self._holding[use] = self._lines.get(use.form, ())
            return known
        words = watch_words(*use)
        found = self._candidates(words, use.form)
        if words.tell or not found:
            self._holding[use] = found
        return found

    def _candidates(self, words: Words, form: str) -> Collection[int]:
        """Return the texts that may hold a form: a first look that misses none."""
        if len(words.needed) == 1:
            return self._words.get(words.needed[0], ())
        if words.needed:
            having = [self._words[word] for word in words.needed if word in self._words]
            return set.intersection(*having) if len(having) == len(words.needed) else ()
        if words.either:
            return {number for word in words.either for number in self._words.get(word, ())}
        return range(len(self._texts)) if form.isascii() else self._wide(form)

    def _wide(self, form: str) -> list[int]:
        return [number for number, text in self._not_ascii if form in text]

    @cached_property
    def _not_ascii(self) -> list[tuple[int, str]]:
        texts = ((number, text.line) for number, text in enumerate(self._texts) if not text.text.isascii())
        return list(texts)


def plain(text: str) -> str:
    """Return the normal text of one that is not part of the transcript, for instance a summary."""
    return _normal(text) if is_escaped(text) else text


def stands_in(use: Use, word: str, text: str) -> bool:
    """Return whether a use, whose watch word is given, stands in a normal text."""
    if word not in text:
        return False
    if use.kind == LINE:
        return use.form in lines_of(text)
    return _index(text).holds(use.kind, use.form)


def watch_word(use: Use) -> str:
    """Return what stands in every normal text that has a use: most texts that are asked have nothing of it."""
    if use.kind == LINE:
        return use.form
    return longest_word(use.form) if use.kind in _IN_ITS_OWN_LETTERS else ""


_IN_ITS_OWN_LETTERS = frozenset(
    {
        ReferenceClass.IDENTIFIER,
        ReferenceClass.PATH,
        ReferenceClass.URL,
        ReferenceClass.HASH,
        ReferenceClass.ID,
        ReferenceClass.QUOTED,
        ReferenceClass.CJK,
    }
)
"""Classes whose forms are searched as they are spelled, a drive's letter aside."""


@lru_cache(maxsize=1024)
def _index(text: str) -> TextIndex:
    return TextIndex(text)


_normal = lru_cache(maxsize=1024)(normal)
