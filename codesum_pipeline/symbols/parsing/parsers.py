"""Which parser reads a file, and the one pure function that a worker process needs."""

from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cache, partial
from importlib.metadata import version
from itertools import islice

from msgspec.structs import replace
from tree_sitter import Node, Parser, Tree

from codesum_pipeline.foundation.data_model.errors import NotParsed
from codesum_pipeline.foundation.data_model.file import NOTEBOOK
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.settings.stage_settings import STEPS_PER_BYTE
from codesum_pipeline.foundation.worker_processes.limits import WorkLimits
from codesum_pipeline.languages.declarations.declaration import Declaration
from codesum_pipeline.languages.declarations.hook_values import DefinitionHead
from codesum_pipeline.languages.declarations.kin import current_walk, own_walks
from codesum_pipeline.languages.declarations.language_registry import declarations
from codesum_pipeline.languages.declarations.plain_lines import DefinitionLine
from codesum_pipeline.languages.declarations.spans import is_inside
from codesum_pipeline.languages.declarations.spec import Span
from codesum_pipeline.source.files.content import encoding_of_name
from codesum_pipeline.source.files.encodings import decode_text, read_text
from codesum_pipeline.source.files.notebooks import NotebookScript, read_notebook
from codesum_pipeline.source.files.origins import stated_origin
from codesum_pipeline.symbols.parsing.bounded import (
    NODE_STEPS,
    TooMuchWork,
    WorkBudget,
    parse_within_bounds,
)
from codesum_pipeline.symbols.parsing.components.component_blocks import COMPONENT_LANGUAGES
from codesum_pipeline.symbols.parsing.components.component_parser import ComponentParser
from codesum_pipeline.symbols.parsing.file_reader import FileReader, Reading
from codesum_pipeline.symbols.parsing.file_tokens import bytes_as_characters
from codesum_pipeline.symbols.parsing.grammar import Grammar, compile_grammar
from codesum_pipeline.symbols.parsing.lost_definitions import (
    NamedPart,
    is_silent,
    lines_of,
    lost_lines,
    with_lost_definitions,
)
from codesum_pipeline.symbols.parsing.outline_parser import OUTLINE_PARSERS, OutlineParser
from codesum_pipeline.symbols.parsing.recovery import Recovery, changed_spans, error_places
from codesum_pipeline.symbols.parsing.text import ParsedFile, content_hash, parse_text, reading_version, text_parser
from codesum_pipeline.symbols.parsing.walk import read_tokens

# Of more lines that have no symbol, none is looked for in comments and texts.
_MOST_LOOKED_AT = 1_000


class NothingParsed(Exception):
    """Nothing that a parser found in a file can be trusted."""


def usual_budget(source: bytes) -> WorkBudget:
    """The budget of a file under the default settings."""
    return WorkBudget.of(len(source), STEPS_PER_BYTE)


