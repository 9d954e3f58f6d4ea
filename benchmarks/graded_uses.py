"""Grades the references of a tree against a compiler: who uses what without calling it.

    python -m benchmarks.graded_uses TREE=TRUTH … [--language python] [--show N] [--seed 0]

TREE and TRUTH are those of `benchmarks.graph_graded`; lines of JSON must have all names, not calls alone. References
are joined by pairs of a user and what is used, since a build does not keep the place of each. A pair is right where the
compiler has the used at some name inside of the user, and wrong where it has something else at all names that are
spelled so. It is missed where a function or class has it, by the compiler, at a name that is neither a callee nor
declared there. What the compiler says nothing of is counted apart.
"""

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.graded_calls import PlacedCall, Tree, read_tree
from benchmarks.graded_truth import Judge, TargetStatus
from codesum_pipeline.foundation.data_model.edge import CallRow, Edge, EdgeKind
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, own_name
from codesum_pipeline.graph.resolvers.file_edges import CallOutcome

Pair = tuple[str, str]
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]*")


@dataclass(slots=True)
class Grades:
    """The pairs of one language; `silent` are those of which the compiler says nothing."""

    right: list[Pair] = field(default_factory=list)
    wrong: list[Pair] = field(default_factory=list)
    silent: list[Pair] = field(default_factory=list)
    missed: list[Pair] = field(default_factory=list)

    def row(self) -> str:
        right, wrong, missed = len(self.right), len(self.wrong), len(self.missed)
        shares = right / max(right + wrong, 1), right / max(right + missed, 1)
        return f"{right:,} | {wrong:,} | {missed:,} | {len(self.silent):,} | {shares[0]:.3f} | {shares[1]:.3f}"


@dataclass(slots=True)
class _Truths:
    """What the compiler says of the names inside of each user: the targets at each spelling, and those to be found."""

    targets: Mapping[tuple[str, str], list[frozenset[str]]]
    wanted: set[tuple[str, frozenset[str]]]


class _Users:
    """The innermost named symbol around a line: what functions without a name use, those around them use."""

    def __init__(self, tree: Tree) -> None:
        self._by_file: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
        for symbol in tree.symbols.values():
            if not symbol.is_unnamed:
                self._by_file[symbol.file_path].append((symbol.start_line, -symbol.end_line, symbol.id))

    def at(self, path: str, line: int) -> str:
        around = [one for one in self._by_file.get(path, ()) if one[0] <= line <= -one[1]]
        return max(around)[2] if around else path


def read_truths(tree: Tree, judge: Judge, bases: set[Pair]) -> _Truths:
    """All that the compiler says of names that are used."""
    users, callees = _Users(tree), {(call.site.file_path, call.line, call.column) for call in tree.calls}
    targets: dict[tuple[str, str], list[frozenset[str]]] = defaultdict(list)
    wanted: set[tuple[str, frozenset[str]]] = set()
    for path, line, column, text in judge.used_names():
        site = CallRow(path, 0, path, text, CallOutcome.UNKNOWN, None, None)
        truth = judge.find_truth(PlacedCall(site, tree.languages[path], line, column))
        if truth.status in (TargetStatus.SILENT, TargetStatus.MISNAMED, TargetStatus.UNRESOLVED):
            continue
        found = truth.targets or judge.constants_at(path, line, column)
        user = users.at(path, line)
        targets[user, text].append(found)
        ids = {target for target in found if target in tree.symbols or _CONSTANT.fullmatch(own_name(target))}
        is_inside = any(user == target or user.startswith(f"{target}{SEPARATOR}") for target in ids)
        is_base = any((user, target) in bases for target in ids)
        if ids and SEPARATOR in user and not is_inside and not is_base and (path, line, column) not in callees:
            wanted.add((user, found))
    return _Truths(targets, wanted)


def grade_uses(tree: Tree, judge: Judge, edges: list[Edge]) -> dict[str, Grades]:
    """The grades of each language."""
    uses = {(edge.src_id, edge.dst) for edge in edges if edge.kind is EdgeKind.REFERENCE}
    truths = read_truths(tree, judge, {(edge.src_id, edge.dst) for edge in edges if edge.kind is EdgeKind.INHERIT})
    of_user: dict[str, set[str]] = defaultdict(set)
    for (user, _), every_found in truths.targets.items():
        of_user[user].update(*every_found)
    grades: dict[str, Grades] = defaultdict(Grades)
    for user, used in sorted(uses):
        path = user.partition(SEPARATOR)[0]
        if not judge.covers(path):
            continue
        row = grades[tree.languages[path]]
        if used in of_user[user]:
            row.right.append((user, used))
        elif (user, own_name(used)) in truths.targets:
            row.wrong.append((user, used))
        else:
            row.silent.append((user, used))
    for user, targets in sorted(truths.wanted, key=lambda one: (one[0], sorted(one[1]))):
        if not any((user, target) in uses for target in targets):
            row = grades[tree.languages[user.partition(SEPARATOR)[0]]]
            row.missed.append((user, min(targets)))
    return grades


def _shown(tree: Tree, pairs: list[Pair], chooser: random.Random, count: int) -> Iterator[str]:
    for user, used in chooser.sample(pairs, min(count, len(pairs))):
        symbol, path = tree.symbols.get(user), user.partition(SEPARATOR)[0]
        first, last = (symbol.start_line, symbol.end_line) if symbol else (1, len(tree.lines.get(path, ())))
        named = re.compile(rf"\b{re.escape(own_name(used).rpartition('/')[2])}\b")
        lines = [(at, tree.line(path, at)) for at in range(first, last + 1) if named.search(tree.line(path, at))]
        yield f"{user} -> {used}"
        yield from (f"    {at}: {text.strip()[:140]}" for at, text in lines[:2])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="+", metavar="TREE=TRUTH")
    parser.add_argument("--language", action="append", default=[])
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    chooser = random.Random(arguments.seed)
    print("| tree | right | wrong | missed | silent | precision | recall |\n|---|---:|---:|---:|---:|---:|---:|")
    for pair in arguments.pairs:
        folder, _, truth = pair.partition("=")
        tree = read_tree(Path(folder).resolve(), arguments.language)
        for language, grades in sorted(grade_uses(tree, Judge(tree, Path(truth)), tree.edges).items()):
            print(f"| {tree.folder.name}, {language} | {grades.row()} |", flush=True)
            for name in ("wrong", "missed", "silent") if arguments.show else ():
                print(f"\n{name}:", *_shown(tree, getattr(grades, name), chooser, arguments.show), sep="\n")


if __name__ == "__main__":
    main()
