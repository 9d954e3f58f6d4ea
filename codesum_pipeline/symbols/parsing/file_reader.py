"""One file of a declared language becomes symbols and facts."""

from bisect import bisect_left
from collections.abc import Container, Sequence
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace
from tree_sitter import Node, Tree

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.symbol import (
    FileFacts,
    Import,
    NameKind,
    Symbol,
    SymbolFacts,
    SymbolType,
)
from codesum_pipeline.languages.declarations.declaration import Declaration
from codesum_pipeline.languages.declarations.hook_values import References
from codesum_pipeline.languages.declarations.node_code import Text
from codesum_pipeline.languages.declarations.plain_lines import DefinitionLine
from codesum_pipeline.languages.declarations.spec import Span
from codesum_pipeline.symbols.parsing.canonical import Canonical, call_places, lay_out
from codesum_pipeline.symbols.parsing.comments import Comments
from codesum_pipeline.symbols.parsing.expressions import FileTexts
from codesum_pipeline.symbols.parsing.facts import CallReader, FactReader
from codesum_pipeline.symbols.parsing.file_reexports import are_all, reexports_of
from codesum_pipeline.symbols.parsing.file_tokens import NodeTexts, Tokens
from codesum_pipeline.symbols.parsing.held_functions import HeldFunction, find_held
from codesum_pipeline.symbols.parsing.name_facts import with_names
from codesum_pipeline.symbols.parsing.nested_definitions import Definition, find_definitions
from codesum_pipeline.symbols.parsing.opening_comments import OpeningComments
from codesum_pipeline.symbols.parsing.overloads import ids_of
from codesum_pipeline.symbols.parsing.recovery import is_cut
from codesum_pipeline.symbols.parsing.reference_facts import ReferenceReader, read_imports, read_names
from codesum_pipeline.symbols.parsing.structures import CalleeNames, Structures
from codesum_pipeline.symbols.parsing.testing import FileEvidence, FileTesting, has_test_calls, judge_tests, with_tests
from codesum_pipeline.symbols.parsing.text import ParsedFile, content_hash, count_lines

_start_byte = attrgetter("start_byte")
# Build tags are in a file's head.
_HEAD_BYTES = 4096
# What has a name of its own keeps the plain id.
_LAST_RANK = 1_000
# What a signature may end with that belongs to the body.
_BODY_MARKS = ("{", "=>", "=", ":", "->", "do", "begin", "where")


