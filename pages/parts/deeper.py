"""Addresses below a page, such as /inspect/5, which lead to the page.

There Streamlit answers with its frame, whose files are asked for beside the address and not found: the browser shows
nothing at all. What stands below a page of a transcript is taken for the transcript that is meant, and where there is
none that page says so.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

FIRST, OF_TRANSCRIPTS, OTHERS = "library", ("inspect", "compare", "advise"), ("configurations",)
"""The paths of the pages: the first one stands at the root."""
TRANSCRIPT = "transcript"
"""The parameter that names a transcript. It is the pages' own, which only a running page can import."""
OF_STREAMLIT = "_stcore"
"""What a page's frame asks for below its own path first, and then at the root."""


def deeper_routes() -> list[BaseRoute]:
    """Return the routes of all addresses below pages, as `st.App` takes them."""
    return [Route(f"/{page}/{{rest:path}}", _leading_to(page)) for page in (FIRST, *OF_TRANSCRIPTS, *OTHERS)]


def _leading_to(page: str) -> Callable[[Request], Awaitable[Response]]:
    """Return what answers to an address below a page."""

    async def answer(request: Request) -> Response:
        rest, asked = str(request.path_params["rest"]), request.query_params.multi_items()
        if rest.partition("/")[0] == OF_STREAMLIT:
            return PlainTextResponse("Not Found", 404)
        named = rest.strip("/")
        if page in OF_TRANSCRIPTS and named and TRANSCRIPT not in request.query_params:
            asked = [(TRANSCRIPT, named), *asked]
        up = "../" * _levels(request) or "./"  # so that it holds behind a proxy that puts all under a path
        return RedirectResponse(f"{up}{'' if page == FIRST else page}{'?' if asked else ''}{urlencode(asked)}")

    return answer


def _levels(request: Request) -> int:
    """Return how many levels an address is below the root as a browser counts: a slash written %2F makes none."""
    raw: bytes = request.scope["raw_path"]
    return raw.removeprefix(request.scope.get("root_path", "").encode()).count(b"/") - 1
