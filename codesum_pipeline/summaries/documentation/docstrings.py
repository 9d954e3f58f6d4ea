"""A docstring is read: its prose, and what it says of parameters and results.

`docstring_parser` knows reStructuredText fields, epytext, Google's and NumPy's
sections. Code, doctests, tables and directives are left out.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from inspect import cleandoc
from typing import TYPE_CHECKING

from codesum_pipeline.summaries.documentation.markup import plain, without_roles
from codesum_pipeline.summaries.documentation.plain import printable_lines
from codesum_pipeline.summaries.documentation.prose import sentences_in_code

if TYPE_CHECKING:
    from docstring_parser import Docstring as ParsedDocstring

# Beyond this a docstring is a manual: what a function is for stands at its start.
_MAX_LINES = 200
_MAX_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Docstring:
    """What a docstring says, without markup.

    `sentences` are its prose, first paragraph first; `types` those of its parameters.
    """

    sentences: tuple[str, ...] = ()
    parameters: dict[str, str] = field(default_factory=dict)
    returns: str | None = None
    types: dict[str, str] = field(default_factory=dict)
    return_type: str = ""


EMPTY = Docstring()


@lru_cache(maxsize=2048)
def read_docstring(text: str | None) -> Docstring:
    """Read one docstring; None and an empty one give `EMPTY`."""
    if not text or not text.strip():
        return EMPTY
    shown = cleandoc("\n".join(printable_lines(text[:_MAX_CHARS])[:_MAX_LINES]))
    read = _fields(shown)
    told = [(name.strip(" *`\\"), one) for one in read.params for name in one.arg_name.split(",")]
    returned = (read.returns.description, read.returns.type_name) if read.returns else (None, None)
    # Its descriptions end at the first section, and have lost their indentation, which tells code from prose.
    return Docstring(
        sentences_in_code(shown),
        {name: plain(_first_paragraph(one.description)) for name, one in told if one.description},
        plain(_first_paragraph(returned[0] or "")) or None,
        {name: one.type_name for name, one in told if one.type_name},
        returned[1] or "",
    )


def _fields(text: str) -> "ParsedDocstring":
    """What the library finds; nothing in a text that it stumbles over, such as a field without a name."""
    import docstring_parser

    try:
        # Roles look like fields to the library: `:class:`.
        return docstring_parser.parse(without_roles(text))
    except (docstring_parser.ParseError, IndexError):
        return docstring_parser.Docstring()


def _first_paragraph(text: str) -> str:
    """What follows is prose of its own, or code."""
    return text.split("\n\n")[0]
