"""A component's file becomes a class with functions: its scripts are read by the parsers of their languages.

The parser of a script sees the whole file with blanks for all else, so that each symbol has its real place.
"""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Protocol

from msgspec import Struct
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.data_model.printable import some_of
from codesum_pipeline.foundation.data_model.symbol import Fact, FileFacts, Import, Symbol, SymbolFacts, SymbolType
from codesum_pipeline.foundation.settings.stage_settings import STEPS_PER_BYTE
from codesum_pipeline.languages.declarations.nodes import child_of_type
from codesum_pipeline.languages.declarations.spans import blanked_out, only_shown
from codesum_pipeline.languages.declarations.spec import Span
from codesum_pipeline.languages.outlines.grammars import grammar_version
from codesum_pipeline.symbols.parsing.bounded import WorkBudget
from codesum_pipeline.symbols.parsing.comments import doc_text, is_note
from codesum_pipeline.symbols.parsing.components.astro_markup import AstroReader
from codesum_pipeline.symbols.parsing.components.component_blocks import (
    ASTRO,
    SVELTE,
    VUE,
    ComponentBlocks,
    ScriptBlock,
    read_blocks,
)
from codesum_pipeline.symbols.parsing.components.component_joining import (
    ComponentPart,
    ScriptRole,
    default_class,
    join_parts,
)
from codesum_pipeline.symbols.parsing.components.component_members import ComponentMember, members_of
from codesum_pipeline.symbols.parsing.components.markup_code import MarkupCode
from codesum_pipeline.symbols.parsing.components.svelte_markup import SvelteReader
from codesum_pipeline.symbols.parsing.components.vue_markup import VueReader
from codesum_pipeline.symbols.parsing.facts import MAX_FACTS, MAX_TEXT
from codesum_pipeline.symbols.parsing.file_reader import Reading
from codesum_pipeline.symbols.parsing.text import NO_REFERENCES, ParsedFile, content_hash, count_lines

_MOST_TOLD = 5
# A file of these names is its folder's.
_INDEX = ("index", "Index")
# What frameworks add to a file's name to say where its code runs.
_SIDES = frozenset(("client", "server"))
_WORD = re.compile(r"[^\W_]+")
_LONGEST_RUN = 40
_MARKUP_LANGUAGE = "tsx"
# A canonical line of the file with its real line.
Line = tuple[int, str]


class ScriptPart(Struct, frozen=True):
    """One or more scripts that were read together."""

    part: ComponentPart
    reading: Reading


class ScriptParser(Protocol):
    """The parser of a script's language."""

    def version(self, hash_policy: HashPolicy, steps_per_byte: int = ...) -> str:
        """Everything besides a file's bytes that decides what is read from it."""
        ...

    def read(
        self, source: bytes, file_path: str, *, blob: str, hash_policy: HashPolicy, budget: WorkBudget, version: str
    ) -> tuple[ParsedFile, Reading]:
        """The symbols and facts of one file, and what they were read from."""
        ...


