"""What a single word of code is: a path, a hash, an id, an identifier, or nothing.

Every answer depends on the word and on what stands around it (three flags), so it is remembered per word: texts of
one project use the same words over and over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from .reference_classes import Reference, ReferenceClass
from .reference_words import (
    BARE_FILES,
    BRANDS,
    BUILTINS,
    COMMON_CODES,
    COMMON_PATHS,
    DOMAINS,
    DOUBTFUL_ENDINGS,
    EXTENSIONS,
    MIME_TYPES,
    OWNERS,
    PAIRS,
    ROOTS,
    STANDARD_ROOTS,
)

LONGEST = 400
"""Longer words are data, not names."""

UUID_LENGTH = 36
_DIGIT = re.compile("[0-9]")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_UUID_INSIDE = re.compile(rf"(?<![A-Za-z0-9]){_UUID.pattern}(?![A-Za-z0-9])")
_DATED = re.compile(r"[12][0-9]{3}-[01][0-9]-[0-3][0-9]")
_HASH = re.compile(r"0x[0-9a-fA-F]{2,64}|(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}")
_ERROR = re.compile(
    r"E\d{3,5}|ERR_[A-Z0-9_]+|E(?:NOENT|ACCES|PERM|EXIST|CONNREFUSED|CONNRESET|CONNABORTED|TIMEDOUT|ADDRINUSE|NOTFOUND"
    r"|PIPE|NOTDIR|ISDIR|MFILE|NOSPC|NOTEMPTY|INVAL|AI_AGAIN|RESOLVE|HOSTUNREACH)"
    r"|SIG(?:TERM|KILL|INT|SEGV|ABRT|HUP|PIPE|BUS|FPE|ILL)|(?:TS|CS|ORA-|PGRST)\d{3,6}"
)
_ID = re.compile(
    r"#\d+|#?[A-Z]\d{5,}|[A-Z][A-Z0-9]{1,9}-\d+|[A-Z]{2,5}\d{3,6}|[a-z][a-z_]*_\d{4,}"
    r"|(?=[A-Z0-9]*[A-Z])(?=[A-Z0-9]*\d)[A-Z0-9]{6,15}"
    r"|(?=(?:[A-Za-z]*\d){3})(?=\d*[A-Za-z])[A-Za-z0-9]{16,80}"
    r"|[a-z]{2,8}[-_](?=[A-Za-z0-9]*\d)(?=[A-Za-z0-9]*[A-Za-z])[A-Za-z0-9]{10,64}"
)
_EXTENSION = re.compile(r"\.([A-Za-z][A-Za-z0-9]{0,9})$")
_DOTFILE = re.compile(
    r"\.(?:git(?:ignore|attributes|modules|keep|hub|lab)?|env|[a-z]+-version|[a-z]{2,}rc|[a-z]{2,}ignore|vscode|idea"
    r"|claude|cursor|cline|ssh|aws|venv|tox|config|editorconfig|cache|circleci|husky|storybook|cargo|docker|kube)"
    r"(?:\.[a-z]+)*"
)
_MARKED, _LOWER, _DRIVE = re.compile(r"[0-9_.-]"), re.compile("[a-z]{2}"), re.compile("[A-Za-z]:/")
_PART = re.compile(r"[\w.@+~%-]*[^\W\d_][\w.@+~%-]*")
_PLAIN = re.compile(r"[a-z0-9_][a-z0-9_.+-]*")
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_NAMES = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*(?:(?:::|\.)[A-Za-z_$][A-Za-z0-9_$]*)*")
_INNER = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_LETTER = re.compile("[A-Za-z]")
_SIMPLE = re.compile(r"(?![ES])[A-Za-z_]{1,400}")
"""A name that is no error code (those without a digit begin with E or S), no id and no hash."""
_DUNDER = re.compile(r"__[a-z]+__")
_SEPARATOR = re.compile(r"[\\/]+")
_PRODUCT = re.compile(
    r"[A-Z][A-Za-z0-9]*\.(?:js|io|ai|NET|net)|ASP\.NET|(?:next|node|react|vue|three|chart|d3|nuxt|express)\.js|socket\.io"
)
_JOINTS = re.compile(r"[@+~%=/\\-]+")
_SCOPE = re.compile(r"::|\.")
_ANY_SCOPE = re.compile(r"::|->|\.")


@lru_cache(maxsize=200_000)
def references_of_word(word: str, called: bool, quoted: bool) -> tuple[Reference, ...]:
    """Return the references in a word. `called`: a bracket follows; `quoted`: it stands in quotes or in code."""
    if _SIMPLE.fullmatch(word) and word not in BARE_FILES:
        return (Reference(ReferenceClass.IDENTIFIER, (word,)),) if is_identifier(word) else ()
    return tuple(_references(word, called, quoted))


def _references(word: str, called: bool, quoted: bool) -> Iterator[Reference]:
    word = _trimmed(word)
    if len(word) < 2 or len(word) > LONGEST:
        return
    whole = _whole(word, called, quoted)
    if whole is not None:
        yield whole
    elif "::" not in word and ":" in word.strip(":"):
        pieces = word.split(":")
        for place, piece in enumerate(pieces):
            if place and piece.isdigit():
                continue
            yield from _references(piece, called and place == len(pieces) - 1, quoted)
    elif len(word) > UUID_LENGTH and (uuid := _UUID_INSIDE.search(word)):
        yield Reference(ReferenceClass.UUID, (uuid[0].lower(),))
    elif _JOINTS.search(word) and not _DATED.search(word):
        for piece in _JOINTS.split(word):
            named = name_reference(piece, called and word.endswith(piece))
            if named is not None:
                yield named


def _trimmed(word: str) -> str:
    word = word.rstrip(".:-+?~,;=&%")
    word = word.lstrip(":=+,;&?%")
    if word.startswith("--"):
        word = word.lstrip("-")
    if word.startswith("-") or (word.startswith(".") and word[1:2] == "." and not word.startswith("../")):
        word = word.lstrip("-.")
    return word


def _whole(word: str, called: bool, quoted: bool) -> Reference | None:
    if len(word) == UUID_LENGTH and _UUID.fullmatch(word):
        return Reference(ReferenceClass.UUID, (word.lower(),))
    slashed = "/" in word or "\\" in word
    if slashed or ("." in word and not called and _may_be_file(word)) or word in BARE_FILES:
        path = path_reference(word, quoted)
        if path is not None or slashed:
            return path
    if "." in word:
        return name_reference(word.lstrip("@#$"), called)
    if _ERROR.fullmatch(word):
        return Reference(ReferenceClass.ERROR, (word,))
    if not called and _DIGIT.search(word):
        if _HASH.fullmatch(word):
            return Reference(ReferenceClass.HASH, (word,))
        if _ID.fullmatch(word) and word not in COMMON_CODES:
            return Reference(ReferenceClass.ID, (word if word[1:].isdigit() and len(word) < 7 else word.lstrip("#"),))
    return name_reference(word.lstrip("@#$"), called)


def _may_be_file(word: str) -> bool:
    """Whether a word without a slash is a path if it is well-formed."""
    return word[0] == "~" or _is_file(word, word.lstrip("@"))


def path_reference(word: str, quoted: bool) -> Reference | None:
    """Return the path that a word is, if it is one."""
    path = _SEPARATOR.sub("/", word.lstrip("@")).removeprefix("./")
    ended = path.endswith("/")
    path = path.rstrip("/")
    if path in COMMON_PATHS or not path or any(part in ("...", "") for part in path.split("/")[1:]):
        return None
    parts = [part for part in path.split("/") if part]
    if not parts or not any(_PART.fullmatch(part) for part in parts):
        return None
    if not _is_path(word, path, parts, quoted or ended or word.startswith("@")):
        return None
    return Reference(ReferenceClass.PATH, tuple(_path_forms(path, parts)))


def _is_path(word: str, path: str, parts: list[str], quoted: bool) -> bool:
    if len(parts) == 1 and path[0] not in "/~":
        return _is_file(word, parts[0])
    if word.startswith(("/", "./", "../", "~/", ".\\", "..\\")) or _DRIVE.match(path):
        return len(parts) > 1 or (len(parts[0]) > 2 and _PLAIN.fullmatch(parts[0]) is not None)
    if len(parts) == 1:
        return False
    if _is_file(word, parts[-1]):
        return True
    if not all(map(_PLAIN.fullmatch, parts)):
        return False
    if len(parts) > 2:
        return any(len(part) > 1 for part in parts) and not (parts[0] == "s" and len(parts) == 3)
    return _is_pair_of_places(parts, quoted)


def _is_pair_of_places(parts: list[str], quoted: bool) -> bool:
    """Whether two plain words are a place (`src/units`) and not a choice (`and/or`)."""
    if "/".join(parts) in PAIRS or parts[0] in MIME_TYPES or not all(map(_LOWER.search, parts)):
        return False
    marked = any(map(_MARKED.search, parts))
    return quoted or marked or parts[0] in ROOTS or parts[0] == parts[1]


def _is_file(word: str, name: str) -> bool:
    if name in BARE_FILES or (name[:1] == "." and _DOTFILE.fullmatch(name)):
        return True
    if name[name.rfind(".") + 1 :].lower() not in EXTENSIONS:
        return False
    found = _EXTENSION.search(name)
    if found is None or found.start() == 0:
        return False
    stem = name[: found.start()]
    if (not found[1].islower() and not stem.isupper()) or (len(found[1]) == 1 and len(stem) < 2):
        return False
    if word == name and "." in stem and found[1] in DOUBTFUL_ENDINGS and all(map(_NAME.fullmatch, stem.split("."))):
        return False
    if _PRODUCT.fullmatch(word):
        return False  # Node.js, Chart.js
    return stem not in OWNERS and (stem not in STANDARD_ROOTS or found[1] not in ("log", "env", "map", "json", "s"))


def _path_forms(path: str, parts: list[str]) -> Iterator[str]:
    """Yield the path, then its suffixes from the longest, then its folders of at least two parts."""
    yield path
    if path.startswith("/") or len(parts) > 1:
        start = 1 if len("/".join(parts)) == len(path) else 0
        for first in range(start, len(parts)):
            suffix = "/".join(parts[first:])
            if first < len(parts) - 1 or _EXTENSION.search(suffix):
                yield suffix
    root = "/" if path.startswith("/") else ""
    for stop in range(len(parts) - 1, 1, -1):
        yield root + "/".join(parts[:stop])


def name_reference(word: str, called: bool) -> Reference | None:
    """Return the identifier (or host) that a word is, if it is one."""
    if not _NAMES.fullmatch(word):
        return None
    names = _SCOPE.split(word)
    rest = word
    while len(names) > 1 and (names[0] in OWNERS or len(names[0]) == 1):
        names, rest = names[1:], _SCOPE.split(rest, maxsplit=1)[1]
    if len(names) == 1:
        return Reference(ReferenceClass.IDENTIFIER, (names[0],)) if is_identifier(names[0]) else None
    if names[0] in STANDARD_ROOTS or _PRODUCT.fullmatch(word):
        return None
    word = rest
    if "::" not in word and not called and word == word.lower() and names[-1] in DOMAINS:
        return Reference(ReferenceClass.URL, (word,))
    if "::" not in word and max(map(len, names)) < 4 and min(map(len, names)) < 2:
        return None  # e.g., i.e., a.m.
    return Reference(ReferenceClass.IDENTIFIER, tuple(_name_forms(word, names)))


def _name_forms(word: str, names: list[str]) -> list[str]:
    """Return a dotted name, what it begins with, and its names that are identifiers by themselves."""
    forms, prefix = [word], word
    for _ in range(len(names) - 2):
        prefix = prefix[: max(prefix.rfind("."), prefix.rfind("::"))].rstrip(":")
        forms.append(prefix)
    return forms + [name for name in reversed(names) if is_identifier(name)]


def last_name(form: str) -> str:
    """Return the last name of a dotted one."""
    return form if form.isidentifier() else _ANY_SCOPE.split(form)[-1]


def is_identifier(name: str) -> bool:
    """Return whether a single name looks like code: `_` or a capital inside, and no word that everybody knows."""
    if len(name) < 5 or ("_" not in name and _INNER.search(name) is None) or name in BUILTINS or name in BRANDS:
        return False
    stem = name.strip("_$")
    if "_" in name:
        return _LETTER.search(stem) is not None and not _DUNDER.fullmatch(name)
    return not stem.isupper() and not stem[:-1].isupper()
