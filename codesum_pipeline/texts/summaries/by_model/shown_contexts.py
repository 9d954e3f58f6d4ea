"""What a model is shown of a function's surroundings, and when that has become another context.

A context is updated with every change of the graph; a text is written again
for it only past two thresholds, or on any change under `GraphPolicy.STRICT`.

Shown are what holds a function and its file, in a line each, and its callees' signatures.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from codesum_pipeline.evidence.author_texts.plain_sentences import clip_text, make_printable
from codesum_pipeline.evidence.extractive.extractive_parents import author_opening
from codesum_pipeline.evidence.inputs import ClassInput, FileInput
from codesum_pipeline.foundation.data_model.document import ContextNeighbour, TextContext
from codesum_pipeline.foundation.data_model.edge import EdgeKind
from codesum_pipeline.foundation.data_model.hashing import hash_of
from codesum_pipeline.foundation.data_model.ids import SEPARATOR
from codesum_pipeline.foundation.settings.stage_settings import ContextSettings, GraphPolicy
from codesum_pipeline.foundation.store.rows import lists_of_field, rows_with, tuples_of
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline.graph.resolvers.families import family_of
from codesum_pipeline.source.masking.secrets import mask_secrets
from codesum_pipeline.symbols.parsing.testing import is_among_tests, read_tests
from codesum_pipeline.texts.summaries.neighbours import name_of_document
from codesum_pipeline.texts.summaries.outline import base_name, read_classes

_MAX_HEAD_CHARS = 200
_MAX_OPENING_CHARS = 300
_MAX_FIELDS_CHARS = 300
# Further callees are shown by name only; by default five are sampled.
_MAX_SIGNATURES = 10
# In Python, Ruby and JavaScript, classes need not declare what their objects hold.
_CONSTRUCTORS = ("__init__", "constructor", "initialize")
_OWN = ("self.", "this.", "@")


class Piece(Struct, frozen=True):
    """One line about other code; `code` is the part of it whose names are that code's. `is_name_alone`: a class with
    nothing else known."""

    id: str
    line: str
    code: str
    is_name_alone: bool = False

    @property
    def neighbour(self) -> ContextNeighbour:
        """The piece as a neighbour, by the hash of its line: a class or file that only moved is the same."""
        return ContextNeighbour(self.id, hash_of(self.line))


def _shown(text: str, limit: int) -> str:
    """A text of others as it is shown."""
    return clip_text(make_printable(mask_secrets(text).text), limit)


def _path_of(id_: str) -> str:
    return id_.partition(SEPARATOR)[0]


def _name_alone(id_: str) -> Piece:
    return Piece(id_, f"calls {_shown(name_of_document(id_), _MAX_HEAD_CHARS)}", "")


def _class_piece(class_: ClassInput) -> Piece:
    head, fields = _head_and_fields(class_)
    documented = replace(class_, docstring=mask_secrets(class_.docstring or "").text)
    parts = [f"in class: {head}", *_quoted(author_opening(documented)), *fields]
    is_name_alone = len(parts) == 1 and not class_.bases
    return Piece(class_.id, "; ".join(parts), "; ".join((head, *fields)), is_name_alone)


def _head_and_fields(class_: ClassInput) -> tuple[str, list[str]]:
    fields = _shown(", ".join(class_.fields), _MAX_FIELDS_CHARS)
    return _shown(class_.signature, _MAX_HEAD_CHARS), [f"fields: {fields}"] if fields else []


def _attributes(writes: Sequence[str]) -> tuple[str, ...]:
    """The attributes of its own object among what a constructor assigns."""
    bare = (text.removeprefix(mark) for text in writes for mark in _OWN if text.startswith(mark))
    return tuple(dict.fromkeys(name for name in bare if name.isidentifier()))


def _file_piece(path: str, language: str, docstring: str | None) -> Piece:
    """A file by its name alone: where it lies says nothing about its functions."""
    name = base_name(path)
    documented = FileInput(name, name, language, mask_secrets(docstring or "").text, (), (), None, ())
    parts = [f"in file: {make_printable(name)}", *_quoted(author_opening(documented))]
    return Piece(path, "; ".join(parts), name.partition(".")[0])


def _quoted(opening: str) -> list[str]:
    """The opening of a class's or file's documentation, in quotes, so that it does not read as part of the prompt."""
    return [f'it says "{clip_text(opening, _MAX_OPENING_CHARS)}"'] if opening else []


NO_NEIGHBOURS = TextContext((), (), (), ())


class ShownContext(Struct, frozen=True):
    """What a model is shown: the callers' qualified names, sorted and without repetition, and a line each about what
    holds the function and about its callees. A function that moves to another file is shown the same.

    `code` is the part of the lines whose names are other code's.
    """

    called_by: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()
    callees: tuple[str, ...] = ()
    code: str = ""


class Contexts:
    """The neighbourhoods of functions in the present graph: the classes, files and callees around them.

    Each table is read at its first use, each class, file and callee is described at the first question about it, and
    both are remembered.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._holder = cache(self._holder_piece)
        self._callee = cache(self._callee_piece)

    def of(self, id_: str) -> TextContext:
        """The neighbourhood of a function with its class and file; no neighbours where the graph knows none."""
        context = self._graph.get(id_, NO_NEIGHBOURS)
        holders, callees = self._around(id_, context)
        return replace(context, around=tuple(piece.neighbour for piece in (*holders, *callees)))

    def shown(self, id_: str) -> ShownContext:
        """The neighbourhood of a function as a model is shown it."""
        context = self._graph.get(id_, NO_NEIGHBOURS)
        holders, callees = self._around(id_, context)
        names = names_of_neighbours(context.called_by)
        return ShownContext(
            called_by=tuple(dict.fromkeys(_shown(name, _MAX_HEAD_CHARS) for name in names)),
            holders=tuple(piece.line for piece in holders),
            callees=tuple(piece.line for piece in callees),
            code="\n".join(piece.code for piece in (*holders, *callees)),
        )

    def _around(self, id_: str, context: TextContext) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
        """What holds a function, the nearest first and its file last; and its callees, by name.

        Outer holders are left out where they say no more than the function's qualified name.
        """
        path = _path_of(id_)
        may_show = [above for above in self._above(id_) if _path_of(above) == path or not self._is_unsent(above)]
        around = [piece for above in may_show if (piece := self._holder(above))]
        holders = (*around[:1], *(piece for piece in around[1:] if not piece.is_name_alone))
        ordered = sorted(one.id for one in context.calls)
        called = [self._callee(callee) for callee in ordered[:_MAX_SIGNATURES]]
        called += [_name_alone(callee) for callee in ordered[_MAX_SIGNATURES:]]
        by_line = {piece.line: piece for piece in called}
        return holders, tuple(by_line[line] for line in sorted(by_line))

    @cached_property
    def _graph(self) -> Mapping[str, TextContext]:
        return _read(self._workspace)

    @cached_property
    def _symbols(self) -> Mapping[str, tuple[str | None, str]]:
        """The parent and the signature of each symbol."""
        names = ["id", "parent_id", "signature"]
        table = self._workspace.tables.read("symbols", self._workspace.key, columns=names)
        return {id_: (parent, signature) for id_, parent, signature in tuples_of(table, names)}

    @cached_property
    def _classes(self) -> Mapping[str, ClassInput]:
        """With the attributes that a constructor sets, where the class declares none."""
        found = {head.id: head for head in read_classes(self._workspace)}
        for id_, writes in self._constructors():
            head = found.get(id_.rpartition(SEPARATOR)[0])
            if head and not head.fields:
                found[head.id] = replace(head, fields=_attributes(writes))
        return found

    def _constructors(self) -> Iterator[tuple[str, Sequence[str]]]:
        """The ids of constructors, and what each of them assigns."""
        for table in self._workspace.tables.read_parts("symbols", self._workspace.key, columns=["id", "name", "facts"]):
            rows = rows_with(table, _CONSTRUCTORS, "name")
            writes = lists_of_field(pc.struct_field(rows.column("facts"), "writes"), "text")
            yield from zip(rows.column("id").to_pylist(), writes.to_pylist(), strict=True)

    @cached_property
    def _files(self) -> Mapping[str, tuple[str, str | None]]:
        """The language and the documentation of each file."""
        names = ["file_path", "language", "docstring"]
        table = self._workspace.tables.read("file_facts", self._workspace.key, columns=names)
        return {path: (language, docstring) for path, language, docstring in tuples_of(table, names)}

    @cached_property
    def _unsent(self) -> frozenset[str]:
        """Files and single definitions whose code is not sent: tests, unless the settings say so."""
        if self._workspace.settings.llm.tests:
            return frozenset()
        return read_tests(self._workspace.tables, self._workspace.key)

    def _above(self, id_: str) -> Iterator[str]:
        """The ids that hold a symbol, the nearest first. A method may be in another file than its class, which is then
        found by name: the one class of that name and family of languages whose code is sent."""
        above = self._symbols.get(id_, (None, ""))[0]
        if above is None:
            language, _ = self._files.get(_path_of(id_), ("", None))
            above = self._elsewhere.get((family_of(language), name_of_document(id_).rpartition(".")[0]))
        while above is not None:
            yield above
            above = self._symbols.get(above, (None, ""))[0]
        yield _path_of(id_)

    @cached_property
    def _elsewhere(self) -> Mapping[tuple[str, str], str]:
        """Classes by family of languages and qualified name, where only one has both."""
        sent = [head for head in self._classes.values() if not self._is_unsent(head.id)]
        named = [((family_of(head.language), name_of_document(head.id)), head.id) for head in sent]
        count = Counter(name for name, _ in named)
        return {name: id_ for name, id_ in named if count[name] == 1}

    def _is_unsent(self, id_: str) -> bool:
        return is_among_tests(self._unsent, id_)

    def _holder_piece(self, id_: str) -> Piece | None:
        if id_ in self._classes:
            return _class_piece(self._classes[id_])
        if id_ in self._symbols:
            signature = _shown(self._symbols[id_][1], _MAX_HEAD_CHARS)
            return Piece(id_, f"in function: {signature}", signature)
        return _file_piece(id_, *self._files[id_]) if id_ in self._files else None

    def _callee_piece(self, id_: str) -> Piece:
        if self._is_unsent(id_):
            return _name_alone(id_)
        name = _shown(name_of_document(id_), _MAX_HEAD_CHARS)
        if id_ in self._classes:
            head, fields = _head_and_fields(self._classes[id_])
        else:
            head, fields = _shown(self._symbols[id_][1], _MAX_HEAD_CHARS), []
        code = "; ".join((head, *fields))
        return Piece(id_, f"calls {name}: {code}", code)


