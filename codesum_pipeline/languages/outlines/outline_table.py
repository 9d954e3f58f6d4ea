"""The table of a language that is read by a query of its grammar alone: `<language>.toml` in this folder.

The query is one of tree-sitter, with the captures that its tags files use
(https://tree-sitter.github.io/tree-sitter/4-code-navigation.html).
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache, partial, reduce
from pathlib import Path

from msgspec import Struct
from tree_sitter import Query, QueryError

from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.hashing import sha1_hex
from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.languages.declarations.spans import as_blanks
from codesum_pipeline.languages.outlines.grammars import load_grammar

DEFINITION = "definition."
# What a capture `definition.…` is a document of.
KINDS: Mapping[str, SymbolType] = {
    **dict.fromkeys(("function", "method", "macro"), SymbolType.FUNCTION),
    **dict.fromkeys(("class", "interface", "module", "type"), SymbolType.CLASS),
}
# Names without a document: of the file, and of the class around.
CONSTANT, FIELD = "definition.constant", "definition.field"
CALL, TYPE = "reference.call", "reference.class"
COMMENT, ERROR = "comment", "error"
CAPTURES = frozenset({
    *(f"{DEFINITION}{kind}" for kind in KINDS), CONSTANT, FIELD, CALL, TYPE, COMMENT, ERROR,
    "name", "scope", "self", "body", "parameters", "doc", "private", "local", "export", "export.all", "preamble",
    "branch",
})  # fmt: skip


# A predicate that the binding of tree-sitter takes and does not look at.
_IDLE = "#not-any-of?"


class WrongTable(CodesumError):
    """The table of a language has a mistake; says which and where."""


class Marks(Struct, frozen=True, forbid_unknown_fields=True):
    """How a file is read by patterns alone.

    The groups of `statements` say where definitions begin and end:
    - `head`: one begins, with its `name`, a group that is called as its kind is, and perhaps the beginning of the
      `rest`, which belongs no more to its signature; where that ends with a bracket, items are in it;
    - `end`: it ends here, unless something `open` has no `close` yet, or a `hold` says that it lasts up to a stop, as
      each `module` does;
    - `stop`: it ends before this, whatever is open; `start`: the same, but not inside of a function or a module;
    - `body`: what follows belongs no more to the signature of a function, as what follows `open` and `hold`;
    - `comment`.

    `items` is a pattern of what items consist of: the first `name` of each is a field, the second its type. `uses`
    finds what definitions use: a `call` or `command` of a function, a `type`; and each `branch`.
    """

    statements: str
    items: str
    uses: str


class OutlineTable(Struct, frozen=True, forbid_unknown_fields=True):
    """What is particular to one language. Lists are names of node types with blanks between them.

    `grammar` is its name in the package; `definitions` says in words what there are documents for. Comments right above
    a definition document it; one right below that begins with a mark in `after_marks` documents what has none above. A
    definition of a kind in
    `until_next` lasts up to the next one of that kind, or to the end of what is around it. Definitions of one name that
    follow each other are one where their kind is in `clauses`. `hidden` is a pattern of names that nobody else may use;
    where the query captures the names that a file gives away (`export`, or `export.all`), nobody else may use those
    definitions that are `local` and not among them.
    `separator` stands between a name and its owners where both are one node. `parts` are names and pieces of the query
    that it needs more than once: `$head` is the piece of that name, which may hold later ones.

    In names of several parts, the first of a pair in `words` becomes the second, as people write where they use such a
    name. `folders_share` says that the files of a folder see each other's names and no others, `sees_members` that a
    class sees its members by their names alone. `respelled` are patterns of what the grammar does not know, each with
    the word that stands for it: the grammar reads that word, what the groups match, and blanks for the rest.

    Where no grammar reads most real files, a table has `marks` in place of `grammar` and `query`.
    """

    language: str
    grammar: str
    definitions: str
    query: str = ""
    comments: str = "comment"
    after_marks: tuple[str, ...] = ()
    until_next: str = ""
    clauses: str = ""
    hidden: str = ""
    separator: str = ""
    parts: tuple[tuple[str, str], ...] = ()
    words: tuple[tuple[str, str], ...] = ()
    folders_share: bool = False
    sees_members: bool = True
    respelled: tuple[tuple[str, str], ...] = ()
    marks: Marks | None = None
    hash: str = ""


def respelled_source(table: OutlineTable, source: bytes) -> bytes:
    """A source as the grammar of its language can read it: each byte stays at its place, and each line."""
    for pattern, spelling in table.respelled:
        source = re.sub(pattern.encode(), partial(_in_its_place, spelling.encode()), source)
    return source


def _in_its_place(word: bytes, match: re.Match[bytes]) -> bytes:
    """What the groups of a match hold, and a word before, after or between them, in as many bytes and lines."""
    text, offset = match[0], match.start()
    shown = bytearray(as_blanks(text))
    spans = [(start - offset, end - offset) for start, end in match.regs[1:] if start >= 0]
    place = 0
    for start, end in spans:
        place = end if start <= place else place
    shown[place : place + len(word)] = word
    for start, end in spans:
        shown[start:end] = text[start:end]
    return bytes(shown[: len(text)])


@cache
def compiled_query(table: OutlineTable) -> Query:
    """The query of a table in its grammar; raises `MissingGrammar` and `WrongTable`."""
    comments = "\n".join(f"({kind}) @{COMMENT}" for kind in table.comments.split())
    written = reduce(lambda query, part: query.replace(f"${part[0]}", part[1]), table.parts, table.query)
    if _IDLE in table.query:
        raise WrongTable(f"the query of {table.language}.toml has {_IDLE}, which always holds; use #not-match? instead")
    try:
        query = Query(load_grammar(table.grammar), f"{written}\n{comments}\n(ERROR) @{ERROR}")
    except QueryError as error:
        raise WrongTable(f"the query of {table.language}.toml: {error}") from error
    names = {query.capture_name(number) for number in range(query.capture_count)}
    if unknown := {name for name in names - CAPTURES if not name.startswith("_")}:
        raise WrongTable(
            f"the query of {table.language}.toml has the capture @{min(unknown)}; known are "
            f"{', '.join(sorted(CAPTURES))}, and those of your own that begin with _"
        )
    return query


@cache
def outline_tables() -> Mapping[str, OutlineTable]:
    """The table of each language, by name."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        entry = {"language": path.stem, "grammar": path.stem, **tomllib.loads(text), "hash": sha1_hex(text)[:12]}
        found[path.stem] = convert(entry, OutlineTable)
    return found
