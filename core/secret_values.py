"""Whether a value in a field for credentials is a secret, or only words about one.

Such a field also holds `required`, `from-keychain`, the name of a variable or a path, and what is replaced is lost for
good. A secret is no phrase of words, and either holds a digit or is long. The same question is asked of an object's
field, of JSON written as a text and of `NAME=value`, so that one secret is found in every dialect.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["is_credential_field", "is_phrase", "looks_secret"]

FIELD_ENDS = (
    *("authorization", "authorizationtoken", "apikey", "accesstoken", "refreshtoken"),
    *("clientsecret", "privatekey", "secretaccesskey"),
)
"""How the names of fields end that providers' APIs and HTTP use for credentials, without case, `_` and `-`."""

SHORTEST_WITH_DIGIT = 8
SHORTEST_WITHOUT = 16

_HIDDEN = re.compile(r"x{6}|X{6}|\*{3}|\.{3}|…|REDACTED|redacted")
"""What is left of a secret that somebody hid before."""
_TOKEN = re.compile(r"[\w.~+/=:@!#%^&*$-]+", re.ASCII)
_BETWEEN_WORDS = re.compile(r"[-_./:~@+=]+")
_NUMBERED = re.compile(r"[A-Za-z]*\d{1,5}", re.ASCII)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_UNSPEAKABLE = re.compile(r"[b-df-hj-np-tv-xz]{6}", re.IGNORECASE)
LONGEST_WORD = 20


@lru_cache(maxsize=4096)
def is_credential_field(name: str) -> bool:
    """Return whether a field is for credentials, by the end of its name: also `OPENAI_API_KEY` and `clientSecret`."""
    return name.lower().replace("_", "").replace("-", "").endswith(FIELD_ENDS)


def looks_secret(value: str) -> bool:
    """Return whether a value without spaces, in a place for credentials, is a secret."""
    if "://" in value or _HIDDEN.search(value) or is_phrase(value) or _is_code(value):
        return False
    if any(map(str.isdigit, value)):
        return len(value) >= SHORTEST_WITH_DIGIT
    return len(value) >= SHORTEST_WITHOUT and _TOKEN.fullmatch(value) is not None


def _is_code(value: str) -> bool:
    """Return whether a value holds brackets that close: a call, an index, a place to fill in."""
    return any(-1 < value.find(opening) < value.rfind(closing) for opening, closing in ("()", "[]", "{}", "<>"))


def is_phrase(value: str) -> bool:
    """Return whether a value is words and small numbers, joined as in an identifier, a path or a setting.

    A number stands alone or ends a word (`http2`), and there are no more of them than words without.
    """
    pieces = [piece for piece in _BETWEEN_WORDS.split(value) if piece]
    words = [piece for piece in pieces if not _NUMBERED.fullmatch(piece)]
    return len(pieces) <= 2 * len(words) and all(map(_is_words, words))


def _is_words(piece: str) -> bool:
    """Return whether letters can be read as words: not mixed in case at random, not too long, not all consonants."""
    words = _WORD.findall(piece)
    if "".join(words) != piece or len(piece) < 3 * len(words) - 1:
        return False
    return all(len(word) <= LONGEST_WORD and not _UNSPEAKABLE.search(word) for word in words)