class LanguageParser:
    """Reads the files of one language; the grammar is compiled at the first one."""

    def __init__(self, declaration: Declaration) -> None:
        self.declaration = declaration
        self._compiled: Grammar | None = None

    def version(self, hash_policy: HashPolicy, steps_per_byte: int = STEPS_PER_BYTE) -> str:
        """Everything besides a file's bytes that decides what is read from it."""
        spec = self.declaration.spec
        packages = f"{_installed('tree-sitter')} {_installed(spec.distribution)}"
        return f"{spec.name}/{spec.version} {packages} {reading_version(hash_policy, steps_per_byte)}"

    def parse(
        self,
        source: bytes,
        file_path: str,
        *,
        blob: str = "",
        hash_policy: HashPolicy = HashPolicy.CANONICAL,
        budget: WorkBudget | None = None,
        version: str = "",
    ) -> ParsedFile:
        """The symbols and facts of one file; `source` is UTF-8 with `\\n` line ends.

        What does not parse is counted in `syntax_errors`, and the definitions around it are read. Raises
        `NothingParsed` if nothing can be trusted, and `TooMuchWork` past the budget, which is by default that of the
        file's size.
        """
        budget = budget or usual_budget(source)
        version = version or self.version(hash_policy)
        return self.read(source, file_path, blob=blob, hash_policy=hash_policy, budget=budget, version=version)[0]

    def read(
        self, source: bytes, file_path: str, *, blob: str, hash_policy: HashPolicy, budget: WorkBudget, version: str
    ) -> tuple[ParsedFile, Reading]:
        """The symbols and facts of one file, and what they were read from; raises as `parse`."""
        with own_walks():
            read = self.reading(source, file_path, hash_policy=hash_policy, budget=budget)
            found = read.reader.read(blob, version)
            has_clauses = bool(self.declaration.clauses)
            return with_lost_definitions(found, read.lines, source, read.tree, has_clauses=has_clauses), read

    def reading(self, source: bytes, file_path: str, *, hash_policy: HashPolicy, budget: WorkBudget) -> Reading:
        """The reader of one file's symbols and facts, and what it reads; raises as `parse`.

        A file that does not parse, or in which lines look like a definition and are none, is read again without what
        hides definitions from the grammar.
        """
        shown, tree = self._tree(source, self._grammar(), budget)
        lines = tuple(lines_of(self.declaration, source))
        recovered, read = shown, tree
        if tree.root_node.has_error:
            recovered, read = self._recovered(source, file_path, shown, tree, lines, budget)
        reader = self._file_reader(source, file_path, hash_policy, (shown, tree), (recovered, read), budget)
        if read is tree and not tree.root_node.has_error and self._misses(reader, source, lines, tree):
            recovered, read = self._recovered(source, file_path, shown, tree, lines, budget)
            if read is not tree:
                reader = self._file_reader(source, file_path, hash_policy, (shown, tree), (recovered, read), budget)
        return Reading(reader, read, lines)

    def _file_reader(
        self,
        source: bytes,
        file_path: str,
        hash_policy: HashPolicy,
        first: tuple[bytes, Tree],
        last: tuple[bytes, Tree],
        budget: WorkBudget,
    ) -> FileReader:
        """The reader of the last tree; both come with what the grammar was shown."""
        (shown, tree), (recovered, read) = first, last
        budget.spend(NODE_STEPS * read.root_node.descendant_count)
        is_mended = read is not tree
        characters = bytes_as_characters(source)
        masked = bytes_as_characters(recovered) if recovered is not source else None
        parts = () if masked is None else self.declaration.rewritten(source)
        rewritten = [(start, end) for start, end in parts if recovered[start:end] != source[start:end]]
        tokens = read_tokens(read, characters, self._grammar(), masked=masked, rewritten=rewritten, is_mended=is_mended)
        if is_mended:
            tokens.errors[:] = [start for start, _ in error_places(tree.root_node)]
        blanked = changed_spans(shown, recovered) if is_mended else ()
        roots = (tree.root_node, read.root_node)
        return FileReader(self.declaration, tokens, characters, source, file_path, hash_policy, blanked, roots=roots)

    def _misses(self, reader: FileReader, source: bytes, lines: Iterable[DefinitionLine], tree: Tree) -> bool:
        """Whether a line in code that looks like a definition is none of those that were read, or may be left out."""
        if self.declaration.leaves_out(source):
            return True
        found = (
            NamedPart(one.parts[-1], one.start_byte, one.end_byte)
            for one in reader.definitions
            if one.parts and one.type is not None
        )
        missing = islice(lost_lines(lines, found), _MOST_LOOKED_AT)
        return any(not is_silent(tree.root_node, line.start) for line in missing)

    def _recovered(
        self,
        source: bytes,
        file_path: str,
        shown: bytes,
        tree: Tree,
        lines: Iterable[DefinitionLine],
        budget: WorkBudget,
    ) -> tuple[bytes, Tree]:
        """What the grammar was shown and its tree, without what hides definitions from it."""
        declaration, is_broken = self.declaration, tree.root_node.has_error
        groups = list(declaration.hiding(source, is_broken))
        if not groups and not is_broken:
            return shown, tree
        search = budget.of_search(len(source))
        parse = partial(_counted_parse, self._grammar().parser(), budget=search)
        silent = declaration.silent(source)
        in_code = (line for line in lines if not is_inside(silent, line.start))
        if is_broken:
            comments = self._comments(source, shown, tree)
            in_code = (line for line in in_code if not is_inside(comments, line.start))
        else:
            in_code = (line for line in in_code if not is_silent(tree.root_node, line.start))
        recovery = Recovery(source, in_code, parse, self._parts)
        if is_broken and declaration.is_dialect(file_path, source):
            best = recovery.fragments(shown)
            if best is None:
                raise NothingParsed
        else:
            best = recovery.recovered(shown, tree, groups)
        return best.shown, best.tree

    def _comments(self, source: bytes, shown: bytes, tree: Tree) -> list[Span]:
        """The comments of a source that begin a line. Others may be marks in a text, where a file does not parse."""
        found = _nodes_of(tree.root_node, self.declaration.spec.comments)
        spans = [(node.start_byte, node.end_byte) for node in found if not node.has_error]
        return [
            (start, end)
            for start, end in spans
            if source[start:end] == shown[start:end] and not source[source.rfind(b"\n", 0, start) + 1 : start].strip()
        ]

    def _tree(self, source: bytes, grammar: Grammar, budget: WorkBudget) -> tuple[bytes, Tree]:
        """The tree of a source, or of what the language masks in it, and what the grammar was shown."""
        parser, masked = grammar.parser(), self.declaration.masked
        shown = masked(source, False) if masked else source
        tree = parse_within_bounds(parser, shown, budget)
        if masked and tree.root_node.has_error:
            more = masked(source, True)
            if more == shown:
                return shown, tree
            other = parse_within_bounds(parser, more, budget)
            # A mask that is wrong at one place can cost the grammar the whole file.
            if self.declaration.is_mixed(source) or self._found(other) >= self._found(tree):
                return more, other
        return shown, tree

    def _found(self, tree: Tree) -> tuple[int, int]:
        """How many names a tree defines, and of how many that parses as a whole."""
        names = {(part.name, part.is_whole) for part in self._parts(tree)}
        return len({name for name, _ in names}), sum(is_whole for _, is_whole in names)

    def _parts(self, tree: Tree) -> Iterator[NamedPart]:
        """What a tree defines."""
        for node in _nodes_of(tree.root_node, self.declaration.definitions):
            defined = self._defined(node)
            if defined is not None and defined.type is not None and not defined.is_prototype:
                yield NamedPart(defined.parts[-1], node.start_byte, node.end_byte, not node.has_error)

    def _defined(self, node: Node) -> DefinitionHead | None:
        """What a node defines: nothing if a name is missing, but a scope may have none at all."""
        found = self.declaration.definitions[node.type](node)
        is_named = found is not None and all(found.parts) and (found.parts or found.type is None)
        return found if is_named else None

    def _grammar(self) -> Grammar:
        if self._compiled is None:
            declaration = self.declaration
            self._compiled = compile_grammar(
                declaration.spec, self._defined, declaration.definitions, declaration.marked
            )
        return self._compiled


