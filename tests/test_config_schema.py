"""The JSON Schema of configurations is a file, so that others can check theirs; this keeps it in step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from core.config import Configuration, strategy_kinds

SCHEMA = Path(__file__).parents[1] / "core" / "configuration_schema.json"
SAMPLE = Path(__file__).parents[1] / "sample_data" / "configuration.json"


def test_the_file_is_the_schema_of_the_code() -> None:
    """Mend with `python -m core schema > core/configuration_schema.json`."""
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == Configuration.model_json_schema()


def test_the_schema_is_valid_and_takes_the_sample() -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(json.loads(SAMPLE.read_text(encoding="utf-8")))


@pytest.mark.parametrize("kind", strategy_kinds())
def test_every_setting_has_a_default_and_says_what_it_does(kind: str) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    found = [
        model for model in schema["$defs"].values() if model.get("properties", {}).get("kind", {}).get("const") == kind
    ]
    assert len(found) == 1
    settings = found[0]["properties"]
    assert found[0]["required"] == ["kind"]
    undescribed = [
        name
        for name, said in settings.items()
        if name not in ("kind", "groups", "caps", "exact_recall") and "description" not in json.dumps(said)
    ]
    assert undescribed == []