def find_context_changes(then: TextContext | None, now: TextContext, settings: ContextSettings) -> tuple[str, ...]:
    """The ids that changed a context, sorted; none if it counts as the same. None is one without neighbours."""
    then = then or NO_NEIGHBOURS
    if settings.graph_policy is GraphPolicy.STRICT:
        if hash_of_shown(then) == hash_of_shown(now):
            return ()
        known = {one.content_hash for one in then.around or ()}
        changed = {one.id for one in now.around or () if one.content_hash not in known}
        return tuple(sorted(changed | (_ids(then) ^ _ids(now)))) or tuple(sorted(_ids(now)))
    if _similarity(then, now) > settings.context_similarity_threshold:
        return ()
    new_callers = set(now.callers) - set(then.callers)
    new_across = set(now.cross_module) - set(then.cross_module)
    if not new_across and len(new_callers) <= settings.max_new_callers:
        return ()
    return tuple(sorted(new_across | new_callers))


def hash_of_shown(context: TextContext) -> str:
    """A hash of all that a model is shown of it."""
    around = None if context.around is None else sorted(one.content_hash for one in context.around)
    return hash_of([names_of_neighbours(context.called_by), names_of_neighbours(context.calls), around])


def names_of_neighbours(neighbours: Sequence[ContextNeighbour]) -> tuple[str, ...]:
    """Their qualified names, sorted and without repetition."""
    return tuple(sorted({name_of_document(one.id) for one in neighbours}))


