"""A language's spec in its grammar's own numbers, so that a token costs one look-up."""

from collections.abc import Callable, Container, Iterable, Mapping
from typing import TypeVar

from msgspec import Struct, field
from tree_sitter import Language, Node, Parser

from codesum_pipeline.languages.declarations.hooks import is_longer_than_one
from codesum_pipeline.languages.declarations.spec import Holds, LanguageSpec, Spell
from codesum_pipeline.languages.declarations.token_spacing import OPERANDS, TokenSpacing, is_spaced, settle_spacing
from codesum_pipeline.symbols.parsing.node_roles import LAID_OUT, NodeRole

T = TypeVar("T")
# The kind id that tree-sitter gives what it could not parse.
ERROR_KIND = 65535
ERROR_NAME = "ERROR"


# Added to the kind of a node that is laid out flat.
FLAT = 65536
# Added to the kind of a node without its brackets, or whose parts are one.
BARE = 2 * FLAT
# Added to the class of a bracket before which a comma is left out.
WITHOUT_COMMA = 32
CLOSERS = (")", "]", "}", ">")
OMITTED_IF_BARE = ("(", ")", ";")


# What follows a token of one class, by kind: the blank before it with, for a fixed token, its
# spelling, and the class that it settles to. None if that depends on the parent.
Step = tuple[str, int]
Follow = dict[int, Step | None]


# Whether a node of a defining kind defines something: None if not.
Define = Callable[[Node], object | None]


class Grammar(Struct):
    """A `LanguageSpec` in the grammar's own numbers, so that a token costs one look-up.

    `follow` is indexed by the class of the token before; `follow_in` has the
    steps that depend on the parent, by (class before, parent, kind). It
    remembers those that files have needed; nothing else in a grammar changes.
    """

    language: Language
    names: tuple[str, ...]
    roles: Mapping[int, int]
    follow: tuple[Follow, ...]
    follow_in: Mapping[tuple[int, int, int], Step]
    define: Define | None = None
    flat: Mapping[int, Callable[[Node], bool]] = field(default_factory=dict)
    count_branches: Callable[[Node], int] = lambda node: 1
    bare: Mapping[int, Holds] = field(default_factory=dict)
    respelled: Mapping[int, Spell] = field(default_factory=dict)
    lists: Mapping[int, Callable[[Node], bool]] = field(default_factory=dict)
    terminated: Mapping[int, Callable[[Node], bool]] = field(default_factory=dict)

    def parser(self) -> Parser:
        """A new parser; parsers are not shared between threads."""
        return Parser(self.language)


def compile_grammar(
    spec: LanguageSpec, define: Define | None = None, defining: Iterable[str] = (), marked: Iterable[str] = ()
) -> Grammar:
    """Look up every name of `spec` in its grammar.

    Nodes of the `defining` kinds are shown to `define`; `marked` are those that a language asks for.
    """
    language = Language(spec.grammar())
    kinds = _Kinds(language, spec.atoms)
    classes = _token_classes(spec, kinds)
    contextual = {kind for _, name in spec.tokens_in for kind in kinds.called(name)}
    for parent, _ in spec.tokens_in:
        kinds.called(parent)
    if spec.bare:
        contextual.update(kind for name in OMITTED_IF_BARE for kind in kinds.by_name.get(name, ()))
    lists: dict[str, Callable[[Node], bool]] = {
        **dict.fromkeys(spec.lists, lambda node: True),
        **dict.fromkeys(spec.tuples, is_longer_than_one),
        **spec.other_lists,
    }
    terminated: dict[str, Callable[[Node], bool]] = {**dict.fromkeys(spec.ended, lambda node: True), **spec.terminated}
    closers = {kind for name in CLOSERS for kind in kinds.by_name.get(name, ())} if lists else set()
    return Grammar(
        language=language,
        names=kinds.names,
        roles=_roles(spec, kinds, frozenset(defining), frozenset(marked)),
        follow=tuple(
            {
                kind: None
                if kind in contextual or (before is TokenSpacing.COMMA and kind in closers)
                else _step(before, token, kinds.spelling(kind))
                for kind, token in classes.items()
            }
            for before in TokenSpacing
        ),
        follow_in=_FollowIn(spec, kinds, classes, lists),
        define=define,
        flat=kinds.keyed({**spec.flat, **spec.hollow}),
        count_branches=spec.count_branches,
        bare=kinds.keyed({**spec.bare, **spec.merged}),
        respelled=kinds.keyed(spec.respelled),
        lists=kinds.keyed(lists),
        terminated=kinds.keyed(terminated),
    )


