"""The house's budgets: small files, short functions, few modules in a package, docstrings on what is public."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paths import ROOT

PACKAGE = ROOT / "ksolver_cli"
MAX_FILE_LINES = 400
MAX_TEST_LINES = 500
MAX_FUNCTION_LINES = 40
MAX_MODULES = 12

SOURCES = sorted(PACKAGE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def _functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def test_files_are_small() -> None:
    long = {str(f.relative_to(ROOT)): n for f in SOURCES if (n := f.read_text().count("\n")) > MAX_FILE_LINES}
    assert long == {}


def test_test_files_are_small() -> None:
    long = {str(f.relative_to(ROOT)): n for f in TESTS if (n := f.read_text().count("\n")) > MAX_TEST_LINES}
    assert long == {}


def test_functions_are_short() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}"
        for path in SOURCES
        for function in _functions(path)
        if (function.end_lineno or 0) - function.lineno + 1 > MAX_FUNCTION_LINES
    ]
    assert long == []


def test_packages_hold_few_modules() -> None:
    counts: dict[str, int] = {}
    for path in SOURCES:
        if path.name != "__init__.py":
            folder = str(path.parent.relative_to(ROOT))
            counts[folder] = counts.get(folder, 0) + 1
    assert {folder: count for folder, count in counts.items() if count > MAX_MODULES} == {}


def test_every_module_says_what_it_is() -> None:
    silent = [str(path.relative_to(ROOT)) for path in SOURCES if not ast.get_docstring(ast.parse(path.read_text()))]
    assert silent == []


@pytest.mark.parametrize("word", ["/work/", "shared/", "this session", "helper-"])
def test_the_project_speaks_of_itself_alone(word: str) -> None:
    guilty = [str(path.relative_to(ROOT)) for path in SOURCES if word in path.read_text(encoding="utf-8")]
    assert guilty == []
