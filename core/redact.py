"""Secrets in a recorded value, found by their known shapes and replaced before anything is written.

Only shapes with a fixed mark are looked for (a vendor's prefix, `Bearer`, a PEM header, a password in a URL, a
field that a provider's API defines for credentials, in an object or in a text). Randomness is never guessed at,
because a transcript is full of ids, hashes and base64 that must stay as they are. Equal secrets get equal
placeholders on every machine, so that a resent history still matches its stored copy and an import stays idempotent.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from .errors import ConfigError
from .secret_shapes import FIELD_SHAPES, SCHEME, SHAPES, Shape
from .secret_values import is_credential_field, is_login, is_secret_field_value

if TYPE_CHECKING:
    from .transcript import Call, Transcript

__all__ = ["Masked", "Privacy", "mask", "mask_transcript"]

SHORTEST = 12
"""No known secret has fewer characters together with its mark."""

BASE64 = re.compile(r"(?:data:[^,\s]{0,200};base64,)?[A-Za-z0-9+/\r\n]{256,}={0,2}\s{0,2}")
"""A string that is an image, a file or a signature as a whole. Chance alone may spell a key in it."""

MARKED = tuple((mark, shape) for shape in SHAPES for mark in shape.marks)
MARKED_AND_FIELDS = (*MARKED, *((mark, shape) for shape in FIELD_SHAPES for mark in shape.marks))

VARIABLE = re.compile(r"\$\{?\w+\}?|\{\{?[^{}]*\}?\}|<[^<>]*>|\*+|x+|X+|\.+|%\w+%")
"""What people write in the place of a secret."""

CREDENTIAL = re.compile(rf"{SCHEME}(?P<secret>[^ ]+)")
SHORT_LOGIN = re.compile(r"(?i:basic)[ \t]{1,4}(?P<secret>\S{2,7})")
FIELDS = (
    Shape("basic-login", (), SHORT_LOGIN, tag=2, test=is_login),
    Shape("credential", (), CREDENTIAL, tag=None, test=is_secret_field_value),
)
"""What a field for credentials holds as a whole."""

EMAIL = re.compile(r"(?<![\w.+-])(?P<secret>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5})(?![\w-])", re.ASCII)


@dataclass(frozen=True, slots=True)
class Privacy:
    """What is hidden beside secrets: e-mail addresses, or all content, of which then only token counts are kept."""

    emails: bool = False
    content: bool = False

    @classmethod
    def of(cls, words: str) -> Privacy:
        """Return the switches that a text names, separated by commas: `emails`, `content`. ConfigError for others.

        A word that is not known might be meant to hide something, so nothing goes on without it.
        """
        named = {word.strip().lower() for word in words.split(",")} - {""}
        unknown = sorted(named - {field.name for field in fields(cls)})
        if unknown:
            problem = f"{unknown[0]!r} names nothing that can be hidden."
            raise ConfigError("privacy", problem, "Use emails, content, or both with a comma.")
        return cls("emails" in named, "content" in named)


SECRETS_ONLY = Privacy()


@dataclass(frozen=True, slots=True)
class Masked:
    """A value without its secrets, and how many of each kind were in it."""

    value: Any
    found: Mapping[str, int]


def mask(value: Any, privacy: Privacy = SECRETS_ONLY) -> Masked:
    """Return a JSON value with its secrets replaced. The input is never changed; nothing raises."""
    masker = _Masker(privacy.emails)
    masked = masker.walk(value)
    return Masked(masked if masker.found else value, dict(sorted(masker.found.items())))


def mask_transcript(transcript: Transcript, privacy: Privacy = SECRETS_ONLY) -> tuple[Transcript, Mapping[str, int]]:
    """Return a transcript without its secrets, and how many of each kind were in it."""
    masker = _Masker(privacy.emails)
    masked = replace(
        transcript,
        messages=tuple(map(masker.walk, transcript.messages)),
        heads=tuple(map(masker.walk, transcript.heads)),
        calls=tuple(_masked_call(call, masker.walk) for call in transcript.calls),
        title=masker.walk(transcript.title),
        source=masker.walk(transcript.source),
        session=masker.walk(transcript.session),
        notes=tuple(map(masker.walk, transcript.notes)),
        meta=masker.walk(transcript.meta),
    )
    return (masked if masker.found else transcript), dict(sorted(masker.found.items()))


def _masked_call(call: Call, walk: Callable[[Any], Any]) -> Call:
    variants = tuple((position, walk(wire)) for position, wire in call.variants)
    return replace(call, response=walk(call.response), variants=variants, hints=walk(call.hints))


class _Masker:
    """Walks values and counts what it replaced."""

    def __init__(self, emails: bool) -> None:
        self.found: Counter[str] = Counter()
        self._emails = emails

    def walk(self, value: Any) -> Any:
        """Copy a JSON value, masking every string and key. Needs no recursion, so that no depth is too deep."""
        root = [value]
        work: list[tuple[Any, Any]] = [(root, 0)]
        while work:
            holder, place = work.pop()
            item = holder[place]
            if isinstance(item, str):
                holder[place] = self.field(place, item)
            elif isinstance(item, Mapping):
                holder[place] = copied = self._keys(item)
                work.extend((copied, key) for key in copied)
            elif isinstance(item, list | tuple):
                holder[place] = listed = list(item)
                work.extend((listed, index) for index in range(len(listed)))
        return root[0]

    def _keys(self, item: Mapping[Any, Any]) -> dict[Any, Any]:
        """Copy an object with masked keys. Two keys that would fall together stay apart."""
        copied: dict[Any, Any] = {}
        for key, value in item.items():
            masked = self.text(key) if isinstance(key, str) else key
            while masked in copied:
                masked += "'"
            copied[masked] = value
        return copied

    def field(self, name: Any, text: str) -> str:
        """Mask one string: what is known in it, else the secret that it is where its field is one for credentials."""
        masked = self.text(text)
        if masked != text or not isinstance(name, str) or not is_credential_field(name) or "[secret:" in text:
            return masked
        for shape in FIELDS:
            if match := shape.pattern.fullmatch(text):
                return self._replace(shape, match)
        return text

    def text(self, text: str) -> str:
        """Mask what has a known shape in a text."""
        if len(text) < SHORTEST or BASE64.fullmatch(text):
            return text
        marked = MARKED_AND_FIELDS if ":" in text or "=" in text else MARKED
        for mark, shape in marked:
            if mark in text:
                text = shape.pattern.sub(partial(self._replace, shape), text)
        if self._emails and "@" in text:
            text = EMAIL.sub(lambda match: self._placeholder("email", match["secret"], 6), text)
        return text

    def _replace(self, shape: Shape, match: re.Match[str]) -> str:
        secret = match["secret"]
        if VARIABLE.fullmatch(secret) or (shape.test and not shape.test(secret)):
            return match[0]
        before = match[0][: match.start("secret") - match.start()]
        after = match[0][match.end("secret") - match.start() :]
        return before + self._placeholder(shape.kind, secret, shape.tag) + after

    def _placeholder(self, kind: str, secret: str, tag: int | None) -> str:
        """Return what stands for a secret. A long name would let a short one be guessed from it."""
        self.found[kind] += 1
        name = hashlib.blake2b(secret.encode("utf-8", "surrogatepass"), person=b"secret").hexdigest()
        return f"[secret:{kind}:{name[: tag or (6 if len(secret) > 20 else 2)]}]"
