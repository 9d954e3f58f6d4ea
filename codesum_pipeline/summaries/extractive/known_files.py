"""Files that the whole world names alike, and what they are for."""

import re

from codesum_pipeline.summaries.documentation.word_lists import word_set, word_table

# By the file's lower-case name.
BY_NAME = word_table("known_files")
_BY_PATTERN = (
    (re.compile(r"(?:^|/)\.github/workflows/[^/]+\.ya?ml$"), "Runs continuous integration on GitHub"),
    (re.compile(r"(?:^|/)\.github/issue_template", re.I), "Template for new issues"),
    (re.compile(r"(?:^|/)\.github/.*pull_request_template", re.I), "Template for pull requests"),
    (re.compile(r"(?:^|/)\.circleci/config\.yml$"), "Configures continuous integration on CircleCI"),
    (
        re.compile(r"(?:^|/)(?:[\w.-]*requirements[\w.-]*|requirements/[\w.-]+)\.(?:txt|in)$", re.I),
        "Lists the Python packages that are needed",
    ),
    (re.compile(r"(?:^|/)[\w.-]*dockerfile[\w.-]*$", re.I), "Builds a container image"),
)
_STEMMED = word_set("license_files")


def known_purpose(path: str) -> str:
    """What a file with this path is for, or empty where its name does not tell."""
    name = path.rpartition("/")[2].lower()
    for pattern, purpose in _BY_PATTERN:
        if pattern.search(path):
            return purpose
    if name in BY_NAME:
        return BY_NAME[name]
    stem = name.partition(".")[0].replace("-", "_")
    return BY_NAME[stem] if stem in _STEMMED and name.rpartition(".")[2] in (stem, "md", "rst", "txt") else ""
