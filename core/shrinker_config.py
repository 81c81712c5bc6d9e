"""The configuration of each shrinker: its parameters with bounds, defaults and a line of description."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from .settings import Refused, Settings
from .shrinkers import ChunkPinned, DedupeInstructions, ProjectToolResults

Most = Annotated[int, Field(gt=0, strict=True)]


class ProjectToolResultsConfig(Settings):
    """Keep of a large tool result what the next step uses: named fields, or its two ends."""

    kind: Literal["project_tool_results"]
    max_tokens: Annotated[Most, Field(description="tokens that a result may have at most")] = 800
    fields: Annotated[tuple[str, ...], Field(description="keys of JSON records to keep; none keeps all")] = ()
    tools: Annotated[tuple[str, ...], Field(description="globs of the tools concerned")] = ("*",)

    @field_validator("tools")
    @classmethod
    def _concerns_a_tool(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value:
            raise Refused("no tool is concerned, so nothing would be projected.", 'Use ["*"] for all tools.')
        return value

    def shrinker(self) -> ProjectToolResults:
        """Return the shrinker."""
        return ProjectToolResults(self.max_tokens, self.fields, self.tools)


class DedupeInstructionsConfig(Settings):
    """Say each rule once; show examples only once a hard case was named."""

    kind: Literal["dedupe_instructions"]
    hard_case_keywords: Annotated[
        tuple[str, ...], Field(description="words of users that bring the examples back; without any, examples stay")
    ] = ()

    def shrinker(self) -> DedupeInstructions:
        """Return the shrinker."""
        return DedupeInstructions(self.hard_case_keywords)


class ChunkPinnedConfig(Settings):
    """Number the parts of large pinned texts and name the fields to carry on; nothing is dropped."""

    kind: Literal["chunk_pinned"]
    max_tokens: Annotated[Most, Field(description="tokens of a part at most")] = 2000
    fields: Annotated[tuple[str, ...], Field(description="fields to carry from part to part")] = ()

    def shrinker(self) -> ChunkPinned:
        """Return the shrinker."""
        return ChunkPinned(self.max_tokens, self.fields)


ShrinkerConfig = Annotated[
    ProjectToolResultsConfig | DedupeInstructionsConfig | ChunkPinnedConfig, Field(discriminator="kind")
]


def shrinker_models() -> dict[str, type[Settings]]:
    """Return the configuration model of each shrinker kind."""
    models = (ProjectToolResultsConfig, DedupeInstructionsConfig, ChunkPinnedConfig)
    return {model.model_fields["kind"].annotation.__args__[0]: model for model in models}  # type: ignore[union-attr]
