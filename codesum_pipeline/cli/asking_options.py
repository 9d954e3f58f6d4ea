"""The options of the commands that ask indexes."""

import difflib
from typing import Annotated

import typer

from codesum_pipeline.cli.completion import complete_keys, complete_languages
from codesum_pipeline.indexes.version_folder import Lane
from codesum_pipeline.model.documents import LEVELS, Level
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.retrieval.filters import WhichTests


def _level(written: str) -> Level:
    if written in LEVELS:
        return Level(written)
    near = difflib.get_close_matches(written.lower(), map(str, LEVELS), n=1, cutoff=0.0)[0]
    raise ConfigurationError(f"no level {written!r}: levels are {', '.join(LEVELS)}; did you mean {near!r}?")


ReposOption = Annotated[
    list[str] | None,
    typer.Option(
        "--repo",
        metavar="KEY",
        autocompletion=complete_keys,
        show_default=False,
        help="Only this repository (key or owner/name). Can be repeated.",
    ),
]
LevelsOption = Annotated[
    list[Level] | None,
    typer.Option(
        "--level",
        metavar="LEVEL",
        parser=_level,
        show_default=False,
        help="Only functions, classes, files or modules (function, class, file, module). Can be repeated.",
    ),
]
LanesOption = Annotated[
    list[Lane] | None,
    typer.Option(
        "--lane",
        metavar="LANE",
        show_default=False,
        help="Rank by this alone (code, summary, fused, keywords, symbol) instead of a weighted mix. Can be repeated.",
    ),
]
LanguagesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--language",
        metavar="NAME",
        autocompletion=complete_languages,
        show_default=False,
        help="Only this language, by its name or a file ending (python, py). Can be repeated.",
    ),
]
PathsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--path",
        metavar="GLOB",
        show_default=False,
        help="Only files and folders that match, as in .gitignore (src/, '*.go', 'docs/**/*.md'); "
        "with ! in front, all but these. Can be repeated.",
    ),
]
TestsOption = Annotated[
    WhichTests,
    typer.Option("--tests", metavar="in|out|only", help="Test code too, none of it, or nothing else."),
]
