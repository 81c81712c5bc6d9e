"""What is known about a model by its name: its window, its output limit, and how its texts are counted.

Windows come from genai-prices, whose data are part of the package, so that nothing is fetched. It has no output
limits: those that the providers document are kept in `model_limits.json` with their date, beside a few windows that
the documentation gives more exactly and the shortest prompts that are cached. What is not documented is None; nothing
is inferred from a similar name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from .deepseek_vocabulary import EXTRA
from .tokens import Exactness, counter_for_model, is_deepseek

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

__all__ = ["ModelProfile", "cache_minimum", "limits_date", "priced_references", "profile"]

_LIMITS_FILE = Path(__file__).with_name("model_limits.json")
_RELEASE = re.compile(r"([-@](\d{4}-\d{2}-\d{2}|\d{8}))?(-v\d+)?(:\d+)?(-latest)?$")


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """A model's limits in tokens, None where unknown, and the encoding that its texts are counted with.

    `extra` is the one that has the model's own tokenizer, where it is not installed.
    """

    name: str
    provider: str | None
    window: int | None
    max_output: int | None
    encoding: str
    scale: float
    exactness: Exactness
    extra: str | None = None


@lru_cache(maxsize=1024)
def profile(name: str | None) -> ModelProfile:
    """Return what is known about a model, by the name that a request or a response gives it."""
    counter = counter_for_model(name)
    priced = _priced(name) if name else None
    documented = _documented(name or "")
    return ModelProfile(
        name=name or "",
        provider=priced.provider.id if priced else None,
        window=documented.get("window") or (priced.model.context_window if priced else None),
        max_output=documented.get("max_output"),
        encoding=counter.encoding_name,
        scale=counter.scale,
        exactness=counter.exactness,
        extra=EXTRA if is_deepseek(name) and counter.exactness is not Exactness.EXACT else None,
    )


def cache_minimum(name: str) -> int | None:
    """Return the tokens that a prompt must have to be cached, where that is documented for the model itself."""
    return _documented(name).get("cache_minimum")


def limits_date() -> date:
    """Return the day on which the output limits were last compared with the providers' documentation."""
    as_of, _ = _limits()
    return as_of


@cache
def _limits() -> tuple[date, Mapping[str, Mapping[str, int]]]:
    content = json.loads(_LIMITS_FILE.read_text(encoding="utf-8"))
    return date.fromisoformat(content["as_of"]), content["models"]


def _documented(name: str) -> Mapping[str, int]:
    """Return the documented limits of a model; a dated release that is not listed has those of its model."""
    _, models = _limits()
    exact = _without_route(name)
    return models.get(exact) or models.get(_RELEASE.sub("", exact)) or {}


def _without_route(name: str) -> str:
    """Return a model's own name: without provider, region or fine-tuning, and Claude versions with hyphens."""
    short = name.lower().rpartition("/")[2]
    if short.startswith("ft:"):
        return short.split(":")[1]
    claude = short.find("claude")
    return short if claude < 0 else short[claude:].replace(".", "-")


def _priced(name: str) -> PriceCalculation | None:
    """Return the entry of genai-prices for a name, or None. Imported late: it takes longer than all of this package."""
    from genai_prices import Usage, calc_price

    for reference, provider in priced_references(name.lower()):
        try:
            return calc_price(Usage(), reference, provider_id=provider)
        except LookupError:
            continue
    return None


def priced_references(name: str) -> Iterator[tuple[str, str | None]]:
    """Yield the spellings under which a model may be listed, each with its provider if the name tells it."""
    if not name.startswith("ft:"):
        yield name, None
    head, slash, rest = name.partition("/")
    if slash:
        yield rest, head
    short = name.rpartition("/")[2]
    if ".anthropic." in f".{short}":
        yield short, "aws"
    yield _without_route(name), None
