"""How many tokens an agent reads until it has what it looks for: with this index, with ripgrep, with semble.

    python -m benchmarks.agent_cost QUESTIONS.jsonl CLONES --home FOLDER --rg PATH [--semble PYTHON]
                                    [--part tune|test] [--only OWNER/NAME]... [--run OUT.jsonl] [--plot OUT.png]

QUESTIONS and CLONES are those of `benchmarks.retrieval`; `--part` takes the questions about the repositories of one
part of `benchmarks/wild_repositories.tsv`. Each tree is written out as a checkout with one commit and indexed in a home
of its own, as somebody would who ran `codesum index .`; trees, homes and semble's answers stay in the home for the next
run. ripgrep is a program (Debian: ripgrep), semble is the Python of an environment with `semble[mcp]`.

`benchmarks/agent_sessions.py` and `benchmarks/agent_peers.py` say what each agent does and when a target is in sight. A
call costs what the agent writes and all that it gets. Tokens are those of `cl100k_base` for all. A target that never
comes in sight costs the cap of 32,000. The first table counts as semble's benchmark does: the contents of what was
found alone, without calls and their frames. Intervals (95 %) are by resampling questions.
"""

import argparse
import csv
import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import to_builtins

from benchmarks.agent_peers import Grep, Semble, grep_and_read, read_chunks, read_whole_files, semble_and_read
from benchmarks.agent_sessions import (
    CAP,
    Ask,
    Outcome,
    Steps,
    call_of,
    follow,
    read_rows,
    read_sources,
    search_and_read,
    tokens_of,
)
from benchmarks.retrieval import Table, Tree, print_table, tree_of, write_tree
from benchmarks.wild import GROUPS, LIST
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.tool_answers import AnswerPage
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.search.evaluation.questions import Question, read_questions
from codesum_pipeline.ways_in.mcp.mcp_server import input_schema, structured_content
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of