class FileReader:
    """Reads one file: everything that is known about it while it is read."""

    def __init__(
        self,
        declaration: Declaration,
        tokens: Tokens,
        characters: str,
        source: bytes,
        file_path: str,
        hash_policy: HashPolicy,
        blanked: Sequence[Span] = (),
        *,
        roots: tuple[Node, Node],
    ) -> None:
        """`roots` are those of the first tree and of the one that the tokens are of."""
        self._root, self._read_root = roots
        self._blanked = blanked
        self._declaration, self._tokens = declaration, tokens
        self._source, self._path, self._hash_policy = source, file_path, hash_policy
        self._text: Text = NodeTexts(tokens, len(source))
        self._comments = Comments(tokens, characters, declaration)
        self._outline = find_definitions(tokens, declaration, self._comments)
        docstrings = declaration.docstrings
        self._file_docstring = docstrings.find(self._read_root) if docstrings else None
        outside, readers = self._outline.outside, declaration.listed
        # The names that the file exports; None if it does not say.
        self._exports: tuple[str, ...] | None = None
        if declaration.made_exports:
            self._exports = declaration.made_exports(outside, self._text)
        elif declaration.exports:
            self._exports = tuple(read_names(declaration.exports, self._outline, self._text))
        lists = [readers[kind](node, self._text) for kind, _, node in outside if kind in readers]
        if declaration.made_exports and self._exports is not None:
            lists = [self._exports]
        # What the file gives away; None if it does not say.
        self._listed = frozenset().union(*lists) if lists else None
        self._file_docs = self._comments.of_file()
        self._canonical = self._lay_out()
        self._calls = CallReader(declaration, self._text)
        self._texts = FileTexts.of(tokens)
        self._opening_comments = OpeningComments(self._comments, tokens, characters)
        self._known_openings: list[Node] | None = None
        self._facts = FactReader(declaration, tokens, self._canonical, self._text, self._calls, self._texts)

    @property
    def definitions(self) -> Sequence[Definition]:
        """What the file defines, in the order of the source."""
        return self._outline.definitions

    @property
    def lines(self) -> list[tuple[int, str]]:
        """The lines of the file's canonical source, each with its real line (1-based)."""
        canonical, end = self._canonical, len(self._canonical.texts)
        return [*zip(canonical.real_lines(0, end), canonical.source(0, end).split("\n"), strict=False)]

    @property
    def branch_count(self) -> int:
        """How many branches the file has."""
        return len(self._tokens.branches)

    def read(self, blob: str, parser: str) -> ParsedFile:
        """Symbols in source order, and the file's facts; `parser` is the version of what reads it."""
        declaration, canonical, outline = self._declaration, self._canonical, self._outline
        held = find_held(self._read_root, self._source, declaration, outline, self._tokens, self._comments)
        definitions = [*outline.definitions, *(one.definition for one in held.functions)]
        every_id = ids_of(definitions, self._path, rank=self._rank, signature=self._head, source=self._source_of)
        ids = every_id[: len(outline.definitions)]
        symbols = tuple([
            self._symbol(definition, id_, None if definition.parent is None else ids[definition.parent])
            for definition, id_ in zip(outline.definitions, ids, strict=True)
        ])  # fmt: skip
        file_source = canonical.source(0, len(canonical.texts))
        imports = read_imports(declaration, outline, ids, self._text, canonical)
        exports = self._exports
        globals_ = tuple(read_names(declaration.globals, outline, self._text))
        tests = judge_tests(symbols, self._evidence(symbols, imports))
        if declaration.reexports_of_file:
            reexports = declaration.reexports_of_file(self._path, imports, exports)
        else:
            readers = declaration.reexports
            handed_on = (
                one for kind, _, node in outline.outside if kind in readers for one in readers[kind](node, self._text)
            )
            reexports = reexports_of(handed_on, imports, exports or ())
        unnamed = [
            self._unnamed(one, id_, ids, tests)
            for one, id_ in zip(held.functions, every_id[len(ids) :], strict=True)
        ]  # fmt: skip
        references = with_names(self._references(symbols, globals_), held, symbols, unnamed, outline.definitions)
        facts = FileFacts(
            file_path=self._path,
            blob=blob,
            language=declaration.spec.name,
            parser=parser,
            content_hash=content_hash(self._hash_policy, file_source, self._source),
            source=file_source,
            lines=count_lines(self._source),
            docstring=self._docstring_text(self._file_docstring) or self._comments.text_of(self._file_docs),
            imports=imports,
            globals=globals_,
            exports=exports,
            references=references.json,
            # A token that the grammar put in may be one that it does not show: the end of a line or of a block.
            syntax_errors=len(self._tokens.errors) or int(self._root.has_error),
            reexports=reexports,
            only_reexports=are_all(
                reexports, symbols=len(symbols) - len(tests.ids), globals_=globals_, exports=exports
            ),
            is_test=tests.is_test,
            literals=self._texts.literals_outside([(one.start_byte, one.end_byte) for one in outline.definitions]),
            call_places=call_places(references, canonical),
        )
        return ParsedFile(facts, (*with_tests(symbols, tests), *unnamed))

    def documentation(self, starts: Container[int]) -> list[Span]:
        """The bytes, in order, of what documents the definitions that start in these lines (1-based)."""
        nodes = []
        for definition in self._outline.definitions:
            if self._canonical.real_line(definition.code_start) in starts:
                inner = self._declaration.inner_doc(definition.nodes[0], definition.preambles)
                nodes += [*definition.docs, *(inner or ())[:1], *filter(None, [definition.docstring])]
        return sorted((node.start_byte, self._comments.end_of(node)) for node in nodes)

    def _unnamed(self, held: HeldFunction, id_: str, ids: Sequence[str], tests: FileTesting) -> Symbol:
        """A function without a name. The comment above it, which its canonical source does not have, opens it. A test's
        facts are not read: there are as many tests as other functions, and a title says what one is about."""
        around = held.definition.parent
        parent_id = None if around is None else ids[around]
        symbol = self._symbol(held.definition, id_, parent_id, has_facts=held.kind is not NameKind.TEST)
        said = self._comments.text_of(held.comment) if held.comment else None
        return replace(
            symbol,
            docstring=said,
            opening_comment=said or symbol.opening_comment,
            is_public=False,
            is_unnamed=True,
            is_test=held.kind is NameKind.TEST or tests.is_test or parent_id in tests.ids,
        )

    def _references(self, symbols: Sequence[Symbol], constants: Sequence[str]) -> References:
        if read := self._declaration.references:
            return read(self._read_root, self._source, self._path, symbols, self._tokens.named_words())
        structures = Structures(self._tokens, self._root)
        reader = ReferenceReader(self._declaration, self._outline, self._text, self._calls, structures)
        words = self._tokens.named_words()
        return reader.read(symbols, self._path, CalleeNames(self._source), words=words, constants=constants)

    def _evidence(self, symbols: Sequence[Symbol], imports: Sequence[Import]) -> FileEvidence:
        """What the file says about tests besides its definitions."""
        declaration, outside = self._declaration, self._outline.outside
        rules = declaration.tests
        modules = rules.modules(outside)
        inside = {
            symbol.id
            for symbol, definition in zip(symbols, self._outline.definitions, strict=True)
            if any(start <= definition.code_start < end for start, end in modules)
        }
        calls_tests = has_test_calls(outside, declaration.calls, self._calls, rules.calls)
        head = self._source[:_HEAD_BYTES]
        return FileEvidence(
            self._path, rules, imports, calls_tests, head, is_in_tests=lambda symbol: symbol.id in inside
        )

    def _is_public(self, definition: Definition, modifiers: tuple[str, ...]) -> bool:
        declaration, parts = self._declaration, definition.parts
        if self._listed is None:
            is_hidden = not declaration.hidden_by.isdisjoint(modifiers)
            is_shown = not declaration.shown_by or not declaration.shown_by.isdisjoint(modifiers)
            return is_shown and not is_hidden and declaration.is_public(parts, modifiers)
        return declaration.is_listed(definition.nodes[0], parts, self._listed)

    def _lay_out(self) -> Canonical:
        nodes = {node.start_byte: node for definition in self._outline.definitions for node in definition.docs}
        nodes.update((node.start_byte, node) for node in self._file_docs)
        # Any comment documents what comes right after it: one about the file must be set apart.
        last = self._file_docs[-1:]
        comments = [
            self._comments.canonical(nodes[start], stands_apart=nodes[start] in last) for start in sorted(nodes)
        ]
        docstrings = (self._file_docstring, *(definition.docstring for definition in self._outline.definitions))
        return lay_out(self._tokens, self._source, {node.start_byte for node in docstrings if node}, comments)

    def _symbol(self, definition: Definition, id_: str, parent_id: str | None, *, has_facts: bool = True) -> Symbol:
        declaration, canonical, tokens = self._declaration, self._canonical, self._tokens
        node = definition.nodes[0]
        type_ = definition.type or SymbolType.CLASS
        start, end = definition.start_byte, definition.end_byte
        first, end_line = canonical.lines_between(start, end)
        words, signature_start = self._modifiers(definition), self._signature_start(definition)
        # Amid a line, as after `if (it)` or in an expression that does not parse, it begins with that line.
        first = max(min(first, canonical.line_at(signature_start)), 0)
        end_line = max(end_line, first + 1)
        last_byte = tokens.last_byte(end)
        source = canonical.source(first, end_line)
        docstring, doc_lines = self._docstring(definition)
        # Each clause of a definition has a body that it chooses from.
        bodies = max(1, sum(body is not None for body in definition.bodies))
        token = bisect_left(tokens.offsets, signature_start)
        return Symbol(
            id=id_,
            type=type_,
            qualified_name=".".join(definition.parts),
            name=definition.parts[-1],
            file_path=self._path,
            language=declaration.spec.name,
            start_line=canonical.real_line(definition.code_start),
            end_line=canonical.real_line(last_byte),
            signature=self._text_before_body(definition, signature_start, declaration.shown_marks),
            docstring=docstring,
            modifiers=words,
            bases=tuple(declaration.bases(node, self._text)) if type_ is SymbolType.CLASS else (),
            parent_id=parent_id,
            complexity=bodies + bisect_left(tokens.branches, end) - bisect_left(tokens.branches, start),
            line_count=end_line - first - doc_lines,
            is_public=self._is_public(definition, words),
            content_hash=content_hash(self._hash_policy, source, self._source[start : last_byte + 1]),
            canonical_source=source,
            line_map=canonical.real_lines(first, end_line),
            facts=self._facts.read(
                definition,
                words,
                first_line=first,
                signature_start=tokens.offsets[token] if token < len(tokens.offsets) else signature_start,
            )
            if has_facts
            else SymbolFacts(),
            has_syntax_errors=any(part.has_error for part in (*definition.preambles, *definition.nodes))
            or is_cut(self._blanked, start, end),
            opening_comment=self._opening_comments.of(definition),
        )

    def _modifiers(self, definition: Definition) -> tuple[str, ...]:
        """The words before a definition: its wrapper's, the section's that it is in, and its own."""
        words = tuple(self._declaration.modifiers(definition.nodes[0], definition.preambles, self._text))
        words = (definition.section, *words) if definition.section else words
        if definition.wrapper is not None:
            words = (*self._declaration.wrapper_modifiers(definition.wrapper, self._text), *words)
        return words

    def _signature_start(self, definition: Definition) -> int:
        """The byte from which on a definition's head is shown: without the annotations at its beginning."""
        if definition.is_unnamed:
            return definition.code_start
        outer, preambles = definition.head or definition.wrapper or definition.nodes[0], self._declaration.preambles
        start = outer.start_byte
        for child in outer.children if preambles else ():
            if child.type not in preambles:
                break
            start = child.end_byte
        return start

    def _docstring(self, definition: Definition) -> tuple[str | None, int]:
        """What documents a definition, and how many canonical lines that takes."""
        docs: list[str | None] = []
        if definition.docs:
            docs.append(self._comments.documentation(definition.docs, definition.parts[-1]))
        lines = sum(len(self._comments.canonical(node).lines) for node in definition.docs)
        inner = self._declaration.inner_doc(definition.nodes[0], definition.preambles)
        if inner is not None:
            held, text = inner
            first, end = self._canonical.lines_between(held.start_byte, held.end_byte)
            docs.append(text)
            lines += end - first
        if (node := definition.docstring) is not None:
            docs.append(self._docstring_text(node))
            lines += self._canonical.lines_between(0, node.end_byte)[1] - self._canonical.line_at(node.start_byte)
        return "\n\n".join(filter(None, docs)) or None, lines

    def _docstring_text(self, node: Node | None) -> str | None:
        """What a docstring says."""
        docstrings = self._declaration.docstrings
        if node is None or docstrings is None:
            return None
        line = self._canonical.line_at(node.start_byte)
        end = self._canonical.lines_between(0, node.end_byte)[1]
        return docstrings.text(self._canonical.source(line, max(end, line + 1)))

    def _rank(self, definition: Definition) -> int:
        """Higher for a definition that is not the implementation of its name: a function without a body or with only a
        docstring and a placeholder, a property's setter, and a companion."""
        node, docstrings = definition.nodes[0], self._declaration.docstrings
        if definition.is_unnamed:
            return _LAST_RANK
        if definition.type is SymbolType.CLASS:
            return int(node.type in self._declaration.companions)
        is_stub = not any(definition.bodies)
        if definition.body is not None and docstrings is not None:
            statements = [child for child in definition.body.named_children if not child.is_extra]
            is_stub = all(map(docstrings.is_empty, statements[definition.docstring is not None :]))
        words = self._declaration.modifiers(node, definition.preambles, self._text)
        return max((*(self._declaration.ranks.get(word, 0) for word in words), int(is_stub)))

    def _head(self, definition: Definition) -> str:
        """The head of a definition with its attributes; for clauses, each of which has a head, what they have in
        common."""
        kept = self._declaration.shown_marks | self._declaration.distinguishing_marks
        return definition.clause or self._text_before_body(definition, definition.code_start, kept)

    def _source_of(self, definition: Definition) -> str:
        """The tokens of a definition. Comments and docstrings are left out: they do not distinguish overloads."""
        start, end, pieces = (definition.wrapper or definition.nodes[0]).start_byte, definition.end_byte, []
        openings = self._openings()
        first = bisect_left(openings, start, key=_start_byte)
        for node in openings[first : bisect_left(openings, end, first, key=_start_byte)]:
            pieces.append(self._tokens.text(start, node.start_byte))
            start = node.end_byte
        return " ".join([*pieces, self._tokens.text(start, end)])

    def _openings(self) -> list[Node]:
        """The nodes at the beginning of bodies that are no code: docstrings, or what replaces a body (`...`)."""
        if self._known_openings is None:
            self._known_openings = []
            docstrings = self._declaration.docstrings
            for definition in self._outline.definitions if docstrings else ():
                statements = definition.body.named_children if definition.body else ()
                first = next((node for node in statements if not node.is_extra), None)
                is_empty = docstrings is not None and first is not None and docstrings.is_empty(first)
                found = definition.docstring or (first if is_empty else None)
                self._known_openings += [found] if found is not None else []
        return self._known_openings

    def _text_before_body(self, definition: Definition, start: int, kept: Container[str]) -> str:
        body = definition.body
        signature = self._tokens.text(start, body.start_byte if body else definition.nodes[0].end_byte)
        for mark in _BODY_MARKS:
            if mark in kept:
                continue
            signature = signature.removesuffix(f" {mark}") if mark.isalpha() else signature.removesuffix(mark).rstrip()
        return signature.removesuffix(";")


class Reading(Struct, frozen=True):
    """How one file is read: its reader, the tree that it reads, and the file's lines that look like a definition."""

    reader: FileReader
    tree: Tree
    lines: tuple[DefinitionLine, ...]
