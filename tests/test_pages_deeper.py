"""Addresses below a page lead to it, with what stands there as the transcript that is meant."""

from __future__ import annotations

import ast
from pathlib import Path
from urllib.parse import urljoin

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from pages.parts import state
from pages.parts.deeper import FIRST, OF_TRANSCRIPTS, OTHERS, TRANSCRIPT, deeper_routes
from tests.pages_app import Open, page, sample_database, shown, store

__all__ = ["page", "sample_database", "store"]

ROOT = Path(__file__).parents[1]


def asked(address: str, under: str = "") -> tuple[int, str]:
    """Return the status of an answer, and where it leads a browser that asked below the path `under`."""
    with TestClient(Starlette(routes=deeper_routes()), follow_redirects=False) as client:
        answer = client.get(address)
    location = answer.headers.get("location")
    return answer.status_code, "" if location is None else urljoin(f"http://here{under}{address}", location)


@pytest.mark.parametrize(
    ("address", "leads_to"),
    [
        ("/inspect/5", "/inspect?transcript=5"),
        ("/inspect/5/", "/inspect?transcript=5"),
        ("/compare/5?call=3", "/compare?transcript=5&call=3"),
        ("/advise/5/6", "/advise?transcript=5%2F6"),
        ("/inspect/a%2Fb", "/inspect?transcript=a%2Fb"),
        ("/inspect/a%2Fb/c", "/inspect?transcript=a%2Fb%2Fc"),
        ("/inspect%2F5", "/inspect?transcript=5"),
        ("/library/a%2Fb", "/"),
        ("/library%2Fx", "/"),
        ("/inspect/<b>&x", "/inspect?transcript=%3Cb%3E%26x"),
        ("/inspect/5?transcript=7", "/inspect?transcript=7"),
        ("/inspect/", "/inspect"),
        ("/configurations/mine", "/configurations"),
        ("/library/x", "/"),
    ],
)
def test_an_address_below_a_page_leads_to_the_page(address: str, leads_to: str) -> None:
    assert asked(address) == (307, f"http://here{leads_to}")
    assert asked(address, under="/tools") == (307, f"http://here/tools{leads_to}")


@pytest.mark.parametrize("path", ["/inspect/_stcore/health", "/compare/_stcore/host-config"])
def test_what_a_frame_asks_for_below_its_path_is_not_there(path: str) -> None:
    assert asked(path) == (404, "")


def test_every_page_has_a_route() -> None:
    tree = ast.parse((ROOT / "pages" / "navigation.py").read_text(encoding="utf-8"))
    made = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "st.Page"]
    files = [ast.literal_eval(node.args[0]).removesuffix(".py") for node in made]
    paths = [{word.arg: word.value for word in node.keywords}.get("url_path") for node in made]
    named = [file if path is None else ast.literal_eval(path) for file, path in zip(files, paths, strict=True)]
    assert sorted(named) == sorted([FIRST, *OF_TRANSCRIPTS, *OTHERS])
    assert TRANSCRIPT == state.TRANSCRIPT


def test_the_page_says_that_there_is_no_such_transcript(page: Open) -> None:
    assert "There is no transcript “5/6” here." in shown(page("compare.py", transcript="5/6"))
