"""Drives the real app in a real browser: one place for Streamlit's test ids and for what "ready" means.

The app publishes its own state on its root element; a page is ready when the script is idle, the socket is up, no
skeleton shows and two frames were painted. Straight after a click it may still report idle, because the browser has
not sent the event yet, so assert the changed content first and settle then.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route, expect

ROOT = Path(__file__).parents[2]
FLAGS = [
    "--no-sandbox",  # needed as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
HERE = ("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:")
# A deep link asks for two files below the page's own path that only exist at the root.
HARMLESS = ("/_stcore/health", "/_stcore/host-config")
ROW = 35

_IDLE = """() => {
    const app = document.querySelector('[data-testid=stApp]');
    return app?.dataset.testScriptState === 'notRunning'
        && app.dataset.testConnectionState === 'CONNECTED'
        && !document.querySelector('[data-testid=stSkeleton]');
}"""
_TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
_CHART = "[data-testid=stVegaLiteChart] :is(svg.marks, canvas.marks)"


def chromium_path() -> str | None:
    """Return the path of an installed Chromium, or None."""
    names = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if name and (path := shutil.which(name))), None)


@contextlib.contextmanager
def serve(database: Path, log: Path) -> Iterator[str]:
    """Run the app as README does, on a free loopback port with its own database; yield its address."""
    port = _free_port()
    flags = ["--server.address=127.0.0.1", f"--server.port={port}", "--server.fileWatcherType=none"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py", *flags],
            cwd=ROOT,
            env={**os.environ, "PROMPT_INSPECTOR_DB": f"sqlite:///{database}"},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait_for(address, process, log)
            yield address
        finally:
            process.terminate()
            process.wait(20)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(600):
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{address}/_stcore/health", timeout=1) as answer:
            if answer.read() == b"ok":
                return
        time.sleep(0.05)
    raise RuntimeError(f"The app did not start:\n{log.read_text(encoding='utf-8', errors='replace')}")


@dataclass
class Viewer:
    """A browser window that records every request that leaves this machine, and every fault of a page."""

    page: Page
    address: str
    outside: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @classmethod
    def open(cls, browser: Browser, address: str, *, dark: bool, width: int) -> Viewer:
        """Open an empty window."""
        context: BrowserContext = browser.new_context(
            viewport={"width": width, "height": 1000},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            accept_downloads=True,
        )
        viewer = cls(context.new_page(), address)
        viewer.page.set_default_timeout(30_000)
        viewer.page.on("pageerror", lambda error: viewer.faults.append(str(error)))
        viewer.page.on("response", viewer._note_failure)
        viewer.page.route("**/*", viewer._guard)
        return viewer

    def _guard(self, route: Route) -> None:
        if route.request.url.startswith(HERE):
            route.continue_()
        else:
            self.outside.append(route.request.url)
            route.abort()

    def _note_failure(self, response: object) -> None:
        status, url = response.status, response.url  # type: ignore[attr-defined]
        if status >= 400 and not url.endswith(HARMLESS):
            self.faults.append(f"{status} {url}")

    def go(self, path: str) -> Viewer:
        """Open a page of the app and wait until it is drawn."""
        self.page.goto(self.address + path)
        self.settle()
        return self

    def settle(self) -> None:
        """Wait until the app is idle and painted."""
        self.page.wait_for_function(_IDLE)
        self.page.evaluate(_TWO_FRAMES)
        expect(self.page.get_by_test_id("stException")).to_have_count(0)

    def title(self, text: str) -> None:
        """Wait for the page with this title."""
        expect(self.page.get_by_role("heading", level=1)).to_contain_text(text)
        self.settle()

    def chart(self) -> Locator:
        """Return the drawn chart."""
        chart = self.page.locator(_CHART)
        chart.first.wait_for(state="visible")
        self.page.evaluate(_TWO_FRAMES)
        return chart.first

    def click_bar(self, place: int, of: int) -> None:
        """Click above the bar of a place (from 1) on an axis of `of` places."""
        columns = self.chart().locator("path[aria-roledescription='rect mark'][opacity='0.001']")
        expect(columns).to_have_count(of)
        columns.nth(place - 1).click()

    def click_row(self, table: str, row: int, x: int = 20) -> None:
        """Click a row (from 0) of a table, found by the beginning of its key; the table is drawn on a canvas."""
        canvas = self.page.locator(f"[class*='st-key-{table}'] canvas").first
        canvas.wait_for(state="visible")
        box = canvas.bounding_box()
        assert box is not None
        at = box["x"] + (x if x >= 0 else box["width"] + x)
        self.page.mouse.click(at, box["y"] + ROW * (row + 1.5))

    def says(self, text: str) -> None:
        """Wait for a text on the page."""
        expect(self.page.get_by_text(text).first).to_be_visible()

    def address_has(self, name: str, value: str) -> None:
        """Wait for a parameter in the address."""
        self.page.wait_for_function(
            "([name, value]) => new URL(location).searchParams.get(name) === value", arg=[name, value]
        )
