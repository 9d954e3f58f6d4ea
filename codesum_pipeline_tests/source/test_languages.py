"""A file's language, by name or first line."""

import pytest

from codesum_pipeline.foundation.language_facts.file_languages import (
    LANGUAGES,
    is_program,
    language_of_first_line,
    language_of_path,
)


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/a.py", "python"),
        ("src/a.pyi", "python"),
        ("A.PY", "python"),
        ("a.js", "javascript"),
        ("a.test.ts", "typescript"),
        ("a.tsx", "tsx"),
        ("a.h", "cpp"),
        ("a.cs", "c-sharp"),
        ("Dockerfile", "dockerfile"),
        ("docker/Dockerfile.dev", "dockerfile"),
        ("GNUmakefile", "makefile"),
        ("CMakeLists.txt", "cmake"),
        ("Gemfile", "ruby"),
        (".bashrc", "bash"),
        ("README.md", "markdown"),
        ("docs/index.rst", "rst"),
        ("notes.txt", "text"),
        ("README", None),
        (".py", None),
        ("py", None),
        ("dir.py/x", None),
        ("a.unheard-of", None),
    ],
)
def test_a_name_says_the_language(path: str, language: str | None) -> None:
    assert language_of_path(path) == language


@pytest.mark.parametrize(
    ("line", "language"),
    [
        (b"#!/usr/bin/env python3\n", "python"),
        (b"#!/usr/bin/python3.11 -u\n", "python"),
        (b"#! /usr/bin/env -S PYTHONPATH=. python3 -u\n", "python"),
        (b"#!/bin/sh", "bash"),
        (b"#!/usr/bin/env node\r\n", "javascript"),
        (b"#!/opt/unknown\n", None),
        (b"#!/usr/bin/env\n", None),
        (b"#!\n", None),
        (b"x = 1\n#!/bin/sh\n", None),
        (b"", None),
    ],
)
def test_a_first_line_says_the_language(line: bytes, language: str | None) -> None:
    assert language_of_first_line(line) == language


def test_prose_and_data_are_no_programs() -> None:
    assert not any(map(is_program, ("markdown", "toml", "yaml", "json", "html", "css", "text", "dockerfile")))
    assert all(map(is_program, ("python", "sql", "bash", "tsx")))


def test_every_parsed_language_has_a_name() -> None:
    design = "python javascript typescript tsx go rust java c cpp c-sharp ruby php kotlin swift scala bash lua elixir"
    assert set(f"{design} haskell zig".split()) <= LANGUAGES
