"""Imports point one way: pages to storage to core. Core stays installable alone, under another name."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REQUIREMENTS = [
    Requirement(line)
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
FOLDERS = ("core", "storage", "pages", "tests")
MOST_LINES, MOST_LINES_OF_A_PAGE = 400, 150


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield how many dots an import begins with, and the first name after them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name.partition(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.level, (node.module or "").partition(".")[0]


def imports_of(path: Path) -> list[tuple[int, str]]:
    return list(imports(ast.parse(path.read_text(encoding="utf-8"))))


def absolute_imports(path: Path) -> set[str]:
    return {name for level, name in imports_of(path) if level == 0}


MODULES = {"PyYAML": "yaml", "google-re2": "re2"}
"""What packages are called where they are imported, if otherwise."""


def modules(requirements: list[str]) -> set[str]:
    names = [Requirement(requirement).name for requirement in requirements]
    return {MODULES.get(name, name.replace("-", "_")) for name in names}


NEEDED = modules(PROJECT["dependencies"])
OF_READERS = PROJECT["optional-dependencies"]["streaming"] + PROJECT["optional-dependencies"]["recordings"]
EXTRAS = modules(OF_READERS)


@pytest.mark.parametrize("path", sources("core"), ids=name_of)
def test_core_imports_only_what_its_distribution_declares(path: Path) -> None:
    foreign = absolute_imports(path) - sys.stdlib_module_names - NEEDED - EXTRAS
    assert not foreign, f"{name_of(path)} imports {sorted(foreign)}"


@pytest.mark.parametrize("path", sources("core"), ids=name_of)
def test_core_imports_an_extra_only_inside_a_function(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    at_start = {name for node in tree.body if not isinstance(node, ast.ClassDef) for _, name in imports_at_start(node)}
    assert not at_start & EXTRAS


def imports_at_start(node: ast.stmt) -> Iterator[tuple[int, str]]:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from imports(node)


@pytest.mark.parametrize("path", sources("core"), ids=name_of)
def test_core_does_not_reach_out_of_its_package(path: Path) -> None:
    depth = len(path.relative_to(ROOT / "core").parts)
    assert max((level for level, _ in imports_of(path)), default=0) <= depth


@pytest.mark.parametrize("path", sources("storage"), ids=name_of)
def test_storage_knows_no_page(path: Path) -> None:
    assert not absolute_imports(path) & {"app", "pages", "tests", "streamlit", "altair", "pandas"}


@pytest.mark.parametrize("path", sources("pages"), ids=name_of)
def test_pages_leave_the_database_to_storage(path: Path) -> None:
    assert not absolute_imports(path) & {"app", "tests", "sqlalchemy", "alembic", "sqlite3"}


@pytest.mark.parametrize("path", sources(*FOLDERS), ids=name_of)
def test_files_stay_short(path: Path) -> None:
    limit = MOST_LINES_OF_A_PAGE if path.parent == ROOT / "pages" else MOST_LINES
    assert len(path.read_text(encoding="utf-8").splitlines()) <= limit


def test_every_range_of_the_distribution_is_the_one_that_is_tested() -> None:
    tested = {requirement.name: requirement.specifier for requirement in REQUIREMENTS}
    for line in PROJECT["dependencies"] + OF_READERS:
        declared = Requirement(line)
        assert tested[declared.name] == declared.specifier


@pytest.mark.parametrize("path", [*sources(*FOLDERS), ROOT / "app.py"], ids=name_of)
def test_every_package_that_is_imported_is_a_requirement(path: Path) -> None:
    declared = modules([str(requirement) for requirement in REQUIREMENTS]) | {"tiktoken_ext"}
    foreign = absolute_imports(path) - sys.stdlib_module_names - declared - {*FOLDERS, "app"}
    assert not foreign, f"{name_of(path)} imports {sorted(foreign)}"


def test_ranges_of_what_streamlit_brings_overlap_with_its_own() -> None:
    ours = {requirement.name: requirement.specifier for requirement in REQUIREMENTS}
    brought = {wanted.name: wanted.specifier for wanted in map(Requirement, requires("streamlit") or [])}
    for name in ours.keys() & brought.keys():
        assert (ours[name] & brought[name]).contains(version(name)), name
    assert {"starlette", "websockets", "packaging"} <= ours.keys() & brought.keys()


def test_every_requirement_is_a_range() -> None:
    for requirement in REQUIREMENTS:
        assert {bound.operator for bound in requirement.specifier} == {">=", "<"}, requirement.name


def test_an_import_is_seen_wherever_it_stands() -> None:
    code = "def f():\n    import pandas.api\n    from .. import x\n    from core.tokens import y\n"
    assert sorted(imports(ast.parse(code))) == [(0, "core"), (0, "pandas"), (2, "")]