BUDGETS = (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
SIGHTS = {"named": "a target's file is named with something that it holds", "read": "a target's lines were read"}
OURS, STRUCTURED = "search + read", "the same, structured"
# Counted as semble's benchmark does.
ROWS, SOURCES, CHUNKS, FILES = "rows of search", "sources of its hits", "chunks of semble", "rg, whole files"
ALONE = (ROWS, SOURCES, CHUNKS, FILES)
_IDENTITY = ("-c", "user.name=Benchmark", "-c", "user.email=benchmark@example.org", "-c", "core.autocrlf=false")
_SAMPLES = 5_000
_SEED = 7

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Cost:
    """What one agent paid for the targets of one question."""

    id: str
    language: str
    agent: str
    outcome: Outcome

    def first(self, sight: str) -> int | None:
        """When the first of the targets came in sight; raises `ValueError` where the question has none."""
        found: list[int | None] = getattr(self.outcome, sight)
        return min((each for each in found if each is not None), default=None)

    def share(self, sight: str, budget: int) -> float:
        """The targets in sight within a budget."""
        found: list[int | None] = getattr(self.outcome, sight)
        return sum(each is not None and each <= budget for each in found) / len(found)


def main() -> None:
    """Build what is missing, let each agent look, and print tables."""
    arguments = _arguments()
    questions = [each for each in read_questions(arguments.questions) if _is_wanted(each, arguments)]
    if not questions:
        raise SystemExit(f"{arguments.questions} has no question about the repositories that are wanted")
    by_tree: dict[Tree, list[Question]] = {}
    for question in questions:
        by_tree.setdefault(tree_of(question), []).append(question)
    costs: list[Cost] = []
    before: dict[str, Sequence[Mapping[str, Any]]] = {"codesum": describe_tools()}
    for number, (tree, tree_questions) in enumerate(sorted(by_tree.items()), start=1):
        print(f"repository {number} of {len(by_tree)}: {tree.repo}", file=sys.stderr)
        folder = checkout_of_tree(tree, arguments.clones, arguments.home / "trees" / tree.key)
        catalogue = index_of(tree, folder, arguments.home / "homes" / tree.key)
        semble = _ask_semble(arguments, tree, folder, tree_questions)
        if semble is not None:
            before["semble"] = semble.tools
        for name, agent in make_agents(catalogue, Grep(arguments.rg, folder), semble).items():
            costs += [Cost(each.id, each.language, name, follow(agent(each.query), each)) for each in tree_questions]
    if arguments.run:
        arguments.run.write_text("".join(f"{json.dumps(to_builtins(cost))}\n" for cost in costs), encoding="utf-8")
    for name, tools in before.items():
        print(f"{name} describes its tools in {tokens_of(json.dumps(tools)):,} tokens, once")
    print_tables(costs)
    if arguments.plot:
        draw_shares(costs, arguments.plot)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("clones", type=Path)
    parser.add_argument("--home", type=Path, required=True, help="where trees, indexes and answers are kept")
    parser.add_argument("--rg", type=_program, required=True, help="the program ripgrep")
    parser.add_argument("--semble", type=_program, help="the Python of an environment with semble[mcp]")
    parser.add_argument("--part", choices=("tune", "test"), help="of benchmarks/wild_repositories.tsv")
    parser.add_argument("--only", action="append", help="questions about these repositories")
    parser.add_argument("--run", type=Path, help="write what each agent paid, one question a line")
    parser.add_argument("--plot", type=Path, help="draw the curves")
    return parser.parse_args()


def _program(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"{text} is no program: name one that is installed")
    return path.absolute()


def _is_wanted(question: Question, arguments: argparse.Namespace) -> bool:
    if arguments.only and question.repo not in arguments.only:
        return False
    return not arguments.part or question.repo in repositories_of(arguments.part)


def repositories_of(part: str) -> set[str]:
    with LIST.open(encoding="utf-8", newline="") as lines:
        return {row["name"] for row in csv.DictReader(lines, delimiter="\t") if row["part"] == part}


def checkout_of_tree(tree: Tree, clones: Path, folder: Path) -> Path:
    """The tree as a work tree with one commit."""
    write_tree(tree, clones, folder)
    if not (folder / ".git").exists():
        for command in (("init", "-q"), ("add", "-A", "-f"), ("commit", "-q", "--no-verify", "-m", tree.commit)):
            subprocess.run(["git", *_IDENTITY, *command], cwd=folder, check=True)
    return folder


def index_of(tree: Tree, folder: Path, home: Path) -> IndexCatalogue:
    """A home with this repository alone, under the name that it has for its users."""
    key = tree.repo.rpartition("/")[2]
    entry = RepositoryEntry(key, str(folder.resolve()), subdir=tree.scope)
    build(workspace_of(open_home(home), entry), may_fail=True)
    return IndexCatalogue.of(load_settings({"home": home}, environ={}))


def make_askers(catalogue: IndexCatalogue, folder: Path) -> tuple[Ask, Ask]:
    """Calls as an agent makes them in the checkout, as text, and as structured content.

    Some clients show their model the structured content of a result instead of its text.
    """
    tools, pages = tools_by_name(), dict[str, AnswerPage]()

    def page_of(name: str, arguments: Mapping[str, Any]) -> AnswerPage:
        key = call_of(name, arguments)
        if key not in pages:
            pages[key] = tools[name].ask(ToolContext(catalogue, folder), arguments)
        return pages[key]

    def as_text(name: str, arguments: Mapping[str, Any]) -> tuple[AnswerPage, str]:
        page = page_of(name, arguments)
        return page, page.text()

    def as_structured(name: str, arguments: Mapping[str, Any]) -> tuple[AnswerPage, str]:
        page = page_of(name, arguments)
        return page, json.dumps(structured_content(page), separators=(",", ":"), ensure_ascii=False)

    return as_text, as_structured


def _ask_semble(
    arguments: argparse.Namespace, tree: Tree, folder: Path, questions: Sequence[Question]
) -> Semble | None:
    if not arguments.semble:
        return None
    queries = [question.query for question in questions]
    return Semble.ask(arguments.semble, folder, queries, arguments.home / "semble" / f"{tree.key}.json")


def make_agents(catalogue: IndexCatalogue, grep: Grep, semble: Semble | None) -> dict[str, Callable[[str], Steps]]:
    """Each agent by its name, as it looks for an answer in one tree."""
    tree = grep.tree
    ask, ask_structured = make_askers(catalogue, tree)
    found: dict[str, Callable[[str], Steps]] = {
        OURS: lambda query: search_and_read(ask, query),
        STRUCTURED: lambda query: search_and_read(ask_structured, query),
        "rg + whole files": lambda query: grep_and_read(grep, query, in_context=False),
        "rg with context": lambda query: grep_and_read(grep, query, in_context=True),
        ROWS: lambda query: read_rows(ask, query),
        SOURCES: lambda query: read_sources(ask, tree, query),
        FILES: lambda query: read_whole_files(grep, query),
    }
    if semble is not None:
        peer = semble
        found["semble, 10 lines a hit"] = lambda query: semble_and_read(peer, tree, query, snippet=10)
        found["semble, whole chunks"] = lambda query: semble_and_read(peer, tree, query, snippet=None)
        found["semble, places alone"] = lambda query: semble_and_read(peer, tree, query, snippet=0)
        found[CHUNKS] = lambda query: read_chunks(peer, query)
    return found


def describe_tools() -> list[dict[str, Any]]:
    """The tools that an agent is told of before it asks anything."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": input_schema(tool.arguments)}
        for tool in tools_by_name(every=False).values()
    ]


def print_tables(costs: Sequence[Cost]) -> None:
    """As semble counts, then what whole sessions cost: by sight, against each other, and by group of languages."""
    by_agent = group_costs(costs, lambda cost: cost.agent)
    print_table(_alone_table({name: by_agent[name] for name in ALONE if name in by_agent}))
    sessions = {name: found for name, found in by_agent.items() if name not in ALONE}
    for sight, title in SIGHTS.items():
        having = {name: [cost for cost in found if getattr(cost.outcome, sight)] for name, found in sessions.items()}
        if not having[OURS]:
            continue
        print(f"\n## {title}")
        print_table(_session_table(having, sight))
        print_table(_ratio_table(having, sight))
        print_table(_group_table(having, sight))


def group_costs(costs: Sequence[Cost], key: Callable[[Cost], str]) -> dict[str, list[Cost]]:
    found: dict[str, list[Cost]] = {}
    for cost in costs:
        found.setdefault(key(cost), []).append(cost)
    return found


def tokens_paid(costs: Sequence[Cost], sight: str) -> Numbers:
    """What the first target of each question cost; the cap where it was not found."""
    return np.array([cost.first(sight) or CAP for cost in costs], dtype=np.float64)


def _alone_table(by_agent: Mapping[str, Sequence[Cost]]) -> Table:
    heads = [f"{budget:,}" for budget in BUDGETS]
    rows: Table = [["found alone", "questions", "median", "mean, misses 32,000", *heads]]
    for name, found in by_agent.items():
        shares = [float(np.mean([cost.share("named", budget) for cost in found])) for budget in BUDGETS]
        spent = tokens_paid(found, "named")
        numbers = (len(found), np.median(spent), spent.mean())
        rows.append([name, *(f"{number:,.0f}" for number in numbers), *(f"{share:.3f}" for share in shares)])
    return rows


def _session_table(by_agent: Mapping[str, Sequence[Cost]], sight: str) -> Table:
    heads = [f"{budget:,}" for budget in BUDGETS]
    rows: Table = [["agent", "questions", "median", "quartiles", "mean", "missed", *heads]]
    for name, found in by_agent.items():
        spent = tokens_paid(found, sight)
        low, median, high = np.quantile(spent, [0.25, 0.5, 0.75])
        missed = sum(cost.first(sight) is None for cost in found)
        shares = [f"{float(np.mean(in_sight(found, sight) <= budget)):.2f}" for budget in BUDGETS]
        spread = f"{low:,.0f} to {high:,.0f}"
        rows.append([name, f"{len(found):,}", f"{median:,.0f}", spread, f"{spent.mean():,.0f}", f"{missed}", *shares])
    return rows


def in_sight(costs: Sequence[Cost], sight: str) -> Numbers:
    """As `tokens_paid`, but a target that was not found is beyond each budget."""
    return np.array([cost.first(sight) or np.inf for cost in costs], dtype=np.float64)


def _ratio_table(by_agent: Mapping[str, Sequence[Cost]], sight: str) -> Table:
    rows: Table = [[f"median of {OURS} to that of", "ratio", "95 %", "cheaper in"]]
    ours = tokens_paid(by_agent[OURS], sight)
    for name, found in by_agent.items():
        if name != OURS:
            theirs = tokens_paid(found, sight)
            ratio, low, high = ratio_of_medians(ours, theirs)
            share = float(np.mean(ours < theirs))
            rows.append([name, f"{ratio:.2f}", f"{low:.2f} to {high:.2f}", f"{100 * share:.0f} %"])
    return rows


def ratio_of_medians(ours: Numbers, theirs: Numbers) -> tuple[float, float, float]:
    """With its interval; the two numbers of a question are drawn together."""
    drawn = np.random.default_rng(_SEED).integers(0, len(ours), size=(_SAMPLES, len(ours)))
    ratios = np.median(ours[drawn], axis=1) / np.median(theirs[drawn], axis=1)
    low, high = np.quantile(ratios, [0.025, 0.975])
    return float(np.median(ours) / np.median(theirs)), float(low), float(high)


def _group_table(by_agent: Mapping[str, Sequence[Cost]], sight: str) -> Table:
    rows: Table = [["medians by language", "questions", *by_agent]]
    for group, languages in GROUPS.items():
        some = {name: [cost for cost in found if cost.language in languages] for name, found in by_agent.items()}
        if some[OURS]:
            medians = (f"{np.median(tokens_paid(found, sight)):,.0f}" for found in some.values())
            rows.append([group, f"{len(some[OURS]):,}", *medians])
    return rows


def draw_shares(costs: Sequence[Cost], path: Path) -> None:
    """The share of questions with a target in sight, over the tokens that were read."""
    from matplotlib.figure import Figure

    by_agent = {name: found for name, found in group_costs(costs, lambda cost: cost.agent).items() if name not in ALONE}
    figure = Figure(figsize=(11, 4.5), dpi=110, layout="constrained")
    for axes, (sight, title) in zip(figure.subplots(1, 2, sharey=True), SIGHTS.items(), strict=True):
        for name, found in by_agent.items():
            having = [cost for cost in found if getattr(cost.outcome, sight)]
            spent = np.sort(in_sight(having, sight))
            axes.step(spent, np.arange(1, len(spent) + 1) / len(spent), where="post", label=name)
        axes.set(title=title, xlabel="tokens", xscale="log", xlim=(100, CAP), ylim=(0, 1))
        axes.grid(alpha=0.3)
    figure.axes[0].legend(fontsize=8)
    figure.savefig(path, metadata={"Software": None})


if __name__ == "__main__":
    main()
