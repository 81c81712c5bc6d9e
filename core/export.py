"""The configuration that production loads: pinned to what was seen here, with where it was measured.

An export says what the comparison relied on (model, window, encoding), so that production counts with the same rules
whatever a later version would guess from a model's name. Its provenance holds hashes and figures, never text of a
transcript: the golden calls let anyone who has the transcript check that the same bytes come out again.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from . import ENGINE_VERSION
from .config import Configuration
from .errors import MissingError
from .identity import transcript_sha256
from .models import profile
from .replay import Replay
from .tokens import Exactness
from .transcript import Transcript
from .wire import body_sha256

__all__ = ["as_json", "exported", "golden_calls", "is_as_measured", "model_name", "pinned"]


def model_name(transcript: Transcript) -> str | None:
    """Return the one model that a transcript's requests name, else the one that answered; None if there are more."""
    heads = {transcript.heads[call.head].get("model") for call in transcript.calls}
    asked = heads or {head.get("model") for head in transcript.heads}
    names = transcript.models if asked <= {None} else tuple(asked)
    return names[0] if len(names) == 1 and isinstance(names[0], str) else None


def pinned(config: Configuration, transcript: Transcript) -> Configuration:
    """Return the configuration with the model, its limits, its counter and the dialect that it leaves open.

    What is not known stays null: a window without documentation, the encoding of an unknown model. A model counted
    without its own tokenizer is pinned as well: production may have it, and would count otherwise.
    """
    name = config.model.name or model_name(transcript)
    known = profile(name)
    model = config.model.model_copy(
        update={
            "name": name,
            "window": config.model.window or known.window,
            "max_output": known.max_output if config.model.max_output is None else config.model.max_output,
            "dialect": config.model.dialect or transcript.dialect,
        }
    )
    counter = config.counter
    certain = known.exactness is Exactness.EXACT or known.scale != 1.0 or known.extra is not None
    if certain and counter == type(counter)():
        counter = type(counter)(kind="tiktoken", encoding=known.encoding, scale=known.scale)
    return config.model_copy(update={"model": model, "counter": counter})


def exported(replays: Sequence[Replay], at: datetime) -> dict[str, Any]:
    """Return the configuration of replays as the JSON value that production loads, with its provenance.

    All replays are of one configuration, one a transcript; `at` is the time of the export. A transcript is named as it
    is stored, also where the configuration is for another dialect: whoever verifies has that one, and converts it.
    MissingError without a replay.
    """
    if not replays:
        raise MissingError("There is no replay to export: give the configuration's replay of at least one transcript.")
    config = replays[0].config
    names = [transcript_sha256(replay.original) for replay in replays]
    provenance = {
        "exported_at": at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "inspector": ENGINE_VERSION,
        "settings_sha256": _settings_sha256(config),
        "transcripts": [
            {"sha256": name, "calls": len(replay.transcript.calls)} for name, replay in zip(names, replays, strict=True)
        ],
        "measured": _measured(replays),
        "golden": [
            {"transcript": name, "call": call, "prompt_sha256": body_sha256(replay.request(call))}
            for name, replay in zip(names, replays, strict=True)
            for call in golden_calls(replay)
        ],
    }
    return as_json(config.model_copy(update={"provenance": provenance}))


def is_as_measured(config: Configuration) -> bool | None:
    """Return whether a configuration has the settings that its provenance measured; None where nothing says which.

    Another version may know other settings, so what it exported cannot be told.
    """
    provenance = config.provenance or {}
    if provenance.get("inspector") != ENGINE_VERSION or "settings_sha256" not in provenance:
        return None
    return bool(provenance["settings_sha256"] == _settings_sha256(config))


def _settings_sha256(config: Configuration) -> str:
    return body_sha256(as_json(config.model_copy(update={"provenance": None, "name": ""})))


def golden_calls(replay: Replay) -> list[int]:
    """Return the calls whose prompts prove most: the first, the last, the largest, and the most changed ones."""
    sent, before = replay.calls["in_window"], replay.calls["before"]
    calls = range(len(sent))
    if not calls:
        return []
    changed = [call for call in calls if replay.plan(call).changed]
    most_cut = sorted(changed, key=lambda call: (sent[call] - before[call], call))
    return sorted({0, calls[-1], max(calls, key=sent.__getitem__), *changed[:1], *most_cut[:1]})


def _measured(replays: Sequence[Replay]) -> dict[str, int | float]:
    """Return the figures of all replays together; loss and cost only where they are known for every one.

    Sizes are of what is recorded, which is what the configuration's own limit is about.
    """
    sent = [tokens for replay in replays for tokens in replay.calls["in_window"]]
    over = sum(excess > 0 for replay in replays for excess in replay.calls["excess"])
    made: dict[str, int | float] = {
        "peak_tokens": max(sent, default=0),
        "sum_tokens": sum(sent),
        "calls_over_budget": over,
    }
    shares = [replay.loss.references for replay in replays]
    if all(share.value is not None for share in shares):
        made["loss"] = round(sum(share.lost for share in shares) / sum(share.used for share in shares), 4)
    costs = [replay.cost.total for replay in replays]
    if costs and None not in costs:
        made["cost_usd"] = round(sum(cost for cost in costs if cost is not None), 6)
    return made


def as_json(config: Configuration) -> dict[str, Any]:
    """Return a configuration as a JSON value, without the nulls that say no more than a missing key."""
    written: dict[str, Any] = _plain(config)
    return written


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        said = {
            name: _plain(getattr(value, name))
            for name, field in fields.items()
            # A null is dropped only where it is the default: `trigger: null` means never.
            if getattr(value, name) is not None or field.default is not None
        }
        return {**({"kind": said["kind"]} if "kind" in said else {}), **said}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, str) else value
