"""The options that say which documents are searched, and by what: their help names all possible values."""

import difflib
from typing import Annotated

import typer

from codesum_pipeline.foundation.data_model.document import LEVELS, Level
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.language_facts.file_languages import LANGUAGES
from codesum_pipeline.indexes.file_formats.version_folder import LANES, Lane


def _complete_languages(incomplete: str) -> list[str]:
    return [name for name in sorted(LANGUAGES) if name.startswith(incomplete)]


def _level(written: str) -> Level:
    if written in LEVELS:
        return Level(written)
    near = difflib.get_close_matches(written.lower(), map(str, LEVELS), n=1, cutoff=0.0)[0]
    raise ConfigurationError(f"no level {written!r}: levels are {', '.join(LEVELS)}; did you mean {near!r}?")


LevelsOption = Annotated[
    list[Level] | None,
    typer.Option(
        "--level",
        metavar="LEVEL",
        help=f"Only documents of this level ({', '.join(LEVELS)}). Can be repeated.",
        parser=_level,
    ),
]
LanesOption = Annotated[
    list[Lane] | None,
    typer.Option(
        "--lane",
        metavar="LANE",
        help=f"Rank by this lane alone ({', '.join(LANES)}) instead of a weighted mix. Can be repeated.",
    ),
]
LanguagesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--language",
        metavar="NAME",
        help="Only this language, by its name or a file ending, such as python or py. Can be repeated. "
        f"Names: {', '.join(sorted(LANGUAGES))}.",
        autocompletion=_complete_languages,
    ),
]