def _counted_parse(parser: Parser, shown: bytes, *, budget: WorkBudget) -> Tree:
    """The tree of a part of a file, in which names will be looked for; raises `TooMuchWork`."""
    tree = parse_within_bounds(parser, shown, budget)
    budget.spend(NODE_STEPS * tree.root_node.descendant_count)
    return tree


def _nodes_of(root: Node, kinds: Container[str]) -> Iterator[Node]:
    """The nodes of some kinds. A query takes time that grows with the square of a node's children."""
    cursor, above, walk = root.walk(), [root], current_walk()
    walk.begin(above)
    while (node := cursor.node) is not None:
        if node.is_named and node.type in kinds:
            walk.note(node, above)
            yield node
        if cursor.goto_first_child():
            above.append(node)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            above.pop()


@cache
def _installed(distribution: str) -> str:
    return f"{distribution}/{version(distribution)}"


# The languages that are read deep; those of components are read by these, and `OUTLINE_PARSERS` reads the second tier.
PARSERS: Mapping[str, LanguageParser] = {
    declaration.spec.name: LanguageParser(declaration) for declaration in declarations()
}

COMPONENT_PARSERS: Mapping[str, ComponentParser] = {
    language: ComponentParser(language, PARSERS) for language in COMPONENT_LANGUAGES
}


