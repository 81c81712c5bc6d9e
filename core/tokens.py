"""How many tokens a text has: exactly where its encoding is bundled, otherwise by a named estimate.

tiktoken is the judge; faster tokenizers follow newer Unicode tables and differ on rare characters. What makes counting
fast is a memo: a prompt that is sent again costs look-ups. A counter says how far its figures may be trusted, and
never raises for a text, whatever is in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import accumulate, chain, pairwise
from typing import Protocol

import tiktoken

from .cuts import cut_points, is_cut
from .deepseek_vocabulary import DEEPSEEK, has_deepseek
from .encodings import encoding, require_encoding
from .errors import ConfigError
from .exact_count import count_exactly
from .wire import digest

__all__ = [
    "Chars4",
    "CjkEstimate",
    "Counter",
    "Exactness",
    "TiktokenCounter",
    "counter_for_model",
    "counter_from",
    "cut_points",
    "encoding",
    "is_deepseek",
]

_DIGEST_FROM = 256
_MEMO_ENTRIES = 1_000_000
_LARGEST_SCALE = 100
_DEFAULT_ENCODING = "o200k_base"
HARMONY = "o200k_harmony"
"""The encoding of the models that render calls in the harmony form. Its text is that of o200k_base."""
_MEMOS: dict[str, dict[str | bytes, int]] = {}
"""Counts by counter key, then by text or, for a long one, its digest. One for the whole process."""
_CJK = re.compile("[\u4e00-\u9fa5]+")


class Exactness(StrEnum):
    """How far a number of tokens can be trusted."""

    EXACT = "exact"  # text by its own encoding
    FORMULA = "formula"  # frames, tools, images
    CALIBRATED = "calibrated"  # a reported call plus counted growth
    ESTIMATE = "estimate"
    REPORTED = "reported"  # by the provider


class Counter(Protocol):
    """Counts the tokens of texts. Counters with the same `key` give the same figures."""

    @property
    def key(self) -> str:
        """What is counted and how, for instance `tiktoken:o200k_base:1.0`: a key for memos and databases."""

    @property
    def exactness(self) -> Exactness:
        """How far the counts of texts can be trusted."""

    @property
    def frames(self) -> bool:
        """Whether a dialect's frame formulas apply beside the counts of texts."""

    @property
    def message_overhead(self) -> int:
        """Tokens that a message costs beside its texts where `frames` is false."""

    def count(self, text: str) -> int:
        """Return the tokens of a text. Never raises, whatever the text holds."""

    def pieces(self, texts: Sequence[str]) -> list[int]:
        """Return tokens for consecutive pieces of one text; the sum is exactly `count("".join(texts))`.

        No figure is negative. Without any piece the answer is empty.
        """

    def remember(self, counts: Mapping[str, int]) -> None:
        """Take counts made earlier by a counter with the same key, by text."""


