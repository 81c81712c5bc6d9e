"""The configuration of each strategy: its parameters with bounds, defaults and a line of description.

They become form fields in the interface, so a description says what a person wants to know and units are named.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, StrictBool, field_validator, model_validator

from .boundaries import Keep
from .settings import Refused, Settings, check_fields, nearest
from .strategies import (
    AsCaptured,
    FullHistory,
    KeepLast,
    MaskToolResults,
    RequiredReserve,
    SpanTriage,
    SummarizeAndKeep,
    TieredInjection,
    ToolGroup,
)
from .strategies.mask_tool_results import PLACEHOLDER
from .strategies.masking import FIELDS
from .strategies.required_reserve import LABELS
from .strategies.span_triage import STUB

MOST = 2**53 - 1
"""The largest whole number that every reader of JSON takes exactly; no count of tokens or messages comes near it."""
Count = Annotated[int, Field(ge=0, le=MOST, strict=True)]
Share = Annotated[float, Field(strict=True, allow_inf_nan=False)]
KEEP_UNITS = ("turns", "steps", "messages", "tokens")


class _Baseline(Settings):
    exact_recall: StrictBool = False


class _Keeping(Settings):
    keep_turns: Annotated[Count, Field(description="newest turns kept verbatim")] | None = None
    keep_steps: Annotated[Count, Field(description="newest steps kept verbatim")] | None = None
    keep_messages: (
        Annotated[Count, Field(description="newest messages kept verbatim, widened to whole units")] | None
    ) = None
    keep_tokens: Annotated[Count, Field(description="newest tokens kept verbatim, in whole units")] | None = None
    step: Annotated[Count, Field(description="tokens by which the cut moves; 0 cuts as near as possible")] = 0
    min_turns: Annotated[Count, Field(description="a task with no more turns is left alone")] = 0
    min_steps: Annotated[Count, Field(description="and with no more steps")] = 0
    exact_recall: Annotated[StrictBool, Field(description="leave everything untouched and report")] = False

    @model_validator(mode="after")
    def _one_keep(self) -> _Keeping:
        given = [name for name in KEEP_UNITS if getattr(self, f"keep_{name}") is not None]
        if len(given) > 1:
            names = " and ".join(f"keep_{name}" for name in given)
            raise ValueError(
                f"{names} are both given; give exactly one of keep_turns, keep_steps, keep_messages, keep_tokens."
            )
        return self

    def keep(self, unit: str, number: int) -> Keep:
        """Return how much is kept: what is given, else the default."""
        for name in KEEP_UNITS:
            given = getattr(self, f"keep_{name}")
            if given is not None:
                return Keep(name, given)
        return Keep(unit, number)


class FullHistoryConfig(_Baseline):
    """Everything that happened."""

    kind: Literal["full_history"]

    def strategy(self) -> FullHistory:
        """Return the strategy."""
        return FullHistory()


class AsCapturedConfig(_Baseline):
    """What was really sent, as far as the recording tells."""

    kind: Literal["as_captured"]

    def strategy(self) -> AsCaptured:
        """Return the strategy."""
        return AsCaptured()


class KeepLastConfig(_Keeping):
    """The newest turns; older ones are dropped. 4 turns unless said otherwise."""

    kind: Literal["keep_last"]

    def strategy(self) -> KeepLast:
        """Return the strategy."""
        return KeepLast(self.keep("turns", 4), self.step, self.min_turns, self.min_steps)


class SummarizeAndKeepConfig(_Keeping):
    """The newest turns verbatim, older messages as extracts, then the oldest dropped. 4 turns unless said otherwise."""

    kind: Literal["summarize_and_keep"]
    mode: Annotated[Literal["right", "published"], Field(description="published: as the original program works")] = (
        "right"
    )
    summary: Annotated[
        Literal["extractive", "model"], Field(description="model: written by the summariser that production passes")
    ] = "extractive"
    min_turns: Annotated[Count, Field(description="a task with no more turns is left alone")] = 15
    min_steps: Annotated[Count, Field(description="and with no more steps")] = 15

    @model_validator(mode="after")
    def _published_keeps_messages(self) -> SummarizeAndKeepConfig:
        others = [name for name in ("turns", "steps", "tokens") if getattr(self, f"keep_{name}") is not None]
        if self.mode == "published" and others:
            raise ValueError(f"mode published counts messages; write keep_messages instead of keep_{others[0]}.")
        return self

    @model_validator(mode="after")
    def _published_has_no_more(self) -> SummarizeAndKeepConfig:
        if self.mode == "published" and (self.step or self.summary == "model"):
            unused = "step" if self.step else "summary"
            raise Refused(
                "the published program does not know this setting.", "Leave it out, or take mode right.", unused
            )
        return self

    def strategy(self) -> SummarizeAndKeep:
        """Return the strategy."""
        published = self.mode == "published"
        keep = self.keep("messages" if published else "turns", 4)
        return SummarizeAndKeep(keep, self.step, self.min_turns, self.min_steps, published, self.summary)


class GroupConfig(Settings):
    """Tools that are injected together once one of their keywords is said."""

    name: str
    keywords: tuple[str, ...] = ()
    tools: Annotated[tuple[str, ...], Field(description="globs of tool names")] = ()


class TieredInjectionConfig(_Keeping):
    """Core always, tools by keyword, retrieval up to 40%, older history as one summary. 3 messages unless said."""

    kind: Literal["tiered_injection"]
    trigger: Annotated[Share, Field(ge=0, description="share of the soft budget; 0 always, null never")] | None = 1.0
    summary_chars: Annotated[Count, Field(description="characters of the rolling summary at most")] = 800
    summary_tokens: Annotated[Count, Field(description="tokens of the rolling summary at most")] = 800
    summary: Annotated[
        Literal["extractive", "model"], Field(description="model: written by the summariser that production passes")
    ] = "extractive"
    overhead: Annotated[Count, Field(description="tokens allowed for beside what is counted")] = 0
    groups: tuple[GroupConfig, ...] = ()

    def strategy(self) -> TieredInjection:
        """Return the strategy."""
        groups = tuple(ToolGroup(group.name, group.keywords, group.tools) for group in self.groups)
        return TieredInjection(
            keep=self.keep("messages", 3),
            trigger=self.trigger,
            summary_chars=self.summary_chars,
            summary_tokens=self.summary_tokens,
            summary=self.summary,
            overhead=self.overhead,
            step=self.step,
            min_turns=self.min_turns,
            min_steps=self.min_steps,
            groups=groups,
        )


class MaskToolResultsConfig(Settings):
    """Old tool results become placeholders; calls and answers stay. The newest 5 results stay unless said otherwise."""

    kind: Literal["mask_tool_results"]
    keep: Annotated[Count, Field(description="newest tool results kept")] = 5
    trigger: Annotated[Share, Field(ge=0, description="share of the soft budget; 0 always, null never")] | None = 1.0
    min_cleared: Annotated[Count, Field(description="tokens that must be gained, else nothing is masked")] = 0
    exclude: Annotated[tuple[str, ...], Field(description="globs of tools whose results are never masked")] = ()
    placeholder: Annotated[str, Field(description="may name {id}, {lines}, {tokens} and {tool}")] = PLACEHOLDER
    step: Annotated[Count, Field(description="tokens by which the cut moves; 0 cuts as near as possible")] = 0
    min_turns: Annotated[Count, Field(description="a task with no more turns is left alone")] = 0
    min_steps: Annotated[Count, Field(description="and with no more steps")] = 0
    exact_recall: Annotated[StrictBool, Field(description="leave everything untouched and report")] = False

    @field_validator("placeholder")
    @classmethod
    def _fields_are_known(cls, value: str) -> str:
        return check_fields(value, FIELDS)

    def strategy(self) -> MaskToolResults:
        """Return the strategy."""
        names = (field.name for field in fields(MaskToolResults))
        return MaskToolResults(**{name: getattr(self, name) for name in names})


class SpanTriageConfig(Settings):
    """The least important goes first and leaves a stub in its place; rules give priorities and classes."""

    kind: Literal["span_triage"]
    stub: Annotated[str, Field(description="may name {id}, {messages}, {tokens}, {name} and {class}")] = STUB
    merge_stubs: Annotated[StrictBool, Field(description="neighbouring stubs are one")] = True
    min_turns: Annotated[Count, Field(description="a task with no more turns is left alone")] = 0
    min_steps: Annotated[Count, Field(description="and with no more steps")] = 0
    exact_recall: Annotated[StrictBool, Field(description="leave everything untouched and report")] = False

    @field_validator("stub")
    @classmethod
    def _fields_are_known(cls, value: str) -> str:
        return check_fields(value, ("id", "messages", "tokens", "name", "class"))

    def strategy(self) -> SpanTriage:
        """Return the strategy."""
        return SpanTriage(self.stub, self.merge_stubs, self.min_turns, self.min_steps)


class CapsConfig(Settings):
    """The most that each section may have; null is no limit. In the strategy's unit."""

    goal: Count | None = None
    memory_state: Count | None = 40
    confirmed_facts: Count | None = 60
    resource_bindings: Count | None = 30
    used_tools: Count | None = 30


