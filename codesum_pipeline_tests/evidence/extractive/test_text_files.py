"""Texts of files that no parser reads."""

import pytest

from codesum_pipeline.evidence.extractive.text_files import write_text_file
from codesum_pipeline.evidence.inputs import TextFileInput
from codesum_pipeline.foundation.data_model.document import PurposeSource
from codesum_pipeline_tests.evidence.extractive.shown_inputs import says

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
        'GitHub workflow "tests": runs on push; jobs: test.',
    ),
    "pyproject": (
        "pyproject.toml",
        '[project]\nname = "x"\n[tool.ruff]\n',
        "toml",
        "Configures the Python project: its metadata, build and tools. Package x.",
    ),
    "a JSON file": (
        "data/ports.json",
        '{"ports": {"http": 80}, "hosts": []}',
        "json",
        "Holds ports (http), hosts.",
    ),
    "an ini file": ("a.ini", "[one]\nx = 1\n[two]\n", "ini", "Holds one (x), two."),
    "requirements": ("requirements.txt", "a\nb\n", "text", "Lists the Python packages that are needed."),
    "a license": ("LICENSE", MIT, "text", "License under which the code may be used: MIT License."),
    "a script": (
        "bin/restore.sh",
        SHELL,
        "bash",
        "Restores the nightly backup of the ledger. Needs rsync.",
    ),
    "XML": ("pom.xml", "<!--\n  Copyright X\n-->\n<project>\n<a>1</a>\n", "xml", "Configures the Maven build."),
    "a Dockerfile": (
        "Dockerfile",
        "FROM debian\nRUN apt-get update\n",
        "dockerfile",
        "Builds a container image from debian.",
    ),
    "a README": ("README.md", "# Tool\n\nTool counts things.\n", "markdown", "Tool counts things."),
    "an issue template": (
        ".github/ISSUE_TEMPLATE/1.md",
        "---\nname: Bug report\n---\nTell us what happened.\n",
        "markdown",
        "Issue template: Bug report.",
    ),
    "an issue form": (
        ".github/ISSUE_TEMPLATE/ask.yml",
        "name: Ask us\nbody:\n  - type: input\n",
        "yaml",
        "Issue template: Ask us.",
    ),
    "a template that names itself by its file": (
        ".gitlab/issue_templates/slow_query.md",
        "## What happened\n\nTell us.\n",
        "markdown",
        "Issue template: slow query.",
    ),
    "a pull request template": (
        ".github/PULL_REQUEST_TEMPLATE.md",
        "## Description\n\nSay what changes.\n",
        "markdown",
        "Template for pull requests.",
    ),
    "a license beside others": (
        "licenses/sorter_license.txt",
        "All rights reserved.\n\nRedistribution and use in source and binary forms ...",
        "text",
        "License under which the code may be used: BSD License.",
    ),
    "a license under another name": (
        "vendor/x/TERMS.txt",
        MIT,
        "text",
        "License under which the code may be used: MIT",
    ),
    "encoded data": (
        "blob.txt",
        "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5eg\n" * 9,
        "text",
        "Encoded data.",
    ),
    "a certificate": ("ca.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n", "text", "Certificate in PEM form."),
    "a table": (
        "rows.csv",
        "name,height (m),born\nanna,1.7,1990\n",
        "csv",
        "Table with the columns name, height (m), born.",
    ),
    "CMake, whose files end like prose": (
        "CMakeLists.txt",
        "# Copyright X\nproject(rows)\n",
        "cmake",
        "Configures the CMake build of the project rows.",
    ),
    "a list of names": (".toolignore", "*.py\nbuild/\ndist/\n*.egg\n", "text", "Lines of text: *.py; build/; dist/"),
    "badges that are links by reference": (
        "README.md",
        "# Tool\n\n[![Build][badge]][ci] [![Docs][docs-badge]][docs]\n\nTool counts [things][thing].\n",
        "markdown",
        "Tool counts things.",
    ),
    "MDX": (
        "a.mdx",
        "import { Tabs } from 'ui'\n\n{/* a note */}\n\n# Counting {#count}\n\nThis page tells how to count.\n",
        "markdown",
        "Counting: This page tells how to count.",
    ),
    "a package of R": (
        "a.R",
        "#' Perform a request with \\code{curl}\n#'\n#' @param req A \\link{request}\nreq <- 1\n",
        "r",
        "Perform a request with curl.",
    ),
    "a module of Julia": (
        "a.jl",
        '"""\n    open(path; mode)\n\nOpen a [`Row`](@ref) for reading.\n"""\nmodule A\nend\n',
        "julia",
        "Open a Row for reading.",
    ),
    "plain lines": ("names.txt", "anna\nbert\n", "text", "Lines of text: anna; bert."),
}


@pytest.mark.parametrize(("path", "text", "language", "summary"), OPENINGS.values(), ids=OPENINGS.keys())
def test_a_file_opens_with_what_it_is_for(path, text, language, summary):
    assert write_text_file(text_file(path, text, language)).text.summary.startswith(summary)


@pytest.mark.parametrize(
    ("path", "text", "summary"),
    [
        ("CHANGELOG/CHANGELOG-2.1.md", "# v2.1\n\nNothing much happened.\n", "Lists the changes of each release."),
        ("ReleaseNotes2.1.md", "# Summary of 2.1\n\nThis was a bugfix.\n", "Lists the changes of a release."),
        ("CODE_OF_CONDUCT.md", "# Conduct\n\nWe pledge to be kind.\n", "States how contributors treat each other."),
    ],
    ids=["a changelog of one version", "release notes", "a code of conduct"],
)
def test_what_everybody_writes_alike_says_what_it_is_and_nothing_else(path, text, summary):
    assert write_text_file(text_file(path, text, "markdown")).text.summary == summary


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

    assert text.summary == "File x." and len(text.keywords) >= 3
