"""One file of a declared language becomes symbols and facts."""

from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence
from functools import partial
from operator import attrgetter

from tree_sitter import Node

from codesum_pipeline.languages.declaration import Code, Declaration, ImportSyntax, References, Text
from codesum_pipeline.languages.spec import Span
from codesum_pipeline.model.hashing import HashPolicy
from codesum_pipeline.model.symbols import FileFacts, Import, Symbol, SymbolType
from codesum_pipeline.parsing.canonical import Canonical, call_places, lay_out
from codesum_pipeline.parsing.comments import Comments
from codesum_pipeline.parsing.definitions import Definition, find_definitions
from codesum_pipeline.parsing.expressions import FileTexts
from codesum_pipeline.parsing.facts import CallReader, FactReader
from codesum_pipeline.parsing.overloads import ids_of
from codesum_pipeline.parsing.recovery import is_cut
from codesum_pipeline.parsing.reexports import are_all, read_reexports
from codesum_pipeline.parsing.references import ReferenceReader, read_imports, read_names
from codesum_pipeline.parsing.structures import CalleeNames, Structures
from codesum_pipeline.parsing.testing import FileEvidence, has_test_calls, judge_tests, with_tests
from codesum_pipeline.parsing.text import ParsedFile, content_hash, count_lines
from codesum_pipeline.parsing.walk import Tokens

_start_byte = attrgetter("start_byte")
# Build tags stand in a file's head.
_HEAD_BYTES = 4096
# What a signature may end with that belongs to the body.
_BODY_MARKS = ("{", "=>", "=", ":", "->", "do", "begin", "where")