class RequiredReserveConfig(Settings):
    """One context message with goal, memory, facts, resources and tools; what is required is reserved first."""

    kind: Literal["required_reserve"]
    total: Annotated[Count, Field(description="what all sections share, in the unit")] = 240
    unit: Annotated[Literal["tokens", "chars"], Field(description="unit of total, caps and floors")] = "tokens"
    caps: CapsConfig = CapsConfig()
    required_floor: Annotated[Count, Field(description="what a required section gets at least")] = 6
    optional_floor: Annotated[Count, Field(description="an optional section below this is left out")] = 10
    labels: Annotated[
        Literal["english", "chinese"] | dict[str, str], Field(description="a preset, or labels by section")
    ] = "english"
    min_turns: Annotated[Count, Field(description="a task with no more turns is left alone")] = 0
    min_steps: Annotated[Count, Field(description="and with no more steps")] = 0
    exact_recall: Annotated[StrictBool, Field(description="leave everything untouched and report")] = False

    @field_validator("labels", mode="before")
    @classmethod
    def _labels_are_known(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            if isinstance(value, str) and value in LABELS:
                return value
            raise Refused(f"there is no preset {value!r}.", f"Use one of {', '.join(LABELS)}, or labels by section.")
        sections = LABELS["english"]
        for key, label in value.items():
            if key not in sections:
                raise Refused("there is no such section.", nearest(str(key), sections), str(key))
            if not isinstance(label, str):
                raise Refused("a label is a text.", f"The default is {sections[key]!r}.", key)
        return value

    def strategy(self) -> RequiredReserve:
        """Return the strategy."""
        labels = LABELS[self.labels] if isinstance(self.labels, str) else {**LABELS["english"], **self.labels}
        return RequiredReserve(
            total=self.total,
            unit=self.unit,
            caps=self.caps.model_dump(),
            required_floor=self.required_floor,
            optional_floor=self.optional_floor,
            labels=labels,
            min_turns=self.min_turns,
            min_steps=self.min_steps,
        )


StrategyConfig = Annotated[
    FullHistoryConfig
    | AsCapturedConfig
    | KeepLastConfig
    | SummarizeAndKeepConfig
    | TieredInjectionConfig
    | MaskToolResultsConfig
    | SpanTriageConfig
    | RequiredReserveConfig,
    Field(discriminator="kind"),
]


def strategy_models() -> dict[str, type[Settings]]:
    """Return the configuration model of each strategy kind."""
    models = get_args(get_args(StrategyConfig)[0])
    return {get_args(model.model_fields["kind"].annotation)[0]: model for model in models}


def strategy_kinds() -> tuple[str, ...]:
    """Return the kinds of strategies that can be configured."""
    return tuple(strategy_models())
