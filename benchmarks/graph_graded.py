"""Grades the call graph's edges against compilers: how many are right, and how many of all it finds.

    python -m benchmarks.graph_graded TREE=TRUTH … [--language python] [--jedi PATH] [--sample 300] [--seed 0]
                                      [--show N] [--kind K] [--reason R] [--json FILE]

TRUTH is a SCIP index of exactly that tree, or lines of JSON (`benchmarks/graded_truth.py`; `benchmarks/graders/`
makes some). The tree is parsed and resolved as a build does it, and each call joined to what the compiler says at the
place of the callee's name. A call counts where the compiler names a function or class that has a document here: it is
right, wrong or missed. An edge to something inside where the compiler names something outside is wrong too. A class is
its constructor. Precision is right / (right + wrong), recall right / (right + wrong + missed). What cannot be graded is
counted with its reason: a compiler, too, is silent about an object of which no type is known.

`--jedi` names a folder with jedi in it, which is asked about a sample of the calls of Python where the graph and the
index disagree, or the index is silent. `--show` prints some of the wrong and of the missed.
"""

import argparse
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from msgspec import to_builtins

from benchmarks.graded_calls import PlacedCall, Tree, read_tree
from benchmarks.graded_jedi import ask_jedi
from benchmarks.graded_truth import Judge, TargetStatus, Truth
from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.graph.resolvers.file_edges import CallOutcome

_DECORATOR = re.compile(r"^\s*@\s*[\w.]*$")
_NEW = re.compile(r"\bnew\s+(?:[\w$]+\s*\.\s*)*$")
_ATTRIBUTE = re.compile(r"(\S*?)\s*(?:\?\.|\.|->|::)\s*#?$")
_OWN = frozenset({"self", "cls", "this", "$this"})
_SUPER = re.compile(r"(?:\bsuper(?:\([^()]*\))?|\bparent)$")
_SCIP_LANGUAGES = ("python", "typescript", "tsx", "javascript")


class Verdict(StrEnum):
    RIGHT = "right"
    WRONG = "wrong"
    OUTSIDE = "wrong: outside"
    MISSED = "missed"
    NOT_GRADED = "not graded"


@dataclass(frozen=True, slots=True)
class GradedCall:
    call: PlacedCall
    truth: Truth
    kind: str
    verdict: Verdict


@dataclass(slots=True)
class Tally:
    """The calls of one row of a table."""

    right: int = 0
    wrong: int = 0
    outside: int = 0
    missed: int = 0
    undocumented: int = 0

    def add(self, graded: GradedCall) -> None:
        match graded.verdict:
            case Verdict.RIGHT:
                self.right += 1
            case Verdict.WRONG:
                self.wrong += 1
            case Verdict.OUTSIDE:
                self.outside += 1
            case Verdict.MISSED:
                self.missed += 1
            case _ if graded.truth.status is TargetStatus.UNDOCUMENTED:
                self.undocumented += 1

    @property
    def inside(self) -> int:
        return self.right + self.wrong + self.missed

    @property
    def precision(self) -> float:
        return self.right / max(self.right + self.wrong + self.outside, 1)

    @property
    def recall(self) -> float:
        return self.right / max(self.inside, 1)

    @property
    def recall_of_all(self) -> float:
        """With the targets that have no document among what can be found."""
        return self.right / max(self.inside + self.undocumented, 1)

    def row(self) -> str:
        share = f"{self.precision:.3f} | {self.recall:.3f} | {self.recall_of_all:.3f}"
        return f"{self.inside:,} | {self.right:,} | {self.wrong:,} | {self.outside:,} | {self.missed:,} | {share}"


def grade(tree: Tree, judge: Judge, languages: Sequence[str] = ()) -> list[GradedCall]:
    """All calls of the files that the compiler read."""
    found = []
    for call in tree.calls:
        if judge.covers(call.site.file_path) and (not languages or call.language in languages):
            truth = judge.find_truth(call)
            found.append(GradedCall(call, truth, kind_of(tree, call, truth), _verdict(call, truth)))
    return found


def _verdict(call: PlacedCall, truth: Truth) -> Verdict:
    is_resolved = call.site.outcome is CallOutcome.RESOLVED
    if truth.status is TargetStatus.INSIDE:
        if not is_resolved:
            return Verdict.MISSED
        return Verdict.RIGHT if call.site.target in truth.targets else Verdict.WRONG
    return Verdict.OUTSIDE if truth.status is TargetStatus.OUTSIDE and is_resolved else Verdict.NOT_GRADED


def kind_of(tree: Tree, call: PlacedCall, truth: Truth) -> str:
    """How a call is written, by the text before its callee's name; of a class, by what is called."""
    line = tree.line(call.site.file_path, call.line)
    before = line.encode("utf-8")[: call.column].decode("utf-8", "replace")
    if _DECORATOR.match(before):
        return "decorator"
    targets = [tree.symbols[target] for target in truth.targets]
    if _NEW.search(before) or any(target.type is SymbolType.CLASS for target in targets):
        return "constructor"
    match = _ATTRIBUTE.search(before)
    if match is None:
        return "super" if line[len(before) :].startswith("super") else "plain name"
    receiver = re.split(r"[(\[{!,=]", match[1])[-1]
    if _SUPER.search(before[: match.start()] + match[1]):
        return "super"
    if receiver in _OWN:
        return "own attribute"
    return "module attribute" if truth.through_module else "other attribute"


