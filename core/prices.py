"""What tokens cost, from the dated prices of genai-prices. A model or price that is not listed is unknown, never 0.

Prices change, so a call is priced by its own date. One without a date is priced as of the day on which the limits of
models were last looked up, at noon: some providers are cheaper at night.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from .models import limits_date, priced_references

if TYPE_CHECKING:
    from genai_prices.types import PriceCalculation

CURRENCY = "USD"


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Where prices come from. `undated` is the day whose prices calls without a date have."""

    source: str
    currency: str
    undated: date


def price_table() -> PriceTable:
    """Return the name and version of the table of prices, its currency, and the day used for undated calls."""
    return PriceTable(f"genai-prices {version('genai-prices')}", CURRENCY, limits_date())


@dataclass(frozen=True, slots=True)
class Tokens:
    """What one call is billed for. `input` includes the tokens read from and written to the cache."""

    input: int
    cache_read: int
    cache_write: int
    output: int


def cost_in_usd(model: str | None, at: datetime | None, tokens: Tokens) -> float | None:
    """Return what a call costs in US dollars at the prices of its day; None if the model has no known price."""
    if not model:
        return None
    day = at or datetime.combine(limits_date(), time(12), UTC)
    return _priced(model.lower(), day, tokens)


@lru_cache(maxsize=4096)
def _priced(model: str, at: datetime, tokens: Tokens) -> float | None:
    from genai_prices import Usage, calc_price

    usage = Usage(
        input_tokens=tokens.input,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write,
        output_tokens=tokens.output,
    )
    for reference, provider in priced_references(model):
        try:
            found = calc_price(usage, reference, provider_id=provider, genai_request_timestamp=at)
        except LookupError:
            continue
        return float(found.total_price) if _is_priced(found) else None
    return None


def _is_priced(found: PriceCalculation) -> bool:
    """Whether the table has a price for input and output, be it 0: some entries name a model only."""
    return found.model_price.input_mtok is not None and found.model_price.output_mtok is not None
