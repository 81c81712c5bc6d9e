"""The classes of references, counted apart, and what is deliberately none.

No reference are common words, choices (`and/or`), names that everybody knows (a language's own, brands), markup, keys
of JSON and of tool schemas, numbers that point into a listing (line numbers, `file:17`), options and versions, bare
years and round numbers: a response has them whatever its prompt held. Where a line number is what a response needed,
that need is not counted.

Identifiers of libraries stay in, as a class of their own: nothing in a text tells `Index.get_indexer` of a library
from that of a project.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class ReferenceClass(StrEnum):
    """What a reference is, in the order in which classes claim a stretch of text."""

    URL = "url"  # scheme://..., or a host alone; values of its query are references of their own
    EMAIL = "email"  # in any case
    UUID = "uuid"  # alone, or the end of a longer id
    DATE = "date"  # a day in any spelling, or a month of a year; never a bare year or a time of day
    PATH = "path"  # begins at a root, ends in a known ending, or has three plain parts; two only where marked as code
    HASH = "hash"  # 7 to 64 lower hex digits with a digit and a letter, or 0x...
    ERROR = "error"  # E501, ENOENT, SIGTERM, TS2345, HTTP 404, exit code 1
    ID = "id"  # #12, ABC-123, HAT052, JG7FMM, name_1234567, six digits and more
    NUMBER = "number"  # three digits and more, or with a unit or currency; no line, option, version or year
    IDENTIFIER = "identifier"  # `_` or a capital inside, or dotted; no builtins, brands, tools or their parameters
    QUOTED = "quoted"  # 5 to 400 characters in quotes with a space or a mark inside; one plain word is none
    CJK = "cjk"  # 2 to 40 characters with CJK or kana in any quotes


class Reference(NamedTuple):
    """Something definite that a text names. `forms` are its spellings to look for, the whole first, then parts."""

    kind: ReferenceClass
    forms: tuple[str, ...]

    @property
    def key(self) -> str:
        """The whole."""
        return self.forms[0]