class _FollowIn(dict[tuple[int, int, int], Step]):
    """`Grammar.follow_in`, filled as files need it: a file contains few of all combinations."""

    def __init__(
        self, spec: LanguageSpec, kinds: "_Kinds", classes: Mapping[int, TokenSpacing], lists: Container[str]
    ) -> None:
        super().__init__()
        self._spec = spec
        self._kinds = kinds
        self._classes = classes
        self._lists = lists

    def __missing__(self, key: tuple[int, int, int]) -> Step:
        before, parent, kind = key
        around = ERROR_NAME if parent == ERROR_KIND else self._kinds.names[parent % FLAT]
        name = self._kinds.names[kind]
        token = self._spec.tokens_in.get((around, name), self._classes[kind])
        if parent >= BARE and name in OMITTED_IF_BARE:
            token = TokenSpacing.OMITTED
        step = _step(TokenSpacing(before), token, self._kinds.spelling(kind))
        if before == TokenSpacing.COMMA and around in self._lists and name in CLOSERS:
            step = (step[0], step[1] + WITHOUT_COMMA)
        self[key] = step
        return step


class _Kinds:
    """The kinds of a grammar by number and by name; several kinds may share a name."""

    def __init__(self, language: Language, as_written: frozenset[str]) -> None:
        self._grammar = language.name
        self._as_written = as_written
        self.all = range(language.node_kind_count)
        self.names = tuple([language.node_kind_for_id(kind) or "" for kind in self.all])
        self.named = frozenset(kind for kind in self.all if language.node_kind_is_named(kind))
        self.by_name: dict[str, list[int]] = {}
        for kind, name in enumerate(self.names):
            self.by_name.setdefault(name, []).append(kind)

    def called(self, name: str) -> list[int]:
        """All kinds of a name: node types and tokens."""
        if name not in self.by_name:
            raise LookupError(f"the grammar {self._grammar!r} has no node or token {name!r}")
        return self.by_name[name]

    def keyed(self, by_name: Mapping[str, T]) -> dict[int, T]:
        """A mapping from names of node types by their numbers."""
        return {kind: value for name, value in by_name.items() for kind in self.node_types(name)}

    def node_types(self, name: str) -> list[int]:
        """The node types of a name, or its tokens where it has no node type."""
        return [kind for kind in self.called(name) if kind in self.named] or self.called(name)

    def tokens(self, name: str) -> list[int]:
        """The tokens of a name, or its node types where it is no token."""
        return [kind for kind in self.called(name) if kind not in self.named] or self.called(name)

    def spelling(self, kind: int) -> str:
        """The text of a token that has only one, one character per byte; empty for the others.

        A grammar may give one name to several (Ruby's `%w[` and `%w(`): such are atoms.
        """
        if kind == ERROR_KIND or kind in self.named:
            return ""
        name = self.names[kind]
        return "" if name in self._as_written or any(map(str.isspace, name)) else name.encode().decode("latin-1")


