"""What the tests of the pages share: the app in a test harness, on a copy of a database that holds the samples."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.readers import read
from core.transcript import Transcript
from storage import Library, library

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "sample_data"
TRIAGE = SAMPLES / "support_triage.jsonl"

Open = Callable[..., AppTest]


@pytest.fixture(scope="session")
def sample_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with the samples, made once."""
    path = tmp_path_factory.mktemp("samples") / "samples.db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROMPT_INSPECTOR_DB", f"sqlite:///{path}")
        library().engine.dispose()
    return path


@pytest.fixture
def store(sample_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Library:
    """The library of one test: a copy of the database with the samples."""
    path = tmp_path / "library.db"
    for part in sample_database.parent.glob("samples.db*"):
        shutil.copyfile(part, path.with_name(part.name.replace("samples", "library")))
    monkeypatch.setenv("PROMPT_INSPECTOR_DB", f"sqlite:///{path}")
    return library()


@pytest.fixture
def page(store: Library) -> Open:
    """Open a page with parameters in its address."""

    def open_page(name: str, **address: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "pages" / "navigation.py"), default_timeout=60)
        if name != "library.py":
            app.run()  # pages are known after the first run
            app.switch_page(name)
        for key, value in address.items():
            app.query_params[key] = value
        return run(app)

    return open_page


def run(app: AppTest) -> AppTest:
    """Run a page; what it raises is a failure of the test."""
    app.run()
    assert [(raised.message, raised.stack_trace) for raised in app.exception] == []
    return app


def sample(path: Path = TRIAGE) -> Transcript:
    """Return the transcript of a sample."""
    return read(path).transcripts[0]


def id_of(store: Library, source: str = TRIAGE.name) -> str:
    """Return the id of a transcript by its source, as it stands in an address."""
    return str(next(summary.id for summary in store.list(limit=1000) if summary.source == source))


def shown(app: AppTest) -> str:
    """Return all texts of a page, without the escapes of Markdown."""
    kinds = (app.markdown, app.caption, app.error, app.warning, app.success, app.info, app.title)
    return "\n".join(str(element.value) for kind in kinds for element in kind).replace("\\", "")


def errors_in_popover(app: AppTest, label: str) -> list[str]:
    """Return the errors that stand in the popovers of a button, without the escapes of Markdown.

    A popover stays open over the page after a click in it, so an error below it is not seen.
    """
    found = [block for block in app.get("popover") if block.proto.popover.label == label]
    return [error.value.replace("\\", "") for block in found for error in block.get("error")]


def metrics(app: AppTest) -> dict[str, str]:
    """Return the values of the cards by their labels."""
    return {card.label: card.value for card in app.metric}
