"""Copies of others' code are known by what they say about themselves."""

import pytest

from codesum_pipeline.source.files.origins import foreign_folders, is_own, stated_origin
from codesum_pipeline_tests.support.homes import build

OURS = "MIT License\n\nCopyright (c) 2020 Ada Lovelace\n"
THEIRS = "MIT License\n\nCopyright (c) 2011-2019 Charles Babbage <charles@example.org> and contributors\n"


@pytest.mark.parametrize(
    ("source", "origin"),
    [
        ("/*! jQuery v3.6.0 | (c) JS Foundation */\nwindow.x = 1;\n", "jQuery"),
        ("/*!\n * smooth-scroll v16.1.2\n * (c) 2020 A. Person\n */\n", "smooth-scroll"),
        ("// stb_truetype.h - v1.26 - public domain\n// authored by a person\n#ifndef X\n", "stb_truetype.h"),
        ("// [TOOL]\n// This is a slightly modified version of stb_textedit.h 1.14.\n", "stb_textedit"),
        ("/*\n * FreeRTOS Kernel V10.5.1\n * Copyright (C) 2021\n */\n", "FreeRTOS Kernel"),
        ("// Copied from https://github.com/etcd-io/etcd/blob/main/verify.go\npackage common\n", "etcd-io/etcd"),
        ("# This file is vendored from https://example.org/someone/thing\n", "someone/thing"),
        ("// Vendored from Jackson\npackage x\n", "Jackson"),
    ],
)
def test_a_first_comment_says_which_project_a_file_is_a_copy_of(source: str, origin: str) -> None:
    assert stated_origin(source) == origin


@pytest.mark.parametrize(
    "source",
    [
        "",
        "package a\n",
        "// Licensed under Apache License v2.0\npackage a\n",
        "// Based on https://github.com/someone/thing\n",
        "// Adapted from the WASI preview1 spec\n",
        "// Parses version v1.2 of the format.\n",
        "// This list was derived from the one given here: https://github.com/a/b\n",
        "// Requires OpenGL v3.2\n",
        "// \tprotoc-gen-go v1.25.0\npackage a\n",
        "int x;\n// jQuery v3.6.0\n",
        "# Supports API v2.1\n",
        '"""Reads values copied from https://github.com/a/b."""\n',
    ],
)
def test_an_idea_or_a_licence_makes_no_copy(source: str) -> None:
    assert stated_origin(source) is None


def test_a_projects_own_builds_are_its_own() -> None:
    assert is_own("Axios", ["axios", "axios.git"])
    assert is_own("dear imgui", ["imgui"])
    assert is_own("etcd-io/bbolt", ["bbolt"])
    assert not is_own("jQuery", ["axios", "web"])


def foreign(files: dict[str, str]) -> frozenset[str]:
    sizes = {path: len(text) for path, text in files.items()}
    return foreign_folders(sizes, lambda paths: {path: files[path] for path in paths})


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"LICENSE": OURS, "internal/diff/LICENSE": THEIRS, "internal/diff/a.go": ""}, {"internal/diff"}),
        ({"LICENSE": OURS, "fmt/bundled/fmt.license.rst": THEIRS}, {"fmt/bundled"}),
        ({"LICENSE": OURS, "deps/calc/COPYING": THEIRS, "deps/calc/package.json": "{}"}, {"deps/calc"}),
        ({"LICENSE": OURS, "crates/calc/LICENSE-MIT": OURS}, set()),
        ({"LICENSE": OURS, "packages/calc/LICENSE": THEIRS, "packages/calc/package.json": "{}"}, set()),
        ({"LICENSE": "Copyright [yyyy] [name]\n", "ext/LICENSE": THEIRS}, set()),
        ({"LICENSE": OURS, "win/COPYING": "Copyright (C) 2007 Free Software Foundation, Inc.\n"}, set()),
        ({"LICENSE": OURS, "src/calc.license.txt": THEIRS}, set()),
        ({"internal/diff/LICENSE": THEIRS}, set()),
    ],
    ids=[
        "others' licence",
        "a licence called after the folder above",
        "a package among dependencies",
        "the same holder",
        "a package of this repository by other people",
        "nobody is named by the repository's own",
        "the licence's authors",
        "a licence for one file",
        "the repository has no licence",
    ],
)
def test_a_folder_is_others_by_its_licence(files: dict[str, str], expected: set[str]) -> None:
    assert foreign(files) == expected


def test_documents_of_copies_are_vendored(git_repo, make_workspace) -> None:
    files = {
        "LICENSE": OURS,
        "internal/diff/LICENSE": THEIRS,
        "internal/diff/diff.go": "package diff\n\nfunc Diff() {}\n",
        "src/stb_truetype.h": "// stb_truetype.h - v1.26 - public domain\nint area(int a) { return a; }\n",
        "src/project.c": "/* project v1.2 */\nint draw(int a) { return a; }\n",
    }
    workspace = make_workspace(git_repo(files).path)
    build(workspace, until="summary_documents")
    rows = workspace.tables.read("documents", workspace.key, columns=["id", "is_vendored"]).to_pylist()

    assert {row["id"] for row in rows if row["is_vendored"] and "LICENSE" not in row["id"]} == {
        "internal",
        "internal/diff",
        "internal/diff/diff.go",
        "internal/diff/diff.go::Diff",
        "src/stb_truetype.h",
        "src/stb_truetype.h::area",
    }
