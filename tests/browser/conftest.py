"""One app and one browser for all browser tests. Under CI a missing browser fails, elsewhere it is a reason to skip."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from storage.database import open_engine
from storage.library import Library
from storage.samples import load_samples
from tests.browser.driver import FLAGS, Viewer, chromium_path, serve

DATABASE = "library.db"
LOG = "app.log"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in Path(item.path).parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium_path()
    if path is None:
        reason = "there is no Chromium: install it (Debian: apt-get install chromium) or name it in CHROMIUM"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    expect.set_options(timeout=20_000)  # other workers share the processor
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, headless=True, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the app keeps its database and what it writes."""
    return tmp_path_factory.mktemp("app")


@pytest.fixture(scope="session")
def address(folder: Path) -> Iterator[str]:
    with serve(folder / DATABASE, folder / LOG) as found:
        yield found


@pytest.fixture(scope="session")
def store(address: str, folder: Path) -> Iterator[Library]:
    """What the app at the address stores, with all that it has from its first start on."""
    opened = Library(open_engine(f"sqlite:///{folder / DATABASE}"))
    load_samples(opened)
    yield opened
    opened.engine.dispose()


@contextmanager
def left_as_found(store: Library) -> Iterator[None]:
    """Delete what is added meanwhile: which tests share a server, and in what order, differs from run to run."""
    names = {saved.name for saved in store.configs.list()}
    numbers = {summary.id for summary in store.list(limit=1_000)}
    yield
    for name in {saved.name for saved in store.configs.list()} - names:
        store.configs.delete(name)
    store.delete_all({summary.id for summary in store.list(limit=1_000)} - numbers)


def warnings(log: Path) -> list[str]:
    """Return what a server warned of; its greeting has no time before it."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return [line for line in lines if re.match(r"\d{4}-\d\d-\d\d ", line)]


@pytest.fixture
def view(browser: Browser, address: str, folder: Path, store: Library) -> Iterator[Callable[..., Viewer]]:
    """Open windows; afterwards nothing may have left the machine, no page may have had a fault, no server a warning."""
    opened: list[Viewer] = []
    before = len(warnings(folder / LOG))

    def open_window(path: str = "/", *, dark: bool = False, width: int = 1440) -> Viewer:
        opened.append(Viewer.open(browser, address, dark=dark, width=width))
        return opened[-1].go(path)

    with left_as_found(store):
        yield open_window
        for viewer in opened:
            viewer.page.context.close()
    assert [viewer.outside for viewer in opened] == [[]] * len(opened)
    assert [viewer.faults for viewer in opened] == [[]] * len(opened)
    assert warnings(folder / LOG)[before:] == []
