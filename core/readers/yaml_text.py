"""Recordings of HTTP traffic that are written as YAML, as the values that JSON would give.

Only recordings are taken for YAML (they begin with one of a few keys): nearly any text is YAML of some kind. The
plain words of a recording were written by different libraries, so only what all of them read alike is taken for a
number or a truth value; times stay text. Aliases are followed as far as what they unfold to stays in proportion to
the file. Where the whole is damaged, its entries are read one by one.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from .packed import as_text

BEGINNING = 4096
"""Characters in which the first key must stand."""

MOST_UNFOLDED = 20
"""How many times larger than the file its values may become by aliases."""

_BEGINS = re.compile(
    r"(?:\s*(?:#[^\n]*|%YAML[^\n]*|---[ \t]*)?\n)*(?:---[ \t]+)?"
    r"(?:log|interactions|http_interactions|version|recorded_with|recordings)[ \t]*:(?:\s|$)"
)
_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_ITEM = re.compile(r"^( *)- ", re.MULTILINE)
_PLAIN = {
    "bool": (re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), "tTfF"),
    "int": (re.compile(r"^[-+]?[0-9]+$"), "-+0123456789"),
    "float": (re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$"), "-+0123456789."),
    "null": (re.compile(r"^(?:~|null|Null|NULL|)$"), "~nN\0"),
}
_KEPT = {f"tag:yaml.org,2002:{name}" for name in ("str", "seq", "null", "bool")}


class NotYaml(ValueError):
    """Text that cannot be read as YAML, with the reason. `line` counts from 1; 0 where it is not known."""

    def __init__(self, reason: str, line: int = 0) -> None:
        self.line = line
        super().__init__(reason)


@dataclass(slots=True)
class YamlDocument:
    """What was read, and what could not be: line and reason of each entry that was left out."""

    value: Any
    broken: list[tuple[int, str]] = field(default_factory=list)


def is_yaml(text: str) -> bool:
    """Tell whether a text is a recording in YAML, by its first key."""
    return _BEGINS.match(text[:BEGINNING]) is not None


def read_yaml(text: str) -> YamlDocument:
    """Return the value of a YAML text; where it is damaged, the value with the entries that can be read."""
    text = _UNREADABLE.sub("\ufffd", text)
    try:
        return YamlDocument(_loaded(text))
    except NotYaml as error:
        return _by_entry(text, error)


def _by_entry(text: str, error: NotYaml) -> YamlDocument:
    """Read the text before the first entry with each entry in turn, and join their lists of entries."""
    found = YamlDocument(None)
    for start, part in _entries(text):
        try:
            value = _loaded(part)
        except NotYaml as inner:
            found.broken.append((start + max(inner.line, 1), str(inner)))
        else:
            found.value = value if found.value is None else _joined(found.value, value)
    if found.value is None:
        raise error
    return found


def _entries(text: str) -> Iterator[tuple[int, str]]:
    """Yield (lines before it, text) of each entry, each with the text before the first one."""
    first = _ITEM.search(text)
    if first is None:
        return
    starts = [match.start() for match in _ITEM.finditer(text) if match.group(1) == first.group(1)]
    head = text[: starts[0]]
    if len(head) * len(starts) > MOST_UNFOLDED * len(text):
        return
    before = 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        yield before, head + text[start:end]
        before += text.count("\n", start, end)


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, dict) and isinstance(second, dict):
        return {key: _joined(first[key], second.get(key)) if key in first else second[key] for key in first | second}
    return [*first, *second] if isinstance(first, list) and isinstance(second, list) else first


def _loaded(text: str) -> Any:
    import_error, loader = _loader()
    if loader is None:
        raise NotYaml(f"reading YAML needs the package PyYAML ({import_error}); install it and read the file again")
    import yaml

    try:
        value = yaml.load(text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = str(getattr(error, "problem", None) or error).split("\n")[0]
        raise NotYaml(reason, mark.line + 1 if mark is not None else 0) from None
    except (RecursionError, ValueError, OverflowError) as error:
        raise NotYaml(str(error).split("\n")[0]) from None
    if _unfolded(value, MOST_UNFOLDED * len(text) + 1_000_000) is None:
        raise NotYaml(f"its aliases unfold to more than {MOST_UNFOLDED} times the file")
    return value


def _unfolded(value: Any, most: int) -> int | None:
    """Return the characters and nodes that a value holds with its aliases followed; None if more than `most`."""
    sizes: dict[int, int | None] = {}
    stack: list[tuple[Any, bool]] = [(value, False)]
    while stack:
        node, done = stack.pop()
        inner = list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else ()
        if done:
            found = [sizes.get(id(part)) if isinstance(part, dict | list) else _size(part) for part in inner]
            if None in found or (total := 1 + sum(size or 0 for size in found)) > most:
                return None
            sizes[id(node)] = total
        elif id(node) not in sizes:
            sizes[id(node)] = None
            stack.append((node, True))
            stack.extend((part, False) for part in inner if isinstance(part, dict | list) and id(part) not in sizes)
    return sizes[id(value)] if isinstance(value, dict | list) else _size(value)


def _size(value: Any) -> int:
    return 1 + len(value) if isinstance(value, str) else 1


@cache
def _loader() -> tuple[str, Any]:
    """Return why there is no loader, and a loader that gives JSON values; made once."""
    try:
        import yaml
    except ImportError as error:
        return str(error), None
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    kept = {tag: made for tag, made in base.yaml_constructors.items() if tag in _KEPT}
    loader: Any = type("RecordingLoader", (base,), {"yaml_implicit_resolvers": {}, "yaml_constructors": kept})
    for name, (pattern, first) in _PLAIN.items():
        loader.add_implicit_resolver(f"tag:yaml.org,2002:{name}", pattern, ["" if c == "\0" else c for c in first])
    loader.add_constructor("tag:yaml.org,2002:int", lambda made, node: int(made.construct_scalar(node)))
    loader.add_constructor("tag:yaml.org,2002:float", lambda made, node: _float(made.construct_scalar(node)))
    loader.add_constructor("tag:yaml.org,2002:binary", lambda made, node: _binary(made.construct_scalar(node)))
    loader.add_constructor("tag:yaml.org,2002:map", _mapping)
    loader.add_constructor(None, _plain)
    return "", loader


def _float(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _binary(text: str) -> str:
    try:
        return as_text(base64.b64decode(text))
    except (binascii.Error, ValueError):
        return text


def _mapping(loader: Any, node: Any) -> Iterator[dict[str, Any]]:
    """Keys are texts, as in JSON. Two steps, as an alias may point to the mapping from within."""
    made: dict[str, Any] = {}
    yield made
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        made[key if isinstance(key, str) else json.dumps(key, default=str)] = loader.construct_object(value_node)


def _plain(loader: Any, node: Any) -> Any:
    """Take what has a tag of its own for what it is without one."""
    if node.id == "mapping":
        return _mapping(loader, node)
    if node.id == "sequence":
        return loader.construct_yaml_seq(node)
    return loader.construct_scalar(node)