class FileReader:
    """All that is known about one file while it is read."""

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
        self._declaration = declaration
        self._tokens = tokens
        self._source = source
        self._path = file_path
        self._hash_policy = hash_policy
        self._text: Text = partial(_canonical_text, tokens)
        self._comments = Comments(tokens, characters, self._declaration)
        self._outline = find_definitions(tokens, self._declaration, self._comments)
        docstrings = self._declaration.docstrings
        self._file_docstring = docstrings.find(self._read_root) if docstrings else None
        self._exports = self._read_exports()
        self._listed = self._read_listed()
        self._file_docs = self._comments.of_file()
        self._canonical = self._lay_out()
        self._calls = CallReader(self._declaration, self._text)
        self._texts = FileTexts.of(tokens)
        self._known_openings: list[Node] | None = None
        self._facts = FactReader(self._declaration, tokens, self._canonical, self._text, self._calls, self._texts)

    def read(self, blob: str, parser: str) -> ParsedFile:
        """Symbols in source order, and the file's facts; `parser` is the version of what reads it."""
        declaration, canonical, outline = self._declaration, self._canonical, self._outline
        ids = ids_of(outline.definitions, self._path, rank=self._rank, signature=self._head, source=self._source_of)
        symbols = tuple([
            self._symbol(definition, id_, None if definition.parent is None else ids[definition.parent])
            for definition, id_ in zip(outline.definitions, ids, strict=True)
        ])  # fmt: skip
        file_source = canonical.source(0, len(canonical.texts))
        imports = read_imports(declaration, outline, ids, self._text, canonical)
        exports = self._exports
        globals_ = tuple(read_names(declaration.globals, outline, self._text))
        tests = judge_tests(symbols, self._told(symbols, imports))
        if declaration.handed_on:
            reexports = declaration.handed_on(self._path, imports, exports)
        else:
            reexports = read_reexports(self._handed_on(), imports, exports or ())
        references = self._references(symbols)
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
            syntax_errors=len(self._tokens.errors),
            reexports=reexports,
            only_reexports=are_all(
                reexports, symbols=len(symbols) - len(tests.ids), globals_=globals_, exports=exports
            ),
            is_test=tests.is_test,
            literals=self._texts.literals_outside([(one.start_byte, one.end_byte) for one in outline.definitions]),
            call_places=call_places(references, canonical),
        )
        return ParsedFile(facts, with_tests(symbols, tests))

    def _references(self, symbols: Sequence[Symbol]) -> References:
        if read := self._declaration.references:
            return read(self._read_root, self._source, self._path, symbols)
        structures = Structures(self._tokens, self._root)
        reader = ReferenceReader(self._declaration, self._outline, self._text, self._calls, structures)
        return reader.read(symbols, self._path, CalleeNames(self._source))

    def _told(self, symbols: Sequence[Symbol], imports: Sequence[Import]) -> FileEvidence:
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

    def _handed_on(self) -> Iterator[ImportSyntax]:
        """What the file says it hands on, by statements of their own."""
        for kind, _, node in self._outline.outside:
            if read := self._declaration.reexports.get(kind):
                yield from read(node, self._text)

    def _read_exports(self) -> tuple[str, ...] | None:
        """The names that the file exports; None where it does not say."""
        declaration, outline = self._declaration, self._outline
        if declaration.made_exports:
            return declaration.made_exports(outline.outside, self._text)
        return tuple(read_names(declaration.exports, outline, self._text)) if declaration.exports else None

    def _read_listed(self) -> frozenset[str] | None:
        """What the file gives away; None where it does not say."""
        if self._declaration.made_exports:
            return None if self._exports is None else frozenset(self._exports)
        readers = self._declaration.listed
        lists = [readers[kind](node, self._text) for kind, _, node in self._outline.outside if kind in readers]
        return frozenset().union(*lists) if lists else None

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
        # Any comment documents what comes right after it: one about the file must stand apart.
        last = self._file_docs[-1:]
        comments = [
            self._comments.canonical(nodes[start], stands_apart=nodes[start] in last) for start in sorted(nodes)
        ]
        docstrings = (self._file_docstring, *(definition.docstring for definition in self._outline.definitions))
        return lay_out(self._tokens, self._source, {node.start_byte for node in docstrings if node}, comments)

    def _symbol(self, definition: Definition, id_: str, parent_id: str | None) -> Symbol:
        declaration, canonical, tokens = self._declaration, self._canonical, self._tokens
        node = definition.nodes[0]
        type_ = definition.type or SymbolType.CLASS
        start, end = definition.start_byte, definition.end_byte
        first, end_line = _lines(canonical, start, end)
        last_byte = tokens.last_byte(end)
        source = canonical.source(first, end_line)
        words = tuple(declaration.modifiers(node, definition.preambles, self._text))
        words = (definition.section, *words) if definition.section else words
        if definition.wrapper is not None:
            words = (*declaration.wrapper_modifiers(definition.wrapper, self._text), *words)
        docstring, doc_lines = self._docstring(definition)
        return Symbol(
            id=id_,
            type=type_,
            qualified_name=".".join(definition.parts),
            name=definition.parts[-1],
            file_path=self._path,
            language=declaration.spec.name,
            start_line=canonical.real_line(definition.code_start),
            end_line=canonical.real_line(last_byte),
            signature=self._signature(definition),
            docstring=docstring,
            modifiers=words,
            bases=tuple(declaration.bases(node, self._text)) if type_ is SymbolType.CLASS else (),
            parent_id=parent_id,
            complexity=_clauses(definition) + bisect_left(tokens.branches, end) - bisect_left(tokens.branches, start),
            line_count=end_line - first - doc_lines,
            is_public=self._is_public(definition, words),
            content_hash=content_hash(self._hash_policy, source, self._source[start : last_byte + 1]),
            canonical_source=source,
            line_map=canonical.real_lines(first, end_line),
            facts=self._facts.read(
                definition,
                words,
                first_line=first,
                signature_start=self._first_token(self._signature_start(definition)),
            ),
            has_syntax_errors=any(part.has_error for part in (*definition.preambles, *definition.nodes))
            or is_cut(self._blanked, start, end),
        )

    def _docstring(self, definition: Definition) -> tuple[str | None, int]:
        """What documents a definition, and how many canonical lines that takes."""
        said = [self._comments.text_of(definition.docs)] if definition.docs else []
        lines = sum(len(self._comments.canonical(node).lines) for node in definition.docs)
        inner = self._declaration.inner_doc(definition.nodes[0], definition.preambles)
        if inner is not None:
            held, text = inner
            first, end = self._canonical.lines_between(held.start_byte, held.end_byte)
            said.append(text)
            lines += end - first
        if (node := definition.docstring) is not None:
            said.append(self._docstring_text(node))
            lines += self._canonical.lines_between(0, node.end_byte)[1] - self._canonical.line_at(node.start_byte)
        return "\n\n".join(filter(None, said)) or None, lines

    def _docstring_text(self, node: Node | None) -> str | None:
        """What a docstring says."""
        docstrings = self._declaration.docstrings
        if node is None or docstrings is None:
            return None
        line = self._canonical.line_at(node.start_byte)
        end = self._canonical.lines_between(0, node.end_byte)[1]
        return docstrings.text(self._canonical.source(line, max(end, line + 1)))

    def _rank(self, definition: Definition) -> int:
        """A function without a body is no implementation of its name, nor is what sets a property, nor a companion."""
        if definition.type is SymbolType.CLASS:
            return int(definition.nodes[0].type in self._declaration.companions)
        words = self._declaration.modifiers(definition.nodes[0], definition.preambles, self._text)
        ranks = self._declaration.ranks
        return max((*(ranks.get(word, 0) for word in words), int(self._is_stub(definition))))

    def _is_stub(self, definition: Definition) -> bool:
        """Whether a function has no body, or one of nothing but a docstring and what stands in place of one."""
        docstrings = self._declaration.docstrings
        if definition.body is None or docstrings is None:
            return not any(definition.bodies)
        statements = [node for node in definition.body.named_children if not node.is_extra]
        return all(map(docstrings.is_empty, statements[definition.docstring is not None :]))

    def _head(self, definition: Definition) -> str:
        """What comes before the body, with attributes; of clauses, which each have a head, what they have in common."""
        kept = self._declaration.shown_marks | self._declaration.telling_marks
        return definition.clause or self._text_before_body(definition, definition.code_start, kept)

    def _source_of(self, definition: Definition) -> str:
        """Its tokens, of which comments are none: what documents it, or something in it, tells it from no other."""
        start, end, pieces = (definition.wrapper or definition.nodes[0]).start_byte, definition.end_byte, []
        openings = self._openings()
        first = bisect_left(openings, start, key=_start_byte)
        for node in openings[first : bisect_left(openings, end, first, key=_start_byte)]:
            pieces.append(self._tokens.text(start, node.start_byte))
            start = node.end_byte
        return " ".join([*pieces, self._tokens.text(start, end)])

    def _openings(self) -> list[Node]:
        """What bodies begin with that says nothing: docstrings, or what stands in place of a body."""
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

    def _signature(self, definition: Definition) -> str:
        kept = self._declaration.shown_marks
        return self._text_before_body(definition, self._signature_start(definition), kept)

    def _signature_start(self, definition: Definition) -> int:
        outer = definition.head or definition.wrapper or definition.nodes[0]
        return _after_preambles(outer, self._declaration.preambles)

    def _first_token(self, start: int) -> int:
        """The first byte of the first token from a byte on."""
        offsets = self._tokens.offsets
        at = bisect_left(offsets, start)
        return offsets[at] if at < len(offsets) else start

    def _text_before_body(self, definition: Definition, start: int, kept: Container[str]) -> str:
        body = definition.body
        signature = self._tokens.text(start, body.start_byte if body else definition.nodes[0].end_byte)
        for mark in _BODY_MARKS:
            if mark in kept:
                continue
            signature = signature.removesuffix(f" {mark}") if mark.isalpha() else signature.removesuffix(mark).rstrip()
        return signature.removesuffix(";")


def _clauses(definition: Definition) -> int:
    """How many bodies a definition chooses from: each of its clauses has one."""
    return max(1, sum(body is not None for body in definition.bodies))


def _after_preambles(node: Node, preambles: frozenset[str]) -> int:
    """Where a definition begins without the annotations that stand in it, before all else."""
    start = node.start_byte
    for child in node.children if preambles else ():
        if child.type not in preambles:
            break
        start = child.end_byte
    return start


def _canonical_text(tokens: Tokens, node: Node | None) -> Code:
    if node is None:
        return Code.of("")
    # Not the node itself: what is read of a file would keep its tree.
    span = node.start_byte, node.end_byte
    code = Code(tokens.text(*span))
    code.span = span
    return code


def _lines(canonical: Canonical, start: int, end: int) -> tuple[int, int]:
    """The lines of a definition; amid an expression that does not parse, the line that it stands in."""
    first, last = canonical.lines_between(start, end)
    around = max(canonical.line_at(start), 0)
    return (first, last) if first < last else (around, around + 1)
