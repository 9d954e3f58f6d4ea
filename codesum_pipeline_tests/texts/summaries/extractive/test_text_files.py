"""Texts of files that no parser reads."""

import pytest

from codesum_pipeline.foundation.data_model.document import PurposeSource
from codesum_pipeline.texts.summaries.extractive.text_files import write_text_file
from codesum_pipeline.texts.summaries.inputs import TextFileInput
from codesum_pipeline_tests.texts.summaries.extractive.shown_inputs import says

GUIDE = """Install guide
=============

.. image:: logo.png

Install the *server* with ``pip``, see `the site <https://example.org>`_. Then run it.

Steps
-----

1. Fetch
2. Run
"""
WORKFLOW = "name: tests\non: push\njobs:\n  test:\n    runs-on: linux\n"
SHELL = """#!/bin/sh
# Copyright 2020 Someone

# Restores the nightly backup of the ledger. Needs rsync.
rsync $LEDGER_HOST:$LEDGER_HOST .
"""
MIT = "MIT License\n\nPermission is hereby granted, free of charge, to any person"


def text_file(path: str, text: str, language: str) -> TextFileInput:
    return TextFileInput(path, path.rpartition("/")[2], language, text)


def test_a_guide_is_told_by_title_opening_and_headings():
    written = write_text_file(text_file("docs/install.rst", GUIDE, "rst"))

    assert written.purpose_source is PurposeSource.TEXT
    assert written.text.summary.startswith("Install guide: Install the server with pip, see the site. Then run it.")
    assert says(written.text.summary, "Steps")
    assert written.text.business_intent == "Part of folder docs."
    assert {"install", "guide", "steps", "server", "pip"} <= {*written.text.keywords}
    assert [says(one, "Steps") for one in written.text.responsibilities] == [True]


OPENINGS = {
    "a workflow": (
        ".github/workflows/test.yml",
        WORKFLOW,
        "yaml",
        "Runs continuous integration on GitHub. Top-level keys: name, on, jobs.",
    ),
    "pyproject": (
        "pyproject.toml",
        '[project]\nname = "x"\n[tool.ruff]\n',
        "toml",
        "Configures the Python project: its metadata, build and tools. Top-level keys: project, tool.ruff.",
    ),
    "a JSON file": (
        "data/ports.json",
        '{"ports": {"http": 80}, "hosts": []}',
        "json",
        "Top-level keys: ports, hosts.",
    ),
    "an ini file": ("a.ini", "[one]\nx = 1\n[two]\n", "ini", "Top-level keys: one, two."),
    "requirements": ("requirements.txt", "a\nb\n", "text", "Lists the Python packages that are needed."),
    "a license": ("LICENSE", MIT, "text", "License under which the code may be used: MIT License."),
    "a script": (
        "bin/restore.sh",
        SHELL,
        "bash",
        "Restores the nightly backup of the ledger. Needs rsync.",
    ),
    "XML": ("pom.xml", "<!--\n  Copyright X\n-->\n<project>\n<a>1</a>\n", "xml", "Configures the Maven build. Part of"),
    "a Dockerfile": ("Dockerfile", "FROM debian\nRUN apt-get update\n", "dockerfile", "Builds a container image."),
    "a README": ("README.md", "# Tool\n\nTool counts things.\n", "markdown", "Tool counts things."),
    "plain lines": ("names.txt", "anna\nbert\n", "text", "Lines of text: anna; bert."),
}


@pytest.mark.parametrize(("path", "text", "language", "summary"), OPENINGS.values(), ids=OPENINGS.keys())
def test_a_file_opens_with_what_it_is_for(path, text, language, summary):
    assert write_text_file(text_file(path, text, language)).text.summary.startswith(summary)


def test_badges_html_front_matter_code_and_tables_are_left_out():
    text = (
        "---\ntitle: x\n---\n<h1 align='center'>Tool</h1>\n<!-- hidden -->\n[![b](b.svg)](b)\n\n"
        "| a | b |\n|---|---|\n\n```sh\npip install tool\n```\n\nTool &amp; co <b>count</b> "
        "things in <a href='x'>folders</a>.\n"
    )

    assert write_text_file(text_file("README.md", text, "markdown")).text.summary.startswith(
        "Tool & co count things in folders."
    )


def test_a_file_without_a_name_for_its_language_still_has_a_text():
    text = write_text_file(text_file("x", "\n", "")).text

    assert len(text.summary) >= 30 and len(text.keywords) >= 3