def tally_calls(graded: Iterable[tuple[str, GradedCall]]) -> dict[str, Tally]:
    """Those of each name, by name."""
    found: defaultdict[str, Tally] = defaultdict(Tally)
    for name, one in graded:
        found[name].add(one)
    return dict(sorted(found.items()))


def print_table(title: str, rows: dict[str, Tally]) -> None:
    print(f"\n| {title} | inside | right | wrong | outside | missed | precision | recall | recall of all |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name, tally in rows.items():
        print(f"| {name} | {tally.row()} |")


def print_reasons(graded: Sequence[GradedCall]) -> None:
    """The precision of each reason."""
    rows = tally_calls((f"{one.call.language} {one.call.site.reason}", one) for one in graded if one.call.site.reason)
    print("\n| reason | right | wrong | outside | precision |\n|---|---:|---:|---:|---:|")
    for name, tally in rows.items():
        print(f"| {name} | {tally.right:,} | {tally.wrong:,} | {tally.outside:,} | {tally.precision:.3f} |")


def print_ungraded(graded: Sequence[GradedCall]) -> None:
    """Why calls are not graded, and how many of them the graph resolves to something inside."""
    ungraded = [one for one in graded if one.verdict is Verdict.NOT_GRADED]
    counts = Counter((one.call.language, str(one.truth.status)) for one in ungraded)
    resolved = Counter(
        (one.call.language, str(one.truth.status)) for one in ungraded if one.call.site.outcome is CallOutcome.RESOLVED
    )
    print("\n| not graded | calls | of them resolved |\n|---|---:|---:|")
    for (language, status), count in sorted(counts.items()):
        print(f"| {language}, {status} | {count:,} | {resolved[language, status]:,} |")


def print_calls(tree: Tree, graded: Sequence[GradedCall]) -> None:
    """Print calls with their line, what the graph says and what the compiler says."""
    for one in graded:
        site = one.call.site
        print(f"\n{one.verdict} ({one.kind}) {tree.folder.name}/{site.file_path}:{one.call.line} in {site.caller_id}")
        print(f"    {tree.line(site.file_path, one.call.line).strip()[:150]}")
        print(f"    ours: {site.outcome} {site.reason or ''} {site.target or ''}  [{site.callee}]")
        print(f"    compiler: {', '.join(sorted(one.truth.targets)) or one.truth.text}")


def _summary(graded: Sequence[tuple[str, GradedCall]]) -> dict[str, dict[str, dict[str, int]]]:
    named = {
        "tree": [(tree, one) for tree, one in graded],
        "language": [(one.call.language, one) for _, one in graded],
        "kind": [(f"{one.call.language} {one.kind}", one) for _, one in graded],
        "reason": [(f"{one.call.language} {one.call.site.reason}", one) for _, one in graded],
        "outcome of the missed": [
            (f"{one.call.language} {one.call.site.outcome}", one) for _, one in graded if one.verdict is Verdict.MISSED
        ],
    }
    return {
        title: {name: to_builtins(tally) for name, tally in tally_calls(rows).items()} for title, rows in named.items()
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="+", metavar="TREE=TRUTH")
    parser.add_argument("--language", action="append", default=[])
    parser.add_argument("--jedi", type=Path)
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--kind")
    parser.add_argument("--reason")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def main() -> None:
    arguments = _arguments()
    chooser = random.Random(arguments.seed)
    everything: list[tuple[str, GradedCall]] = []
    for pair in arguments.pairs:
        folder, _, truth = pair.partition("=")
        tree = read_tree(Path(folder).resolve(), arguments.language)
        graded = grade(tree, Judge(tree, Path(truth)), arguments.language)
        print(f"{tree.folder.name}: {len(graded):,} calls, resolved in {tree.resolve_s:.2f} s", flush=True)
        everything += [(tree.folder.name, one) for one in graded]
        if arguments.show:
            shown = [
                one
                for one in graded
                if arguments.kind in (None, one.kind) and arguments.reason in (None, str(one.call.site.reason))
            ]
            for verdicts in ((Verdict.WRONG, Verdict.OUTSIDE), (Verdict.MISSED,)):
                found = [one for one in shown if one.verdict in verdicts]
                print_calls(tree, chooser.sample(found, min(arguments.show, len(found))))
        if arguments.jedi:
            ask_jedi(
                tree,
                [(one.call, one.truth, str(one.verdict)) for one in graded],
                arguments.jedi,
                chooser,
                arguments.sample,
            )
    calls = [one for _, one in everything]
    print_table("tree", tally_calls((f"{name}, {one.call.language}", one) for name, one in everything))
    print_table("language", tally_calls((one.call.language, one) for one in calls))
    print_table("kind", tally_calls((f"{one.call.language}, {one.kind}", one) for one in calls))
    print_reasons(calls)
    print_ungraded(calls)
    if arguments.json:
        arguments.json.write_text(json.dumps(_summary(everything), indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
