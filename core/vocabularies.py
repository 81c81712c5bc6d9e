"""Loads tiktoken encodings without a network, from the vocabularies in `vocab`.

tiktoken downloads its rank files on first use and takes no other source than its cache folder, so the bundled file is
unpacked under the name that tiktoken expects, in a folder that belongs to this product: tiktoken deletes a cached file
whose hash is wrong and downloads it again, and nobody else's folder should suffer that. A file is verified before it
is used and again on reuse, and written by replacing, so that processes may start at the same time.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import tempfile
import threading
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import tiktoken

from .errors import ConfigError

__all__ = ["ENCODINGS", "VOCABULARIES", "Vocabulary", "encoding", "require_encoding"]

_BUNDLED = Path(__file__).with_name("vocab")
_CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
_LOCK = threading.RLock()


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A bundled rank file: where tiktoken would download it, and the sha256 that it demands."""

    name: str
    url: str
    sha256: str

    @property
    def cache_name(self) -> str:
        """The file name under which tiktoken looks for this vocabulary in its cache folder."""
        return hashlib.sha1(self.url.encode(), usedforsecurity=False).hexdigest()

    def unpack(self) -> bytes:
        """Return the rank file. Raises ConfigError if the installed file is damaged."""
        path = _BUNDLED / f"{self.name}.tiktoken.gz"
        try:
            data = gzip.decompress(path.read_bytes())
        except (OSError, EOFError, zlib.error) as error:
            raise self._damaged(str(error)) from error
        if not self.matches(data):
            raise self._damaged("its sha256 is not the expected one")
        return data

    def matches(self, data: bytes) -> bool:
        """Tell whether these bytes are this vocabulary."""
        return hashlib.sha256(data).hexdigest() == self.sha256

    def _damaged(self, reason: str) -> ConfigError:
        problem = f"the bundled vocabulary {self.name} cannot be read ({reason})."
        return ConfigError("counter.encoding", problem, "Install Prompt Inspector again.")


_SOURCE = "https://openaipublic.blob.core.windows.net/encodings/"
_CL100K = Vocabulary(
    "cl100k_base",
    _SOURCE + "cl100k_base.tiktoken",
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
)
_O200K = Vocabulary(
    "o200k_base",
    _SOURCE + "o200k_base.tiktoken",
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
)
VOCABULARIES = (_CL100K, _O200K)
ENCODINGS = {"cl100k_base": _CL100K, "o200k_base": _O200K, "o200k_harmony": _O200K}
"""The encodings that load offline, each with the vocabulary it is built from."""


def require_encoding(name: str) -> str:
    """Return the name of a bundled encoding, without loading it. Raises ConfigError for any other name."""
    if name not in ENCODINGS:
        known = ", ".join(ENCODINGS)
        raise ConfigError("counter.encoding", f"there is no bundled encoding {name!r}.", f"Use one of {known}.")
    return name


@cache
def encoding(name: str) -> tiktoken.Encoding:
    """Return a tiktoken encoding, from the bundled vocabulary. Raises ConfigError if there is none of this name."""
    vocabulary = ENCODINGS[require_encoding(name)]
    with _LOCK, _folder_with(vocabulary) as folder, _tiktoken_cache(folder):
        return tiktoken.get_encoding(name)


@contextlib.contextmanager
def _folder_with(vocabulary: Vocabulary) -> Iterator[Path]:
    """Give a folder that holds the verified vocabulary: the user's cache, or one that lasts as long as the load."""
    try:
        folder = _user_cache()
        _place(vocabulary, folder)
    except (OSError, RuntimeError):  # read-only, full, or no home folder
        with tempfile.TemporaryDirectory(prefix="prompt-inspector-") as temporary:
            _place(vocabulary, Path(temporary))
            yield Path(temporary)
    else:
        yield folder


def _user_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG rules say that a relative path is to be ignored.
    root = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    return root / "prompt-inspector"


def _place(vocabulary: Vocabulary, folder: Path) -> None:
    path = folder / vocabulary.cache_name
    if path.is_file() and vocabulary.matches(path.read_bytes()):
        return
    data = vocabulary.unpack()
    folder.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f"{vocabulary.name}.", suffix=".part", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _tiktoken_cache(folder: Path) -> Iterator[None]:
    before = os.environ.get(_CACHE_VARIABLE)
    os.environ[_CACHE_VARIABLE] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_CACHE_VARIABLE]
        else:
            os.environ[_CACHE_VARIABLE] = before