def _similarity(then: TextContext, now: TextContext) -> float:
    """The Jaccard index of two contexts; a neighbour that only moved (same content) is the same."""
    common = 0
    total = 0
    for old, new in ((then.called_by, now.called_by), (then.calls, now.calls)):
        ids = {one.id for one in old} & {one.id for one in new}
        moved = {one.content_hash for one in old if one.id not in ids} & {
            one.content_hash for one in new if one.id not in ids
        }
        same = len(ids) + len(moved)
        common += same
        total += len(old) + len(new) - same
    return common / total if total else 1.0


def _read(workspace: Workspace) -> dict[str, TextContext]:
    key, tables = workspace.key, workspace.tables
    symbols = tables.read("symbols", key, columns=["id", "content_hash"])
    hashes = dict(tuples_of(symbols, ("id", "content_hash")))
    contexts = tables.read("contexts", key, columns=["id", "called_by", "calls"])
    callers, across = _neighbours(tables.read("edges", key, columns=list(_EDGE_COLUMNS)))
    return {
        id_: TextContext(
            _known(called_by, hashes), _known(calls, hashes), tuple(sorted(callers[id_])), tuple(sorted(across[id_]))
        )
        for id_, called_by, calls in tuples_of(contexts, ("id", "called_by", "calls"))
        if id_ in hashes
    }


_EDGE_COLUMNS = ("src_id", "dst", "is_external", "kind", "is_cross_module")


def _neighbours(edges: pa.Table) -> tuple[defaultdict[str, set[str]], defaultdict[str, set[str]]]:
    """The callers of each symbol, and of each its neighbours by calls across modules."""
    calls = edges.filter(pc.and_not(pc.equal(edges.column("kind"), EdgeKind.CALL.value), edges.column("is_external")))
    callers: defaultdict[str, set[str]] = defaultdict(set)
    across: defaultdict[str, set[str]] = defaultdict(set)
    for src, dst, is_across in tuples_of(calls, ("src_id", "dst", "is_cross_module")):
        callers[dst].add(src)
        if is_across:
            across[src].add(dst)
            across[dst].add(src)
    return callers, across


def _known(ids: Iterable[str], hashes: dict[str, str]) -> tuple[ContextNeighbour, ...]:
    """Symbols among the neighbours: a file that calls at its top level has no name but its path."""
    return tuple(ContextNeighbour(id_, hashes[id_]) for id_ in sorted(set(ids)) if id_ in hashes)


def _ids(context: TextContext) -> set[str]:
    return {one.id for one in (*context.called_by, *context.calls)}
