"""Web and e-mail addresses, found by the mark that each must have: `://` or `@`.

A pattern that begins with any letter would be tried at every letter of a text; looking for the mark and then to its
left costs nothing where there is none.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

_SCHEME_CHARACTERS = string.ascii_letters + string.digits + "+.-"
_LOCAL_CHARACTERS = string.ascii_letters + string.digits + "._%+-"
LONGEST_SCHEME, LONGEST_LOCAL = 21, 64
_ADDRESS = re.compile(r"[^\s\"'`<>()\[\]{}|\\^\u3000-\u303f\uff00-\uff65“”‘’]{2,2000}")
_HOST = re.compile(r"[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}")
_QUERY = re.compile(r"[?#]")
_NAMESPACE = re.compile(
    r"https?://(?:www\.)?w3\.org/|https?://schemas\.|https?://(?:localhost|127\.0\.0\.1)(?::\d+)?/?$"
)


def urls(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, stop and text of each web address, in order."""
    end, at = 0, text.find("://")
    while at >= 0:
        start = _run_start(text, at, _SCHEME_CHARACTERS, LONGEST_SCHEME)
        is_scheme = start >= end and 1 < at - start <= LONGEST_SCHEME and text[start].isalpha()
        rest = _ADDRESS.match(text, at + 3) if is_scheme else None
        if rest is not None:
            end = rest.end()
            url = text[start:end].rstrip(".,;:!?*_")
            yield start, start + len(url), url
        at = text.find("://", end if rest is not None else at + 3)


def emails(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, stop and text of each e-mail address, in order."""
    end, at = 0, text.find("@")
    while at >= 0:
        start = _run_start(text, at, _LOCAL_CHARACTERS, LONGEST_LOCAL)
        host = _HOST.match(text, at + 1) if start >= end and 0 < at - start <= LONGEST_LOCAL else None
        if host is not None:
            end = host.end()
            yield start, end, text[start:end]
        at = text.find("@", end if host is not None else at + 1)


def is_namespace(url: str) -> bool:
    """Return whether an address names a vocabulary or this machine, which any text may do."""
    return _NAMESPACE.match(url) is not None


def url_forms(url: str) -> list[str]:
    """Return the address without its scheme, then without query and fragment, then its parents down to the host.

    There is none where nothing follows the scheme; `file:///srv/a` has no host, so its last form is `/srv`.
    """
    url = url.partition("://")[2].rstrip("/")
    forms = [url]
    plain = _QUERY.split(url, maxsplit=1)[0].rstrip("/")
    if plain != url:
        forms.append(plain)
    while "/" in plain:
        plain = plain[: plain.rfind("/")]
        forms.append(plain)
    return [form for form in forms if any(map(str.isalnum, form))]


def _run_start(text: str, stop: int, characters: str, longest: int) -> int:
    """Return where a run of characters that ends at `stop` begins, or a place too far away for a `longest` one."""
    piece = text[max(0, stop - longest - 1) : stop]
    return stop - len(piece) + len(piece.rstrip(characters))