class TiktokenCounter:
    """Counts with a tiktoken encoding: exactly, or times a factor for a model whose tokenizer is not public."""

    frames = True
    message_overhead = 0

    def __init__(self, encoding_name: str, scale: float = 1.0, *, assumed: bool = False) -> None:
        """Use an encoding by name; `assumed` marks one that is only a guess for the model. Raises ConfigError."""
        if not 0 < scale <= _LARGEST_SCALE:
            allowed = f"Use a number above 0 and at most {_LARGEST_SCALE}, usually 1.0."
            raise ConfigError("counter.scale", f"{scale} is not a usable factor.", allowed)
        self.encoding_name = require_encoding(encoding_name)
        self.scale = float(scale)
        self.key = f"tiktoken:{encoding_name}:{self.scale}"
        self.exactness = Exactness.ESTIMATE if assumed or self.scale != 1.0 else Exactness.EXACT
        self._memo = _MEMOS.setdefault(self.key, {})
        self._exact = self if self.scale == 1.0 else TiktokenCounter(encoding_name)

    def count(self, text: str) -> int:
        """Return the tokens of a text. Never raises, whatever the text holds."""
        key = text if len(text) <= _DIGEST_FROM else digest(text)
        known = self._memo.get(key)
        if known is None:
            known = self._measure(text)
            self._make_room(1)
            self._memo[key] = known
        return known

    def pieces(self, texts: Sequence[str]) -> list[int]:
        """Return tokens for consecutive pieces of one text; the sum is exactly the count of the whole."""
        if self._exact is not self:
            sums = accumulate(self._exact.pieces(texts))
            return _differences(self._scaled(tokens) for tokens in sums)
        return [tokens for group in _between_cuts(texts) for tokens in self._shares(group)]

    def remember(self, counts: Mapping[str, int]) -> None:
        """Take counts made earlier by a counter with the same key, by text."""
        self._make_room(len(counts))
        for text, tokens in counts.items():
            self._memo[text if len(text) <= _DIGEST_FROM else digest(text)] = tokens

    def _measure(self, text: str) -> int:
        if self._exact is not self:
            return self._scaled(self._exact.count(text))
        # Their ranks and patterns are the same, and one encoding takes 80 megabytes.
        name = _DEFAULT_ENCODING if self.encoding_name == HARMONY else self.encoding_name
        return count_exactly(encoding(name), text)

    def _make_room(self, entries: int) -> None:
        # What is still needed is soon counted again; keeping an order of use would slow every look-up.
        if len(self._memo) + entries > _MEMO_ENTRIES:
            self._memo.clear()

    def _scaled(self, tokens: int) -> int:
        return int(self.scale * tokens + 0.5)

    def _shares(self, texts: Sequence[str]) -> list[int]:
        """Share out the tokens of texts that may join into other tokens, by what each would have alone."""
        alone = [self.count(text) for text in texts]
        apart = sum(alone)
        together = self.count("".join(texts)) if len(texts) > 1 else apart
        if together == apart:
            return alone
        return _differences((2 * tokens * together + apart) // (2 * apart) for tokens in accumulate(alone))


class CjkEstimate:
    """Rule B-P1: 0.6 tokens a CJK character and a quarter for any other UTF-16 unit, rounded up; 4 a message."""

    key = "cjk_estimate"
    exactness = Exactness.ESTIMATE
    frames = False
    message_overhead = 4

    def count(self, text: str) -> int:
        """Return the estimate in tokens (rule B-P1)."""
        return -(-_cjk_weight(text) // 20)

    def pieces(self, texts: Sequence[str]) -> list[int]:
        """Return the estimate of consecutive pieces, rounded over all before; the sum is that of the whole."""
        return _differences(-(-weight // 20) for weight in accumulate(map(_cjk_weight, texts)))

    def remember(self, counts: Mapping[str, int]) -> None:
        """Do nothing: the estimate is made faster than it is looked up."""


class Chars4:
    """Rule S-P2: a token for every four characters, at least one, also for an empty text."""

    key = "chars4"
    exactness = Exactness.ESTIMATE
    frames = False
    message_overhead = 0

    def count(self, text: str) -> int:
        """Return a quarter of the characters as tokens, at least 1 (rule S-P2)."""
        return max(1, len(text) // 4)

    def pieces(self, texts: Sequence[str]) -> list[int]:
        """Return tokens for consecutive pieces, rounded over all before; the least token goes to the first text."""
        lengths = list(accumulate(map(len, texts)))
        if not lengths or not lengths[-1]:
            return [1, *[0] * (len(lengths) - 1)] if lengths else []
        return _differences(max(1, length // 4) if length else 0 for length in lengths)

    def remember(self, counts: Mapping[str, int]) -> None:
        """Do nothing: the estimate is made faster than it is looked up."""


def counter_from(kind: str, encoding_name: str = _DEFAULT_ENCODING, scale: float = 1.0) -> Counter:
    """Return the counter of a configuration: kind tiktoken, cjk_estimate or chars4. Raises ConfigError."""
    if kind == "tiktoken":
        return TiktokenCounter(encoding_name, scale)
    if kind == "cjk_estimate":
        return CjkEstimate()
    if kind == "chars4":
        return Chars4()
    raise ConfigError("counter.kind", f"there is no counter {kind!r}.", "Use tiktoken, cjk_estimate or chars4.")


_OTHER_SCALES = {"gemini": 1.08}  # ai-tokenizer's calibration: 98 to 99.9 % right
_CLAUDE_SCALE = 1.2  # Claude 3 to 4.6: measured 1.155 for English, 1.23 for code
_NEW_CLAUDE_SCALE = 1.5  # Claude 4.7 and later: measured 1.48 to 1.53
_DEEPSEEK_MODEL = re.compile(
    r"(?:^|[.-])deepseek[-._](?:chat|reasoner|r1|v[34](?:p\d)?)(?![a-z])(?!.*(?:distill|qwen|llama))"
)
"""Names of models with the vocabulary of DeepSeek V3 and later. What was distilled from them has another one."""
_CLAUDE_VERSION = re.compile(r"(?<!\d)(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")


def counter_for_model(model: object) -> TiktokenCounter:
    """Return the counter for a model's texts; an estimate where its tokenizer is not public or the name unknown."""
    short = _short_name(model)
    if is_deepseek(model) and has_deepseek():
        return TiktokenCounter(DEEPSEEK)
    try:
        return TiktokenCounter(HARMONY if short.startswith("gpt-5") else tiktoken.encoding_name_for_model(short))
    except (KeyError, ConfigError):  # not an OpenAI name, or one so old that its encoding is not bundled
        scale = _claude_scale(short) if "claude" in short else _scale_of_family(short)
        return TiktokenCounter(_DEFAULT_ENCODING, scale, assumed=True)


def is_deepseek(model: object) -> bool:
    """Return whether a model is one whose texts DeepSeek's own vocabulary counts exactly, installed or not."""
    return _DEEPSEEK_MODEL.search(_short_name(model)) is not None


def _short_name(model: object) -> str:
    # openai/gpt-4o, ft:gpt-4o:team::id and gpt-4o are one model.
    named = model if isinstance(model, str) else ""  # a recording may hold anything in its place
    return named.lower().rpartition("/")[2].removeprefix("ft:").partition(":")[0]


def _claude_scale(name: str) -> float:
    """Return the factor for a Claude model. A name without a version gets the larger one, the safer guess."""
    version = _CLAUDE_VERSION.search(name[name.index("claude") :])
    if version is None:
        return _NEW_CLAUDE_SCALE
    older = (int(version[1]), int(version[2] or 0)) < (4, 7)
    return _CLAUDE_SCALE if older else _NEW_CLAUDE_SCALE


def _scale_of_family(name: str) -> float:
    return next((scale for family, scale in _OTHER_SCALES.items() if family in name), 1.0)


def _cjk_weight(text: str) -> int:
    """Return twenty times the estimate before rounding: 12 a CJK character, 5 any other UTF-16 unit."""
    if text.isascii():
        return 5 * len(text)
    cjk = len(text) - len(_CJK.sub("", text))
    units = len(text.encode("utf-16-le", "surrogatepass")) // 2
    return 12 * cjk + 5 * (units - cjk)


def _between_cuts(texts: Iterable[str]) -> Iterator[list[str]]:
    """Yield the texts in groups that end at exact cut points; an empty text stays with the one before it."""
    group: list[str] = []
    before = ""
    for text in texts:
        if before and text and is_cut(before, text):
            yield group
            group = []
        group.append(text)
        before = text or before
    if group:
        yield group


def _differences(sums: Iterable[int]) -> list[int]:
    return [after - before for before, after in pairwise(chain((0,), sums))]
