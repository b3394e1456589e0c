# ===- test_docs.py - pages name what exists, generated ones are fresh -----=== #
#
# Part of FA-MLIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===----------------------------------------------------------------------=== #

import importlib.util
import re
import shutil
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
    generate_docs.find_tablegen() is None, reason="mlir-tblgen is not installed"
)
def test_generated_pages_are_fresh():
    wanted = generate_docs.pages()
    present = {page.name for page in (ROOT / "docs/generated").iterdir()}
    named = {name for name in wanted if Path(name).name == name}
    assert present == named, "run ./fa docs"
    for name, text in wanted.items():
        page = ROOT / "docs/generated" / name
        assert page.read_text() == text, f"{name}: run ./fa docs"


@pytest.mark.skipif(
    generate_docs.find_tablegen() is None, reason="mlir-tblgen is not installed"
)
def test_a_stale_page_is_found_and_repaired(tmp_path, monkeypatch, capsys):
    out = tmp_path / "generated"
    shutil.copytree(ROOT / "docs/generated", out)
    shutil.copy(ROOT / "docs/Support.md", tmp_path)
    (out / "dialect.md").write_text("old\n")
    (out / "passes-gone.md").write_text("of a folder that is gone\n")
    monkeypatch.setattr(generate_docs, "OUT", out)
    monkeypatch.setattr(sys, "argv", ["generate-docs.py", "--check"])
    assert generate_docs.main() == 1
    found = capsys.readouterr().out
    assert "dialect.md is stale" in found and "passes-gone.md is stale" in found
    assert (out / "dialect.md").read_text() == "old\n"
    monkeypatch.setattr(sys, "argv", ["generate-docs.py"])
    assert generate_docs.main() == 0
    assert not (out / "passes-gone.md").exists()
    assert "fa.attention" in (out / "dialect.md").read_text()


def test_every_pass_and_tool_is_in_the_pages():
    passes = "".join(p.read_text() for p in ROOT.glob("docs/generated/passes-*.md"))
    for source in (ROOT / "include/fa").rglob("*.td"):
        for name in re.findall(r'Pass<"(fa-[a-z-]+)"', source.read_text()):
            assert f"`-{name}`" in passes, f"{name}: run ./fa docs"
    readme = (ROOT / "README.md").read_text()
    for tool in (ROOT / "tools").iterdir():
        if tool.is_dir():
            assert f"`{tool.name}`" in readme, tool.name
