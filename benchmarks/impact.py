"""How many of the tests that fail when a changed function is broken are named by `impact`, and how many it names.

    python -m benchmarks.impact --commits 12 --functions 3 CLONE=PYTHON …

Each CLONE is a git clone of a Python repository whose tests PYTHON runs. Of its last commits that change code, some are
taken at even distances. Each is checked out and indexed. In turn each function that it changed is broken: its body
becomes `raise AssertionError`. The tests that pass before and fail then are needed; those that `impact BROKEN..COMMIT`
names are named. Tests are counted by the functions that define them, so that a parametrised one counts once. With
`--kept FILE`, what the suites showed is kept there, and known results are read instead of running a suite again.
"""

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.ways_in.agent_tools.call import ToolContext
from codesum_pipeline.ways_in.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.ways_in.agent_tools.compared_versions import VersionRange
from codesum_pipeline.ways_in.agent_tools.impact_page import ImpactPage
from codesum_pipeline.ways_in.agent_tools.impact_tool import report_impact
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of

_LOOKED_AT = 400
_SUITE_S = 400
# Writes what each test's function is, and how it ended.
_PLUGIN = """
import json, os
found = {}
ids = {}
def pytest_collection_modifyitems(session, config, items):
    root = os.getcwd()
    for item in items:
        function = getattr(item, "function", None)
        function = getattr(function, "__wrapped__", function)
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        path = os.path.relpath(code.co_filename, root) if code else item.nodeid.split("::")[0]
        name = getattr(function, "__qualname__", item.name).replace(".<locals>", "").replace(".", "::")
        ids[item.nodeid] = f"{path}::{name}"
def pytest_runtest_logreport(report):
    id_ = ids.get(report.nodeid)
    if id_ and (report.when == "call" or report.failed):
        found[id_] = found.get(id_, True) and not report.failed
def pytest_sessionfinish(session):
    with open(os.environ["IMPACT_RESULTS"], "w") as file:
        json.dump(found, file)
"""


Ask = Callable[[str], ImpactPage]


class BrokenFunction(Struct, frozen=True):
    """What breaking one function showed: the tests that failed, and those that were named."""

    repo: str
    commit: str
    id: str
    needed: frozenset[str]
    named: frozenset[str]

    @property
    def hits(self) -> int:
        return len(self.needed & self.named)


class Suite(Struct, frozen=True):
    """A clone's tests, run by a Python of its own."""

    clone: Path
    python: Path

    def run(self) -> Mapping[str, bool]:
        """Whether each test passes; empty where the suite could not be run at all."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "impact_results_plugin.py").write_text(_PLUGIN)
            results = Path(folder) / "results.json"
            paths = os.pathsep.join([folder, str(self.clone / "src"), str(self.clone)])
            variables = {
                **os.environ,
                "PYTHONPATH": paths,
                "IMPACT_RESULTS": str(results),
                "PYTHONDONTWRITEBYTECODE": "1",
            }
            command = [str(self.python), "-m", "pytest", "-q", "-p", "impact_results_plugin", "-p", "no:cacheprovider"]
            command += ["-o", "addopts=", "--continue-on-collection-errors", "-q"]
            try:
                subprocess.run(
                    command, cwd=self.clone, env=variables, capture_output=True, timeout=_SUITE_S, check=False
                )
            except subprocess.TimeoutExpired:
                return {}
            return json.loads(results.read_text()) if results.exists() else {}


class KeptResults:
    """What suites showed, a JSON object a line: the tests that pass at a commit, or fail without a function."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        lines = file.read_text(encoding="utf-8").splitlines() if file and file.exists() else []
        self.known = {tuple(row["of"]): frozenset(row["tests"]) for row in map(json.loads, lines)}

    def tests(self, of: tuple[str, ...], run: Callable[[], frozenset[str]]) -> frozenset[str]:
        if of not in self.known:
            self.known[of] = run()
            if self.file:
                with self.file.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"of": of, "tests": sorted(self.known[of])}) + "\n")
        return self.known[of]


