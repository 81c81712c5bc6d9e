"""What tokens cost, from the dated prices of genai-prices. A model or price that is not listed is unknown, never 0.

Prices change, so a call is priced by its own date. One without a date is priced as of the day on which the limits of
models were last looked up, at noon: some providers are cheaper at night.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from .models import limits_date, priced_references

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice, TieredPrices

CURRENCY = "USD"
HOUR_FACTOR = 2
"""Anthropic's documented price of an hour-long write, as a multiple of the input's."""


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
    """What one call is billed for. `input` includes the tokens read from and written to the cache.

    `cache_write` includes `hour_write`, the tokens that are kept for an hour.
    """

    input: int
    cache_read: int
    cache_write: int
    output: int
    hour_write: int = 0


def cost_in_usd(model: str | None, at: datetime | None, tokens: Tokens) -> float | None:
    """Return what a call costs in US dollars at the prices of its day; None if the model has no known price."""
    dated = _dated(model.lower(), at or datetime.combine(limits_date(), time(12), UTC)) if model else None
    if dated is None:
        return None
    plain, reply, read, write, hour = (_rate(price, tokens.input) for price in _prices(dated))
    if plain is None or reply is None:
        return None
    # Where the table has no price for a read or a write, the provider charges it as input.
    usd = (tokens.input - tokens.cache_read - tokens.cache_write) * plain + tokens.output * reply
    usd += tokens.cache_read * (plain if read is None else read)
    usd += (tokens.cache_write - tokens.hour_write) * (plain if write is None else write)
    usd += tokens.hour_write * _hour_rate(plain, write, hour)
    return usd / 1_000_000


def _hour_rate(plain: float, write: float | None, hour: float | None) -> float:
    """Return the price of a write for an hour: the listed one, else twice the input's where writes cost more at all."""
    if hour is not None:
        return hour
    return plain if write is None else HOUR_FACTOR * plain


def _rate(price: Decimal | TieredPrices | None, sent: int) -> float | None:
    """Return US dollars for a million tokens; a prompt above a tier's start pays that tier's price for all of it."""
    if price is None or isinstance(price, Decimal):
        return None if price is None else float(price)
    return float(next((tier.price for tier in reversed(price.tiers) if sent > tier.start), price.base))


_KNOWN: dict[int, tuple[ModelPrice, tuple[Decimal | TieredPrices | None, ...]]] = {}
"""By the identity of an entry, which is kept here so that no other one can take it."""


def _prices(dated: ModelPrice) -> tuple[Decimal | TieredPrices | None, ...]:
    """Return the prices of input, output, cache reads, writes and hour-long writes; the table's own look-up is slow."""
    if id(dated) not in _KNOWN:
        writes = dated.cache_write_mtok, dated.cache_write_1h_mtok
        found = (dated.input_mtok, dated.output_mtok, dated.cache_read_mtok, *writes)
        _KNOWN[id(dated)] = (dated, found)
    return _KNOWN[id(dated)][1]


@lru_cache(maxsize=4096)
def _dated(model: str, at: datetime) -> ModelPrice | None:
    """Return the prices of a model at a time. Calls without a time, and all strategies of a transcript, share them."""
    listed = _listed(model)
    return None if listed is None else listed.get_prices(at)


@lru_cache(maxsize=1024)
def _listed(model: str) -> ModelInfo | None:
    """Return the entry of a model. Imported late: the table takes longer to load than all of this package."""
    from genai_prices import Usage, calc_price

    for reference, provider in priced_references(model):
        try:
            return calc_price(Usage(), reference, provider_id=provider).model
        except LookupError:
            continue
    return None
