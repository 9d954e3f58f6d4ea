"""What stops a model from writing a text: the first gate that is shut, in one order; and what each gate looks at."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Set

import pyarrow.compute as pc
from msgspec import Struct

from codesum_pipeline.graph.trust import OF_TRUST, is_trusted
from codesum_pipeline.model.documents import Gate, PlanRow
from codesum_pipeline.model.guard import FailureGuard
from codesum_pipeline.model.ledger import CallTotals
from codesum_pipeline.parsing.testing import is_among, read_tests
from codesum_pipeline.settings.llm import Trust
from codesum_pipeline.settings.models import Settings
from codesum_pipeline.store.tables import TableStore
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.by_model.prices import predicted_call
from codesum_pipeline.summaries.extractive.upper import author_opening, author_opening_of_function
from codesum_pipeline.summaries.functions import docstrings_of
from codesum_pipeline.summaries.inputs import UpperInput
from codesum_pipeline.summaries.outline import DocumentTree
from codesum_pipeline.summaries.shown import module_layers


def gate_of(
    *,
    is_offline: bool,
    is_trusted: bool,
    is_left_out_test: bool,
    is_left_to_author: bool,
    has_text: bool,
    is_within_cap: bool,
    is_confirmed: bool,
) -> Gate | None:
    """The first gate that is shut for one document; None: a model writes the text, or wrote it.

    `has_text`: a text is kept or recorded, so no call is needed; only trust holds it back. What is left out has no kept
    text, though a recording may hold one.
    """
    is_call = not has_text
    shut = (
        (Gate.OFFLINE, is_call and is_offline),
        (Gate.TRUST, not is_trusted),
        (Gate.TESTS, is_left_out_test),
        (Gate.DOCUMENTED, is_left_to_author),
        (Gate.CAP, is_call and not is_within_cap),
        (Gate.CONFIRM, is_call and not is_confirmed),
    )
    return next((gate for gate, is_shut in shut if is_shut), None)


class CallCandidate(Struct, frozen=True):
    """A document that needs a call: its importance, its price, and whether it has a text already.

    `above` are the documents that hold it, nearest first, and `layer` is lower than theirs. With `if_below` it is
    written again only where something in it is.
    """

    id: Hashable
    importance: float
    is_new: bool
    predicted_usd: float
    above: tuple[Hashable, ...] = ()
    if_below: bool = False
    layer: tuple[int, int] = (0, 0)
    is_documented: bool = False


def within_caps(callers: Iterable[CallCandidate], *, most: int, most_usd: float | None) -> set[Hashable]:
    """The documents that fit the caps, taken in order; one that is too expensive is skipped for cheaper ones.

    A document waits while something in it is left to a later run: its text would be written, and paid, again then.
    """
    chosen: set[Hashable] = set()
    waiting: set[Hashable] = set()
    spent = 0.0
    for caller in in_order(callers):
        has_room = len(chosen) < most and (most_usd is None or spent + caller.predicted_usd <= most_usd)
        if has_room and caller.id not in waiting:
            spent += caller.predicted_usd
            chosen.add(caller.id)
        else:
            waiting.update(caller.above)
    return chosen


def in_order(callers: Iterable[CallCandidate]) -> list[CallCandidate]:
    """The order in which the model is called for documents.

    From the bottom up, what nobody documented first, then the most important, changed before new, and by id.
    """
    return sorted(
        callers,
        key=lambda caller: (caller.layer, caller.is_documented, -caller.importance, caller.is_new, str(caller.id)),
    )


def needs_confirmation(chosen: Iterable[CallCandidate], existing: int, most: float) -> bool:
    """Whether a model is about to write more than this share of the `existing` texts again.

    Its own texts count, for what was paid for would be paid for again; not the
    first text of a document, which the caps let through, and not what is only
    written along with something in it.
    """
    rewritten = sum(not caller.is_new and not caller.if_below for caller in chosen)
    return rewritten > most * existing


def importance_of(workspace: Workspace, outline: DocumentTree) -> Mapping[str, float]:
    """PageRank of functions; of classes, files and folders that of their members together."""
    table = workspace.tables.read_or_empty("graph_stats", workspace.key, columns=["id", "pagerank"])
    ranks: dict[str, float] = dict(
        zip(table.column("id").to_pylist(), table.column("pagerank").to_pylist(), strict=True)
    )
    worth: dict[str, float] = {}
    for id_ in outline.parents:
        if outline.children.get(id_):
            continue
        for holder in (id_, *outline.above(id_)):
            worth[holder] = worth.get(holder, 0.0) + ranks.get(id_, 0.0)
    return worth


class TrustCount(Struct, frozen=True):
    """Of the documents that a model may write: how many pass the gate, and what the others would cost."""

    edges: int
    passing: int
    waiting: CallTotals


def count_trust(tables: TableStore, key: str, settings: Settings) -> TrustCount | None:
    """The effect of `Trust.SCIP` in a built repository; None where no model writes, or trust is off."""
    if not settings.llm.enabled or settings.llm.trust is Trust.OFF:
        return None
    edges = tables.read_or_empty("edges", key, columns=list(OF_TRUST))
    gates = tables.read_or_empty("documents", key, columns=["gate"]).column("gate").to_pylist()
    waiting = (row for row in tables.read_rows_or_empty("plan", key, PlanRow) if row.gate is Gate.TRUST)
    return TrustCount(
        edges=pc.sum(is_trusted(edges)).as_py() or 0,
        passing=sum(gate not in (Gate.PLACEHOLDER, Gate.TRUST) for gate in gates),
        waiting=sum(map(predicted_call, waiting), CallTotals()),
    )


def trusted_ids(workspace: Workspace, outline: DocumentTree) -> Collection[str] | None:
    """The symbols at an edge of a SCIP index, and all that holds one of them; None: everything."""
    if workspace.settings.llm.trust is Trust.OFF:
        return None
    edges = workspace.tables.read("edges", workspace.key, columns=["src_id", "dst", *OF_TRUST])
    sure = edges.filter(is_trusted(edges))
    found = {*sure.column("src_id").to_pylist(), *sure.column("dst").to_pylist()} & outline.parents.keys()
    return found | outline.all_above(found)


class TestCode:
    """The files and single definitions of test code, and the folders of nothing else."""

    # Not a class of tests, whatever its name makes of it.
    __test__ = False

    def __init__(self, workspace: Workspace, outline: DocumentTree) -> None:
        found = {*read_tests(workspace.tables, workspace.key)}
        for folder in (path for layer in module_layers(outline) for path in layer):
            if all(child.id in found for child in outline.children[folder]):
                found.add(folder)
        self._found: Set[str] = found

    def __contains__(self, id_: str) -> bool:
        return is_among(self._found, id_)


class Documentation:
    """Which documents their authors documented; each is read once."""

    def __init__(self, workspace: Workspace, guard: FailureGuard) -> None:
        self._workspace = workspace
        self._guard = guard
        self._functions: dict[str, bool] = {}
        self._others: dict[str, bool] = {}

    def look_at_functions(self, ids: Collection[str]) -> None:
        """Read those functions' docstrings that were not yet."""
        missing = [id_ for id_ in ids if id_ not in self._functions]
        for id_, language, name, docstring in docstrings_of(self._workspace, missing) if missing else ():
            self._functions[id_] = False
            with self._guard.item(id_):
                self._functions[id_] = bool(author_opening_of_function(docstring, language, name))

    def of_function(self, id_: str) -> bool:
        """Whether a function is documented; False where it was not read."""
        return self._functions.get(id_, False)

    def of_upper(self, given: UpperInput) -> bool:
        """Whether a class, file or folder is documented by itself."""
        if given.id not in self._others:
            self._others[given.id] = False
            with self._guard.item(given.id):
                self._others[given.id] = bool(author_opening(given))
        return self._others[given.id]