def _roles(spec: LanguageSpec, kinds: _Kinds, defining: frozenset[str], marked: frozenset[str]) -> dict[int, int]:
    roles = {kind: NodeRole.FIXED if kinds.spelling(kind) else 0 for kind in kinds.all}
    braces, parens = ("{}" if spec.braced else ""), ("()" if spec.parened else "")
    # What is a matter of tokens, even where a node type has their name (Ruby's `begin`).
    by_token = {
        NodeRole.BRACE: (spec.openers | spec.closers if spec.braced else frozenset()).union(braces),
        NodeRole.PAREN: frozenset(parens),
        NodeRole.CLOSING: spec.closers.union(braces[1:], parens[1:]),
    }
    by_type = {
        NodeRole.LINE: spec.lines, NodeRole.BLOCK: spec.blocks, NodeRole.ATOM: spec.atoms,
        NodeRole.DROPPED: spec.dropped | spec.comments | spec.remarks, NodeRole.COMMENT: spec.comments | spec.remarks,
        NodeRole.BRACED: spec.braced,
        NodeRole.PARENED: spec.parened, NodeRole.HANGING: spec.hanging, NodeRole.OUTDENTED: spec.outdented,
        NodeRole.FLEXIBLE: {*spec.flat, *spec.hollow}, NodeRole.TRIMMED: spec.trimmed, NodeRole.LOWERED: spec.lowered,
        NodeRole.SEPARATOR: spec.separators, NodeRole.TRAILING: spec.trailing, NodeRole.DEEP: spec.deep,
        NodeRole.ROW_MARK: spec.row_marks, NodeRole.GLUED: spec.glued, NodeRole.ROWS: spec.rows,
        NodeRole.RESTART: spec.restarts, NodeRole.FOLDED: spec.folded, NodeRole.DIRECTIVE: spec.directives,
        NodeRole.DIRECTIVE_TEXT: spec.directive_texts, NodeRole.CONTAINER: spec.containers | spec.blocks,
        NodeRole.DEFINING: defining - {ERROR_NAME}, NodeRole.WRAPPER: spec.wrappers,
        NodeRole.MARKED: marked | spec.wrappers,
        NodeRole.BRANCH: spec.branches, NodeRole.ENCLOSED: {*spec.bare, *spec.merged},
        NodeRole.RESPELLED: spec.respelled, NodeRole.TERMINATED: {*spec.ended, *spec.terminated},
        NodeRole.NAMING: spec.words,
    }  # fmt: skip
    for table, kinds_of in ((by_token, kinds.tokens), (by_type, kinds.node_types)):
        for bit, names in table.items():
            for name in names:
                for kind in kinds_of(name):
                    roles[kind] |= bit
    if not (spec.containers or spec.braced or spec.rows):
        roles = {kind: role if role & NodeRole.FIXED else role | NodeRole.CONTAINER for kind, role in roles.items()}
    roles[ERROR_KIND] = NodeRole.ERROR | NodeRole.CONTAINER | (NodeRole.DEFINING if ERROR_NAME in defining else 0)
    roles.update({kind + FLAT: role & ~LAID_OUT for kind, role in roles.items() if role & NodeRole.FLEXIBLE})
    roles.update({kind + FLAT: NodeRole.DROPPED for name in spec.hollow for kind in kinds.node_types(name)})
    for name in spec.bare:
        roles.update({kind + BARE: roles[kind] for kind in kinds.node_types(name)})
    for name in spec.merged:
        roles.update({kind + BARE: NodeRole.ATOM | NodeRole.RESPELLED for kind in kinds.node_types(name)})
    return roles


def _token_classes(spec: LanguageSpec, kinds: _Kinds) -> dict[int, TokenSpacing]:
    classes = {kind: TokenSpacing.WORD if kind in kinds.named else TokenSpacing.INFIX for kind in kinds.all}
    for name, token in spec.tokens.items():
        classes.update(dict.fromkeys(kinds.called(name), token))
    classes[ERROR_KIND] = TokenSpacing.WORD
    return classes


def _step(before: TokenSpacing, token: TokenSpacing, spelling: str) -> Step:
    if token is TokenSpacing.OMITTED:
        return ("", int(before))
    if token is TokenSpacing.BETWEEN:
        if before not in OPERANDS:
            return ("", int(before))
        token = TokenSpacing.INFIX
    settled = settle_spacing(before, token)
    if token is TokenSpacing.LED and before not in (TokenSpacing.COMMA, TokenSpacing.START):
        return (f"; {spelling}", int(settled))
    return ((" " if is_spaced(before, settled) else "") + spelling, int(settled))
