"""The configuration of a rule: what it looks for and what it sets, checked for what could never have an effect.

Whether a rule finds anything depends on the transcript and is told with it; refused here is what contradicts itself
or asks for what no span can be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt, field_validator, model_validator

from .rules import Eviction, Match, Rule, Tier, Treatment, pattern_fault
from .settings import Refused, Settings
from .spans import SpanKind
from .strategy_config import Count
from .wording import counted


class MatchConfig(Settings):
    """What a rule looks for; what is left out matches everything."""

    kind: SpanKind | None = None
    role: Literal["system", "user", "assistant", "tool"] | None = None
    tool: Annotated[str, Field(description="glob of a tool name")] | None = None
    section: Annotated[str, Field(description="glob of a section name")] | None = None
    pattern: Annotated[str, Field(description="regular expression")] | None = None
    min_age: Annotated[Count, Field(description="turns opened since; 0 is the newest turn")] | None = None
    max_age: Annotated[Count, Field(description="turns opened since, at most")] | None = None

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, value: str | None) -> str | None:
        fault = pattern_fault(value) if value is not None else None
        if fault is not None:
            raise ValueError(f"is not a regular expression of RE2's kind: {fault}")
        return value

    @field_validator("kind")
    @classmethod
    def _is_met(cls, value: SpanKind | None) -> SpanKind | None:
        if value is not None and value in NEVER_MET:
            raise Refused(f"no span is {value} when rules are read.", NEVER_MET[value])
        return value

    @model_validator(mode="after")
    def _has_an_age(self) -> MatchConfig:
        if self.min_age is not None and self.max_age is not None and self.min_age > self.max_age:
            raise Refused(
                f"no span is at least {self.min_age} and at most {counted(self.max_age, 'turn')} old.",
                f"Use {self.max_age} or less, or raise max_age.",
                "min_age",
            )
        return self


NEVER_MET: Mapping[SpanKind, str] = {
    SpanKind.RETRIEVAL: "Match the tool results (kind tool_result and a tool) or the user messages that hold what was"
    " retrieved, and set tier contextual: that makes them retrieval.",
    SpanKind.MEMORY: "Match where it stands: kind instructions and a section, or kind user and a pattern.",
    SpanKind.OVERHEAD: "Frames have no text and go with their messages; match the messages.",
}
"""Kinds that a span of a request has only after rules, or never, with what to match instead."""

CAPPED = (None, SpanKind.TOOL_RESULT, SpanKind.ASSISTANT, SpanKind.USER)
"""Kinds of which something may be capped; a user message where it is retrieved."""
RETRIEVED = (None, SpanKind.TOOL_RESULT, SpanKind.USER)


class RuleConfig(Settings):
    """One rule; of two that set the same thing the later one wins."""

    match: MatchConfig = MatchConfig()
    evict: Eviction | None = None
    priority: StrictInt | None = None
    required: StrictBool | None = None
    tier: Tier | None = None
    group: str | None = None
    keywords: tuple[str, ...] | None = None
    min_tokens: Annotated[Count, Field(description="a span is never made smaller than this")] | None = None
    max_tokens: Annotated[Count, Field(description="a result or an answer above this keeps its two ends")] | None = None

    @model_validator(mode="after")
    def _has_an_effect(self) -> RuleConfig:
        said = [name for name in type(self).model_fields if name != "match" and getattr(self, name) is not None]
        if not said:
            raise Refused("the rule sets nothing.", f"Give one of {', '.join(list(type(self).model_fields)[1:])}.")
        self._check_numbers()
        self._check_kind(said)
        return self

    def _check_numbers(self) -> None:
        low, high = self.min_tokens, self.max_tokens
        if low is not None and high is not None and low > high:
            raise Refused(
                f"a span cannot have at least {low} and at most {counted(high, 'token')}.",
                f"Use {high} or less, or raise max_tokens.",
                "min_tokens",
            )
        stays = "evict" if self.evict is Eviction.PINNED else "required" if self.required else None
        if stays == "evict" and self.required is False:
            raise Refused("a pinned span always stays.", "Leave it out, or set evict to recoverable.", "required")
        if stays and high is not None:
            raise Refused(
                "a span that always stays is never cut.", f"Leave it out, or leave out {stays}.", "max_tokens"
            )

    def _check_kind(self, said: list[str]) -> None:
        kind = self.match.kind
        for name in ("group", "keywords"):
            if name in said and kind not in (None, SpanKind.TOOL_DEFINITION):
                raise Refused(f"only tools have it, and the rule matches {kind}.", "Match kind tool_definition.", name)
        if self.tier in (Tier.CONTEXTUAL, Tier.KNOWLEDGE) and kind not in RETRIEVED:
            raise Refused(
                f"only tool results and user messages are retrieved, and the rule matches {kind}.",
                "Match kind tool_result or user.",
                "tier",
            )
        if self.max_tokens is not None and kind not in CAPPED:
            raise Refused(
                f"only tool results and answers are capped, and the rule matches {kind}.",
                "Match kind tool_result or assistant.",
                "max_tokens",
            )

    def rule(self) -> Rule:
        """Return the rule as the engine uses it."""
        said = {name: getattr(self, name) for name in type(self).model_fields if name != "match"}
        return Rule(Match(**self.match.model_dump()), Treatment(**said))
