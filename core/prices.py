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
from typing import TYPE_CHECKING, NamedTuple

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


class Tokens(NamedTuple):
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
    rates = rates_of(model, at)
    return None if rates is None else rates.usd(tokens)


class Rates:
    """The prices of a model at a time. Those without tiers, which most are, are looked up once."""

    def __init__(self, listed: ModelPrice) -> None:
        writes = listed.cache_write_mtok, listed.cache_write_1h_mtok
        self._listed = (listed.input_mtok, listed.output_mtok, listed.cache_read_mtok, *writes)
        flat = all(price is None or isinstance(price, Decimal) for price in self._listed)
        self._flat = self._for(0) if flat else None

    @property
    def complete(self) -> bool:
        """Whether input and output have a price; without both, nothing can be said."""
        return self._listed[0] is not None and self._listed[1] is not None

    def usd(self, tokens: Tokens) -> float:
        """Return what so many tokens cost in US dollars."""
        plain, reply, read, write, hour = self._flat or self._for(tokens.input)
        sent, cached, written, output, for_an_hour = tokens
        usd = (sent - cached - written) * plain + output * reply + cached * read + (written - for_an_hour) * write
        return (usd + for_an_hour * hour) / 1_000_000

    def _for(self, sent: int) -> tuple[float, float, float, float, float]:
        """Return the prices of input, output, reads, writes and hour-long writes for a prompt of so many tokens."""
        plain, reply, read, write, hour = (_rate(price, sent) for price in self._listed)
        plain, reply = plain or 0.0, reply or 0.0
        # Where the table has no price for a read or a write, the provider charges it as input.
        dear = plain if write is None else write
        return plain, reply, plain if read is None else read, dear, _hour_rate(plain, write, hour)


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


_KNOWN: dict[int, tuple[ModelPrice, Rates]] = {}
"""By the identity of an entry, which is kept here so that no other one can take it."""


@lru_cache(maxsize=4096)
def rates_of(model: str | None, at: datetime | None) -> Rates | None:
    """Return the prices of a model at a time, None if it has none that are known.

    Calls without a time, and all strategies of a transcript, share them; so do the times of one entry, because reading
    an entry is slow.
    """
    listed = _listed(model.lower()) if model else None
    if listed is None:
        return None
    dated = listed.get_prices(at or datetime.combine(limits_date(), time(12), UTC))
    if id(dated) not in _KNOWN:
        _KNOWN[id(dated)] = (dated, Rates(dated))
    rates = _KNOWN[id(dated)][1]
    return rates if rates.complete else None


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