class _ComponentFile(Struct):
    """What is known of one file."""

    language: str
    source: bytes
    path: str
    hash_policy: HashPolicy
    blocks: ComponentBlocks
    scripts: Sequence[ScriptPart]
    markup: MarkupCode

    def parsed(self, parts: Sequence[ComponentPart], *, blob: str, version: str) -> ParsedFile:
        """The file as a whole."""
        blocks, scripts = self.blocks, self.scripts
        code = [line for script in scripts for line in script.reading.reader.lines]
        documents = [script.part.parsed.facts for script in scripts]
        docstring = blocks.comment or next(self._documentation(), None)
        component = self._component(code, docstring)
        modules = [Import(module, 0, None, None, None, line) for module, line in blocks.modules]
        symbols, joined = join_parts(component, parts, modules)
        if not (blocks.scripts or blocks.markup or blocks.modules):
            symbols, joined = (), {"references": NO_REFERENCES, "exports": (), "imports": (), "call_places": ()}
        text = "\n".join(line for _, line in self._lines(code, [(one.start, one.end) for one in blocks.scripts]))
        lost = [line for facts in documents for line in facts.lost_lines or ()]
        is_lost_known = any(facts.lost_definitions is not None for facts in documents)
        facts = FileFacts(
            file_path=self.path,
            blob=blob,
            language=self.language,
            parser=version,
            content_hash=content_hash(self.hash_policy, text, self.source),
            source=text,
            lines=count_lines(self.source),
            docstring=docstring,
            globals=tuple(dict.fromkeys(name for facts in documents for name in facts.globals)),
            syntax_errors=sum(facts.syntax_errors for facts in documents) + len(blocks.problems),
            reexports=tuple([one for facts in documents for one in facts.reexports or ()]),
            only_reexports=False,
            is_test=any(facts.is_test for facts in documents),
            literals=tuple(dict.fromkeys(text for facts in documents for text in facts.literals)),
            lost_definitions=sum(facts.lost_definitions or 0 for facts in documents) if is_lost_known else None,
            failure=some_of(blocks.problems, _MOST_TOLD, mark="; ") or None,
            lost_lines=tuple(sorted(lost)) or None,
            **joined,
        )
        return ParsedFile(facts, symbols)

    def _component(self, code: Sequence[Line], docstring: str | None) -> Symbol:
        """The class that the component is. Its source is that of its scripts and its markup below a line that names
        it."""
        blocks, scripts, markup = self.blocks, self.scripts, self.markup
        class_ = next(filter(None, (default_class(one.part.parsed) for one in scripts)), None)
        beside = {
            symbol.id
            for script in scripts
            for symbol in script.part.parsed.symbols
            if symbol is not class_ and (script.part.kind is ScriptRole.MODULE or symbol.name in script.part.shared)
        }
        name = component_name(self.path)
        name = f"{name}Component" if f"{self.path}{SEPARATOR}{name}" in beside else name
        hidden = [*blocks.styles, *((one.start, one.end) for one in blocks.scripts)]
        shown = [(node.start_byte, node.end_byte) for node in blocks.markup]
        lines = [(1, f"component {name}"), *self._lines(code, hidden, shown)]
        source = "\n".join(line for _, line in lines)
        members = [one for script in scripts for one in self._members(script)]
        members += [ComponentMember(event, "", start, is_event=True) for event, start in markup.events.items()]
        facts = [self._field(one.text, one.start, lines) for one in _distinct(members)[:MAX_FACTS]]
        facts += [self._field(f"slot {slot}", start, lines) for slot, start in [*markup.slots.items()][:MAX_FACTS]]
        return Symbol(
            id=f"{self.path}{SEPARATOR}{name}",
            type=SymbolType.CLASS,
            qualified_name=name,
            name=name,
            file_path=self.path,
            language=self.language,
            start_line=1,
            end_line=max(1, count_lines(self.source)),
            signature=f"component {name}",
            docstring=docstring or (class_.docstring if class_ else None),
            modifiers=(),
            bases=class_.bases if class_ else (),
            parent_id=None,
            complexity=1 + sum(script.reading.reader.branch_count for script in scripts),
            line_count=len(lines),
            is_public=True,
            content_hash=content_hash(self.hash_policy, source, self.source),
            canonical_source=source,
            line_map=tuple([real for real, _ in lines]),
            facts=SymbolFacts(fields=tuple(facts[:MAX_FACTS])),
            is_test=False,
        )

    def _members(self, script: ScriptPart) -> list[ComponentMember]:
        if self.language == SVELTE and script.part.kind is ScriptRole.MODULE:
            return []
        return members_of(self.language, script.reading.tree.root_node, self.source)

    def _field(self, text: str, start: int, lines: Sequence[Line]) -> Fact:
        """A field on the last canonical line that begins no later than a byte."""
        real = self.source.count(b"\n", 0, start) + 1
        line = max((at for at, (first, _) in enumerate(lines) if first <= real), default=0)
        return Fact(text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…", line + 1)

    def _lines(self, code: Sequence[Line], hidden: Sequence[Span], shown: Sequence[Span] | None = None) -> list[Line]:
        """The canonical lines of the scripts among all other lines, or those that are shown, which have no indent."""
        rest = blanked_out(self.source if shown is None else only_shown(self.source, sorted(shown)), sorted(hidden))
        others = ((number, line.strip()) for number, line in enumerate(rest.decode().split("\n"), 1))
        return sorted([*code, *((number, line) for number, line in others if line)], key=lambda line: line[0])

    def _documentation(self) -> Iterator[str]:
        """The comments of the scripts that are right above a default export."""
        tops = [script.reading.tree.root_node.named_children for script in self.scripts]
        above_defaults = (before for top in tops for before, node in pairwise(top) if _is_default(before, node))
        yield from filter(None, map(self._said_above, above_defaults))

    def _said_above(self, node: Node) -> str:
        """What a comment says, with those of one line right above it."""
        run: list[Node] = []
        above: Node | None = node
        while above is not None and above.type == "comment":
            if run and above.end_point.row + 1 != run[0].start_point.row:
                break
            run.insert(0, above)
            above = above.prev_named_sibling if len(run) < _LONGEST_RUN else None
        text = doc_text([self.source[one.start_byte : one.end_byte].decode() for one in run]).strip()
        return "" if is_note(text) else text


def _is_default(before: Node, node: Node) -> bool:
    """Whether a comment is right above a default export."""
    is_export = node.type == "export_statement" and child_of_type(node, "default") is not None
    return is_export and before.type == "comment" and before.end_point.row + 1 == node.start_point.row


def _read_markup(language: str, source: bytes, blocks: ComponentBlocks, scripts: Sequence[ScriptPart]) -> MarkupCode:
    """What the markup shows."""
    if language == VUE:
        imports = (one for script in scripts for one in script.part.parsed.facts.imports)
        imported = {name for one in imports if (name := one.alias or one.name)}
        return VueReader(source, imported).read(blocks.markup[0]) if blocks.markup else MarkupCode()
    return (SvelteReader if language == SVELTE else AstroReader)(source).read(blocks.markup)


class ComponentParser:
    """Reads the files of one language of components with the parsers of its scripts."""

    def __init__(self, language: str, parsers: Mapping[str, ScriptParser]) -> None:
        self._language, self._parsers = language, parsers

    def version(self, hash_policy: HashPolicy, steps_per_byte: int = STEPS_PER_BYTE) -> str:
        """Everything besides a file's bytes that decides what is read from it."""
        of_scripts = (
            self._parsers[name].version(hash_policy, steps_per_byte) for name in ("javascript", "typescript", "tsx")
        )
        return f"{self._language} {grammar_version(self._language)} {' '.join(of_scripts)}"

    def parse(
        self, source: bytes, file_path: str, *, blob: str, hash_policy: HashPolicy, budget: WorkBudget, version: str
    ) -> ParsedFile:
        """The symbols and facts of one file; `source` is UTF-8 with `\\n` line ends.

        What cannot be read is named in `failure`. Raises `MissingGrammar`, and `TooMuchWork` or `TooCostly` past the
        budget.
        """
        blocks = read_blocks(self._language, source, budget)
        scripts = self._scripts(source, file_path, blocks, hash_policy, budget)
        markup = _read_markup(self._language, source, blocks, scripts)
        parts = [one.part for one in scripts]
        if markup.statements:
            parsed, _ = self._parsers[_MARKUP_LANGUAGE].read(
                markup.code.encode(), file_path, blob="", hash_policy=hash_policy, budget=budget, version=""
            )
            parts.append(ComponentPart(ScriptRole.MARKUP, parsed))
        file = _ComponentFile(self._language, source, file_path, hash_policy, blocks, scripts, markup)
        return file.parsed(parts, blob=blob, version=version)

    def documentation(self, source: bytes, file_path: str, starts: Container[int], budget: WorkBudget) -> list[Span]:
        """The bytes, in order, of what documents the functions and classes that start in these lines of the scripts;
        raises as `parse`."""
        blocks = read_blocks(self._language, source, budget)
        scripts = self._scripts(source, file_path, blocks, HashPolicy.CANONICAL, budget)
        return sorted(span for one in scripts for span in one.reading.reader.documentation(starts))

    def _scripts(
        self, source: bytes, path: str, blocks: ComponentBlocks, hash_policy: HashPolicy, budget: WorkBudget
    ) -> tuple[ScriptPart, ...]:
        """The scripts that are read together are parts: all of Astro's, each one of the others; one part at least."""
        found = blocks.scripts or [ScriptBlock(0, 0, "javascript", False)]
        together = [found] if self._language == ASTRO else [[script] for script in found]
        parts = []
        for scripts in together:
            shown = only_shown(source, sorted((one.start, one.end) for one in scripts))
            parsed, reading = self._parsers[scripts[0].language].read(
                shown, path, blob="", hash_policy=hash_policy, budget=budget, version=""
            )
            kind = ScriptRole.MODULE if scripts[0].of_module else ScriptRole.INSTANCE
            is_shared = kind is ScriptRole.INSTANCE and self._language != SVELTE
            last_line = source.count(b"\n", 0, scripts[0].end) + 1
            exports = frozenset(parsed.facts.exports or ()) if is_shared else frozenset()
            shared = exports.difference(one.name for one in parsed.symbols if one.start_line > last_line)
            parts.append(ScriptPart(ComponentPart(kind, parsed, shared), reading))
        return tuple(parts)


def _distinct(members: Sequence[ComponentMember]) -> list[ComponentMember]:
    """Members by name, properties first."""
    named = {(one.is_event, one.name): one for one in reversed(members)}
    return sorted(named.values(), key=lambda one: (one.is_event, one.start))


def component_name(path: str) -> str:
    """`UserCard` of `user-card.vue`; of `Card/index.vue` its folder; `BlogPage` of SvelteKit's `blog/+page.svelte`."""
    folder, _, file = path.rpartition("/")
    stem = file.rpartition(".")[0]
    name = _pascal(stem)
    if stem.startswith("+"):
        name = _pascal(folder.rpartition("/")[2]) + name
    elif stem in _INDEX:
        name = _pascal(folder.rpartition("/")[2]) or name
    return name if name[:1].isalpha() else f"Page{name}"


def _pascal(written: str) -> str:
    words = _WORD.findall(written)
    shown = words[:1] + [word for word in words[1:] if word not in _SIDES]
    return "".join(word[:1].upper() + word[1:] for word in shown)