def reads_definitions(language: str) -> bool:
    """Whether files of a language have definitions that are read."""
    return _parser_of(language) is not None


def _parser_of(language: str) -> LanguageParser | ComponentParser | OutlineParser | None:
    return PARSERS.get(language) or COMPONENT_PARSERS.get(language) or OUTLINE_PARSERS.get(language)


def parser_version(language: str, hash_policy: HashPolicy, steps_per_byte: int = STEPS_PER_BYTE) -> str:
    """What `FileFacts.parser` is of a file of this language that is parsed now."""
    parser = _parser_of(language)
    return parser.version(hash_policy, steps_per_byte) if parser else text_parser(hash_policy)


def parse_file(
    path: str,
    language: str,
    data: bytes,
    *,
    blob: str,
    hash_policy: HashPolicy,
    encoding: str | None = None,
    steps_per_byte: int = STEPS_PER_BYTE,
    patience: int | None = None,
    limits: WorkLimits | None = None,
) -> ParsedFile:
    """What is in one file of the snapshot; without an `encoding`, by what its content tells of it. Raises `SkippedFile`
    if its bytes are no text, and `NotParsed` where its parser met one of the limits, or has no grammar.

    A file that takes too much work is a plain text, and `facts.failure` says so; one whose parser trusts nothing is
    read as a text of its language, and counted as one with an error. With `patience`, a file that takes more steps
    raises `TooMuchHere`.
    """
    encoding = encoding or encoding_of_name(path)
    notebook = read_notebook(data) if encoding == NOTEBOOK else None
    if notebook is not None:
        text = notebook.script
    else:
        text = read_text(data, language).text if encoding is None else decode_text(data, encoding)
    parser, source = _parser_of(language), text.encode()
    if parser is None:
        read = parse_text(source, path, language=language, blob=blob, hash_policy=hash_policy)
    else:
        version = parser.version(hash_policy, steps_per_byte)
        budget = WorkBudget.of(len(source), steps_per_byte, patience=patience, limits=limits)
        try:
            read = parser.parse(source, path, blob=blob, hash_policy=hash_policy, budget=budget, version=version)
        except (NothingParsed, TooMuchWork) as error:
            as_text = parse_text(source, path, language=language, blob=blob, hash_policy=hash_policy, parser=version)
            read = replace(as_text, facts=replace(as_text.facts, syntax_errors=1, failure=str(error) or None))
            if isinstance(error, NothingParsed) and isinstance(parser, LanguageParser):
                read = with_lost_definitions(read, tuple(lines_of(parser.declaration, source)), source, None)
        read = replace(read, facts=replace(read.facts, origin=stated_origin(text)))
    return read if notebook is None else _of_notebook(read, notebook, hash_policy)


def _of_notebook(parsed: ParsedFile, notebook: NotebookScript, hash_policy: HashPolicy) -> ParsedFile:
    """A notebook's symbols, with a source that has its text too. Marks and comment signs are none of the author's."""
    facts = replace(
        parsed.facts,
        source=notebook.content,
        content_hash=content_hash(hash_policy, notebook.content, notebook.script.encode()),
        docstring=notebook.documentation,
        cells=notebook.cells,
    )
    return replace(parsed, facts=facts)


def documentation_spans(path: str, language: str, source: bytes, starts: Container[int]) -> list[Span]:
    """The bytes, in order, of what documents the definitions that start in these lines (1-based) of a file."""
    parser, budget = PARSERS.get(language), usual_budget(source)
    try:
        if parser is not None:
            reading = parser.reading(source, path, hash_policy=HashPolicy.CANONICAL, budget=budget)
            return reading.reader.documentation(starts)
        if (components := COMPONENT_PARSERS.get(language)) is not None:
            return components.documentation(source, path, starts, budget)
    except (NothingParsed, TooMuchWork, NotParsed):
        pass
    return []
