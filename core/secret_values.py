"""Whether what stands in a place for credentials is a secret, or only words about one.

Such a place also holds `required`, `from-keychain` or the name of a variable, and what is replaced is lost for good.
An object's own field says for sure that its value is one, so that all but a few known words is a secret there: where
in doubt, it is hidden. In a text what follows such a name may as well be code or prose, and has to look like a secret:
it is no phrase of words, and either holds a digit or is long.
"""

from __future__ import annotations

import re
from base64 import b64decode
from functools import lru_cache

__all__ = ["is_credential_field", "is_login", "is_phrase", "is_secret_field_value", "looks_secret"]

FIELD_ENDS = (
    *("authorization", "authorizationtoken", "apikey", "accesstoken", "refreshtoken"),
    *("clientsecret", "privatekey", "secretaccesskey"),
)
"""How the names of fields end that providers' APIs and HTTP use for credentials, without case, `_` and `-`."""

SHORTEST_IN_FIELD = 8
SHORTEST_WITH_DIGIT = 8
SHORTEST_WITHOUT = 16
SHORTEST_MEAN_WORD = 4
LONGEST_WORD = 20

WORDS_ABOUT = frozenset(
    {
        *("access", "anthropic", "api", "apikey", "array", "auth", "authentication", "authorization", "automatic"),
        *("automatically", "available", "aws", "azure", "basic", "bearer", "boolean", "cfg", "client", "conf"),
        *("config", "configuration", "configured", "default", "denied", "deprecated", "digest", "disabled", "empty"),
        *("enabled", "env", "environ", "environment", "false", "file", "forbidden", "from", "gcp", "gemini"),
        *("github", "google", "granted", "header", "headers", "here", "hidden", "ignored", "inherit", "inherited"),
        *("insert", "invalid", "key", "keychain", "keyring", "keys", "managed", "masked", "missing", "mistral", "my"),
        *("needed", "negotiate", "no", "none", "not", "null", "number", "oauth", "oauth2", "object", "of", "omitted"),
        *("openai", "optional", "or", "os", "placeholder", "process", "provided", "redacted", "removed", "replace"),
        *("required", "self", "session", "set", "setting", "settings", "string", "the", "this", "to", "token"),
        *("tokens", "true", "undefined", "unknown", "unset", "unsupported", "use", "variable", "vault", "with", "x"),
        "your",
    }
)
"""What schemas and settings say of a credential. A value of these words alone is plainly none."""

_BETWEEN_WORDS = re.compile(r"[-_./:~@+=]+")
_VARIABLE_NAME = re.compile(r"[A-Z]+\d?(?:_[A-Z]+\d?|_\d{1,4})+")
_HIDDEN = re.compile(r"x{6,}|X{6,}|\*{3,}|\.{3,}|…|REDACTED|redacted")
"""What somebody wrote who hid a secret before."""
_TOKEN = re.compile(r"[\w.~+/=:@!#%^&*$-]+", re.ASCII)
_PATH = re.compile(r"(?:~|\.\.?)/")
_NUMBERED = re.compile(r"[A-Za-z]*\d{1,5}", re.ASCII)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_UNSPEAKABLE = re.compile(r"[b-df-hj-np-tv-xz]{6}", re.IGNORECASE)


@lru_cache(maxsize=4096)
def is_credential_field(name: str) -> bool:
    """Return whether a field is for credentials, by the end of its name: also `OPENAI_API_KEY` and `clientSecret`."""
    return name.lower().replace("_", "").replace("-", "").endswith(FIELD_ENDS)


def is_secret_field_value(value: str) -> bool:
    """Return whether the value of an object's field for credentials is a secret: all but what plainly is none."""
    return len(value) >= SHORTEST_IN_FIELD and not _is_about_secrets(value)


def is_login(value: str) -> bool:
    """Return whether a short value after `Basic` is a name and a password: written in base64, with a colon between."""
    try:
        return b":" in b64decode(value + "=" * (-len(value) % 4))
    except ValueError:
        return False


def looks_secret(value: str) -> bool:
    """Return whether a value without spaces, found in a text in a place for credentials, is a secret."""
    if "://" in value or _PATH.match(value) or _is_about_secrets(value) or is_phrase(value) or _is_code(value):
        return False
    if any(map(str.isdigit, value)):
        return len(value) >= SHORTEST_WITH_DIGIT
    return len(value) >= SHORTEST_WITHOUT and _TOKEN.fullmatch(value) is not None


def _is_about_secrets(value: str) -> bool:
    """Return whether a value is known words, a variable's name, or has too little left of it to be a secret."""
    if _VARIABLE_NAME.fullmatch(value) or all(word in WORDS_ABOUT for word in _pieces(value.lower())):
        return True
    left = _HIDDEN.sub("", value)
    return left != value and len(left) < SHORTEST_IN_FIELD


def _is_code(value: str) -> bool:
    """Return whether a value holds brackets that close: a call, an index, a place to fill in."""
    return any(-1 < value.find(opening) < value.rfind(closing) for opening, closing in ("()", "[]", "{}", "<>"))


def is_phrase(value: str) -> bool:
    """Return whether a value is words and small numbers, joined as in an identifier, a path or a setting.

    A number stands alone or ends a word (`http2`), and there are no more of them than words without. The words are as
    long as words are on average: drawn letters change their case more often.
    """
    pieces = _pieces(value)
    words = [piece for piece in pieces if not _NUMBERED.fullmatch(piece)]
    if len(pieces) > 2 * len(words) or not all(map(_is_words, words)):
        return False
    return sum(map(len, words)) >= SHORTEST_MEAN_WORD * sum(len(_WORD.findall(piece)) for piece in words)


def _is_words(piece: str) -> bool:
    """Return whether letters can be read as one word or two: case changes once, none is too long or all consonants."""
    words = _WORD.findall(piece)
    if "".join(words) != piece or len(words) > 2:
        return False
    return all(len(word) <= LONGEST_WORD and not _UNSPEAKABLE.search(word) for word in words)


def _pieces(value: str) -> list[str]:
    return [piece for piece in _BETWEEN_WORDS.split(value) if piece]
