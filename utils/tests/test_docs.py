# ===- test_docs.py - pages name what exists, generated ones are fresh -----=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/**/*.md")]
# Files that a page may name and that exist only after a build, or as a pattern.
LATER = re.compile(r"build/|[<*{]|\.\.\.")

spec = importlib.util.spec_from_file_location(
    "generate_docs", ROOT / "utils/generate-docs.py"
)
generate_docs = importlib.util.module_from_spec(spec)
sys.modules["generate_docs"] = generate_docs
spec.loader.exec_module(generate_docs)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_named_scripts_exist(page):
    names = re.findall(r"`((?:utils|examples|test|docs|lib)/[^`\s]*)", page.read_text())
    for name in names:
        if not LATER.search(name) and Path(name).suffix:
            assert (ROOT / name).exists(), name


def test_readme_shows_the_example_as_it_is():
    (shown,) = re.findall(
        r"```mlir\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
    )
    assert shown in (ROOT / "examples/causal-gqa/attention.mlir").read_text()


@pytest.mark.skipif(
    not (ROOT / "docs/generated/dialect.md").exists(),
    reason="no generated page of the dialect is committed yet",
)
def test_generated_pages_are_fresh():
    for name, text in generate_docs.pages().items():
        page = ROOT / "docs/generated" / name
        assert page.exists() and page.read_text() == text, f"{name}: run ./fa docs"
