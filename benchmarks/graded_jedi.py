"""A second opinion on calls of Python, by jedi, where the graph and an index disagree or the index is silent."""

import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.graded_calls import Definitions, PlacedCall, Tree
from benchmarks.graded_truth import TargetStatus, Truth
from codesum_pipeline.foundation.data_model.guard import FailureGuard
from codesum_pipeline.graph.resolvers.file_edges import CallOutcome

_FOLLOWED = ("function", "class", "property")

Opinion = tuple[PlacedCall, Truth, str]


def ask_jedi(tree: Tree, graded: Sequence[Opinion], folder: Path, chooser: Random, sample: int) -> None:
    """Print whom jedi agrees with, over a sample of each verdict; `folder` is where jedi lies."""
    sys.path.insert(0, str(folder.resolve()))
    jedi = import_module("jedi")
    project = jedi.Project(str(tree.folder), smart_sys_path=False, sys_path=[str(tree.folder)])
    definitions = Definitions(tree)
    by_verdict: defaultdict[str, list[Opinion]] = defaultdict(list)
    for call, truth, verdict in graded:
        is_silent = truth.status in (TargetStatus.SILENT, TargetStatus.MISNAMED, TargetStatus.UNRESOLVED)
        is_resolved = call.site.outcome is CallOutcome.RESOLVED
        if call.language == "python" and call.line and (verdict not in ("right", "not graded") or is_silent):
            name = f"{truth.status}, {'resolved' if is_resolved else 'not resolved'}" if is_silent else verdict
            by_verdict[name].append((call, truth, verdict))
    for name, opinions in sorted(by_verdict.items()):
        drawn = chooser.sample(opinions, min(sample, len(opinions)))
        counts = Counter(_agreement(jedi, project, tree, definitions, call, truth) for call, truth, _ in drawn)
        print(f"    jedi on {name}: {len(drawn)} of {len(opinions)} {dict(sorted(counts.items()))}", flush=True)


def _agreement(jedi: Any, project: Any, tree: Tree, definitions: Definitions, call: PlacedCall, truth: Truth) -> str:
    line = tree.line(call.site.file_path, call.line).encode("utf-8")
    column = len(line[: call.column].decode("utf-8", "replace"))
    guard, found = FailureGuard(), []
    # jedi's own faults are no opinion.
    with guard.item("jedi"):
        script = jedi.Script(path=str(tree.folder / call.site.file_path), project=project)
        found = script.goto(call.line, column, follow_imports=True, follow_builtin_imports=False)
    if guard.failures:
        return f"failed: {guard.failures[0].reason.partition(':')[0]}"
    followed = [name for name in found if name.type in _FOLLOWED and name.module_path]
    if not followed:
        return "no opinion"
    ids = {target for name in followed for target in _ids(tree, definitions, name)}
    if call.site.outcome is CallOutcome.RESOLVED and call.site.target in ids:
        return "with the graph"
    if ids & truth.targets or (not ids and truth.status is TargetStatus.OUTSIDE):
        return "with the index"
    return "neither, inside" if ids else "neither, outside"


def _ids(tree: Tree, definitions: Definitions, name: Any) -> list[str]:
    """The symbols that jedi's answer is; it goes on from a class to its constructor."""
    path = Path(name.module_path)
    if not path.is_relative_to(tree.folder) or name.line is None:
        return []
    relative = path.relative_to(tree.folder).as_posix()
    found = [definitions.at(relative, name.line, name.name)]
    if name.name == "__init__":
        found.append(definitions.class_around(relative, name.line))
    return [symbol.id for symbol in found if symbol is not None]