def measure(clone: Path, python: Path, kept: KeptResults, *, commits: int, functions: int) -> Iterator[BrokenFunction]:
    """Break the functions that some commits of a clone changed, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / clone.name
        _git(clone.parent, "clone", "-q", "--shared", str(clone), str(work))
        home, suite = Path(folder) / "home", Suite(work, python)
        for commit in _chosen(work, commits):
            _git(work, "checkout", "-q", "--force", "--detach", commit)
            of = (clone.name, commit)
            passing = kept.tests(of, lambda: frozenset(id_ for id_, passes in suite.run().items() if passes))
            if not passing:
                print(f"{clone.name} {commit[:10]}: no test passes", file=sys.stderr)
                continue
            build(workspace_of(open_home(home), RepositoryEntry(clone.name, str(work))), may_fail=True)
            ask = _asker(home, clone.name)
            for id_, path, first, last in _changed_functions(ask(f"{commit}~1..{commit}"))[:functions]:
                if broken := _broken(work / path, first, last):
                    yield _break(suite, kept, (*of, id_), work / path, broken, passing, ask)


def _break(
    suite: Suite,
    kept: KeptResults,
    of: tuple[str, str, str],
    file: Path,
    broken: str,
    passing: frozenset[str],
    ask: Ask,
) -> BrokenFunction:
    repo, commit, id_ = of
    file.write_text(broken, encoding="utf-8")

    def run() -> frozenset[str]:
        results = suite.run()
        return frozenset(each for each in passing if not results.get(each, False))

    needed = kept.tests(of, run)
    _git(suite.clone, "add", str(file))
    base = _git(suite.clone, "commit-tree", _git(suite.clone, "write-tree"), "-p", commit, "-m", "broken")
    _git(suite.clone, "reset", "-q", "--hard", commit)
    page = ask(f"{base}..{commit}")
    named = {each.id for each in page.tests}
    whole = {each.path for each in page.tests if each.id == each.path}
    named |= {each for each in passing if each.partition("::")[0] in whole}
    return BrokenFunction(repo, commit[:10], id_, needed, frozenset(named & passing))


def _asker(home: Path, key: str) -> Ask:
    def ask(written: str) -> ImpactPage:
        call = ToolContext(IndexCatalogue.of(load_settings({"home": home}, environ={})), Path("/"))
        return report_impact(call, key, VersionRange.parse(written)).whole()

    return ask


def _chosen(work: Path, commits: int) -> Sequence[str]:
    listed = _git(
        work, "log", "--no-merges", f"--max-count={_LOOKED_AT}", "--format=%H", "--", "*.py", ":!*test*"
    ).split()
    step = max(1, len(listed[: 10 * commits]) // commits)
    return listed[: 10 * commits : step][:commits]


def _changed_functions(page: ImpactPage) -> list[tuple[str, str, int, int]]:
    wanted = (each for each in page.changes if not each.is_test and each.kind != "removed" and "::" in each.id)
    return [
        (each.id, each.path, each.line, each.end_line) for each in wanted
        if each.path.endswith(".py") and each.line and each.end_line and "test" not in each.path
    ]  # fmt: skip


def _broken(path: Path, first: int, last: int) -> str:
    """The source with the body of the function between two lines replaced; empty where there is none that can be."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        start = min([node.lineno, *(each.lineno for each in node.decorator_list)])
        if start == first and node.end_lineno == last and node.body[0].lineno > node.lineno:
            body, lines = node.body[0], source.split("\n")
            if lines[body.lineno - 1][: body.col_offset].strip():
                return ""
            raising = " " * body.col_offset + 'raise AssertionError("broken")'
            return "\n".join([*lines[: body.lineno - 1], raising, *lines[node.end_lineno :]])
    return ""


def _git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=b", "-c", "user.email=b@example.org"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def summary(found: Sequence[BrokenFunction]) -> str:
    """A table: a row for each repository, and one for all."""
    lines = [
        "| repository | commits | functions | tests needed | named of them | named in all |",
        "|---|---|---|---|---|---|",
    ]
    for name in [*dict.fromkeys(each.repo for each in found), "all"]:
        rows = [each for each in found if name in (each.repo, "all")]
        needed, named = (sum(len(getattr(each, what)) for each in rows) for what in ("needed", "named"))
        hits = sum(each.hits for each in rows)
        share = f"{hits / needed:.1%}" if needed else "–"
        times = f"{named / needed:.2f} times" if needed else "–"
        commits = len({(each.repo, each.commit) for each in rows})
        lines.append(f"| {name} | {commits} | {len(rows)} | {needed:,} | {share} | {named:,} ({times}) |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", nargs="+", metavar="CLONE=PYTHON")
    parser.add_argument("--commits", type=int, default=12)
    parser.add_argument("--functions", type=int, default=3)
    parser.add_argument("--kept", type=Path, help="what the suites showed")
    parser.add_argument("--missed", type=Path, help="where missed tests are written, a JSON object a line")
    given = parser.parse_args()
    found: list[BrokenFunction] = []
    for written in given.clones:
        clone, _, python = written.partition("=")
        for each in measure(
            Path(clone).resolve(), Path(python).absolute(), KeptResults(given.kept), commits=given.commits,
            functions=given.functions,
        ):  # fmt: skip
            found.append(each)
            missed = sorted(each.needed - each.named)
            print(
                f"{each.repo} {each.commit} {each.id}: needed {len(each.needed)}, found {each.hits}, "
                f"named {len(each.named)}",
                flush=True,
            )
            if given.missed:
                with given.missed.open("a") as file:
                    spare = sorted(each.named - each.needed)
                    file.write(
                        json.dumps(
                            {
                                "id": each.id,
                                "commit": each.commit,
                                "repo": each.repo,
                                "missed": missed,
                                "spare": spare[:40],
                            }
                        )
                        + "\n"
                    )
    print(summary(found))


if __name__ == "__main__":
    main()
