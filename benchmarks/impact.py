"""How many of the tests that fail when a changed function is broken are named by `impact`, and how many it names.

    python -m benchmarks.impact --commits 12 CLONE=PYTHON …

Each CLONE is a git clone of a Python repository whose tests PYTHON runs. Its last commit is indexed, once. Of its last
commits that change code, some are taken at even distances, and of each a function that it changed and that is still
there: drawn by the commit's id, none twice. In turn each is broken: its body becomes `raise AssertionError`. The tests
that pass before and fail then are needed; those that `impact BROKEN..HEAD` names are named. Tests are counted by the
functions that define them, so that a parametrised one counts once. A function with which the suite does not end in time
is left out. With `--kept FILE`, what the suites showed is kept there, and known results are read instead of running a
suite again; with `--homes FOLDER` indexed clones are kept, too.
"""

import argparse
import ast
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.changed_symbols import FileVersions, compare_symbols
from codesum_pipeline.answers.agent_tools.compared_versions import VersionRange, compare_versions
from codesum_pipeline.answers.agent_tools.impact_page import ImpactPage
from codesum_pipeline.answers.agent_tools.impact_tool import report_impact
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of

_LOOKED_AT = 400
_SUITE_S = 200
# A suite with a broken function may take so many times as long as without, and some seconds.
_TIMES_AS_LONG, _MORE_S = 4, 20
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


class Suite(Struct):
    """A clone's tests, run by a Python of its own, for so many seconds."""

    clone: Path
    python: Path
    longest_s: float = _SUITE_S

    def run(self) -> Mapping[str, bool] | None:
        """Whether each test passes; empty where none could be collected, None where the suite did not end in time."""
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
            command += ["-o", "addopts=", "--continue-on-collection-errors", "-q", "--tb=no"]
            try:
                subprocess.run(
                    command, cwd=self.clone, env=variables, capture_output=True, timeout=self.longest_s, check=False
                )
            except subprocess.TimeoutExpired:
                return None
            return json.loads(results.read_text()) if results.exists() else {}


class KeptResults:
    """What suites showed, a JSON object a line: the tests that pass at a commit, or fail without a function; none where
    the suite did not end."""

    def __init__(self, file: Path | None, *, is_all: bool = False) -> None:
        self.file = file
        self.is_all = is_all
        lines = file.read_text(encoding="utf-8").splitlines() if file and file.exists() else []
        self.known = {tuple(row["of"]): _tests(row["tests"]) for row in map(json.loads, lines)}

    def tests(self, of: tuple[str, ...], run: Callable[[], frozenset[str] | None]) -> frozenset[str] | None:
        if of not in self.known and not self.is_all:
            self.known[of] = found = run()
            if self.file:
                with self.file.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"of": of, "tests": None if found is None else sorted(found)}) + "\n")
        return self.known.get(of)


def _tests(written: list[str] | None) -> frozenset[str] | None:
    return None if written is None else frozenset(written)


def measure(clone: Path, python: Path, kept: KeptResults, homes: Path, *, commits: int) -> Iterator[BrokenFunction]:
    """Break a function of each of some commits of a clone, one after the other."""
    work, home, suite = homes / clone.name, homes / f"{clone.name}.home", Suite(homes / clone.name, python)
    if not work.exists():
        _git(clone.parent, "clone", "-q", "--shared", str(clone), str(work))
    if not home.exists():
        build(workspace_of(open_home(home), RepositoryEntry(clone.name, str(work))), may_fail=True)
    head = _git(work, "rev-parse", "HEAD")
    # A run that was ended may have left a function broken.
    if not kept.is_all:
        _git(work, "reset", "-q", "--hard", head)
    begun = time.monotonic()
    passing = kept.tests((clone.name, head), lambda: _passing(suite.run() or {}))
    suite.longest_s = min(_SUITE_S, _TIMES_AS_LONG * (time.monotonic() - begun) + _MORE_S)
    if not passing:
        print(f"{clone.name} {head[:10]}: no test passes", file=sys.stderr)
        return
    broken, asked = dict[str, str](), 0
    for commit in _candidates(work, commits):
        if asked >= commits:
            break
        for id_, path, first, last in _changed_functions(home, clone.name, commit):
            if id_ in broken or not (text := _broken(work / path, first, last)):
                continue
            broken[id_], asked = text, asked + 1
            found = _break(suite, kept, (clone.name, head, id_), work / path, text, passing, _asker(home, clone.name))
            if found:
                yield msgspec.structs.replace(found, commit=commit[:10])
            break


def _passing(results: Mapping[str, bool]) -> frozenset[str]:
    return frozenset(id_ for id_, passes in results.items() if passes)


def _break(
    suite: Suite,
    kept: KeptResults,
    of: tuple[str, str, str],
    file: Path,
    broken: str,
    passing: frozenset[str],
    ask: Ask,
) -> BrokenFunction | None:
    repo, commit, id_ = of

    def run() -> frozenset[str] | None:
        before = file.read_text(encoding="utf-8")
        file.write_text(broken, encoding="utf-8")
        try:
            results = suite.run()
        finally:
            file.write_text(before, encoding="utf-8")
        return None if results is None else passing - _passing(results)

    needed = kept.tests(of, run)
    if needed is None:
        print(f"{repo} {id_}: the suite did not end", file=sys.stderr)
        return None
    base = _committed(suite.clone, file, broken, commit)
    page = ask(f"{base}..{commit}")
    named = {each.id for each in page.tests}
    whole = {each.path for each in page.tests if each.id == each.path}
    named |= {each for each in passing if each.partition("::")[0] in whole}
    return BrokenFunction(repo, commit[:10], id_, needed, frozenset(named & passing))


def _asker(home: Path, key: str) -> Ask:
    def ask(written: str) -> ImpactPage:
        return report_impact(_call(home), key, VersionRange.parse(written)).whole()

    return ask


def _call(home: Path) -> ToolContext:
    return ToolContext(IndexCatalogue.of(load_settings({"home": home}, environ={})), Path("/"))


def _candidates(work: Path, commits: int) -> Sequence[str]:
    """The last commits that change code, some at even distances first, those between them after these."""
    listed = _git(
        work,
        "log",
        "--no-merges",
        "--min-parents=1",
        f"--max-count={_LOOKED_AT}",
        "--format=%H",
        "--",
        "*.py",
        ":!*test*",
    ).split()
    step = max(1, len(listed) // commits)
    return [commit for start in range(step) for commit in listed[start::step]]


def _changed_functions(home: Path, key: str, commit: str) -> list[tuple[str, str, int, int]]:
    """The functions that a commit changed and that the indexed one has: ids, paths, first and last lines there, in an
    order that the commit's id draws."""
    call = _call(home)
    index, documents = call.one_index(key), call.documents(key)
    pair = compare_versions(call, index, VersionRange.parse(f"{commit}~1..{commit}"))
    files = [file for file in pair.files if file.path.endswith(".py") and "test" not in file.path]
    versions = (
        FileVersions(file.path, before, after)
        for file, (before, after) in zip(files, pair.contents(files, largest=lambda _: 1_000_000), strict=True)
    )
    policy = HashPolicy(index.version.manifest["hash_policy"]["policy"])
    found = []
    for change in compare_symbols(versions, hash_policy=policy, encodings={}).changes:
        number = documents.number(change.id)
        if number is not None and documents[number].level is Level.FUNCTION:
            row = documents.row(number)
            found.append((change.id, row.path, row.start_line or 0, row.end_line or 0))
    random.Random(commit).shuffle(found)
    return found


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


def _committed(clone: Path, file: Path, text: str, commit: str) -> str:
    """A commit after another one with another text of a file; no work tree has it."""
    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        blob = _git(clone, "hash-object", "-w", "--stdin", data=text)
        _git(clone, "read-tree", commit, **index)
        _git(clone, "update-index", "--cacheinfo", f"100644,{blob},{file.relative_to(clone)}", **index)
        return _git(clone, "commit-tree", _git(clone, "write-tree", **index), "-p", commit, "-m", "broken")


def _git(folder: Path, *arguments: str, data: str | None = None, **variables: str) -> str:
    command = ["git", "-c", "user.name=b", "-c", "user.email=b@example.org", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | variables, check=True, capture_output=True, text=True, input=data
    )
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
    parser.add_argument("--kept", type=Path, help="what the suites showed")
    parser.add_argument("--known", action="store_true", help="run no suite: only what is kept counts")
    parser.add_argument("--homes", type=Path, help="where indexed clones are kept")
    parser.add_argument("--missed", type=Path, help="where missed tests are written, a JSON object a line")
    given = parser.parse_args()
    found: list[BrokenFunction] = []
    with tempfile.TemporaryDirectory() as folder:
        for written in given.clones:
            clone, _, python = written.partition("=")
            kept = KeptResults(given.kept, is_all=given.known)
            homes = (given.homes or Path(folder)).resolve()
            for each in measure(Path(clone).resolve(), Path(python).absolute(), kept, homes, commits=given.commits):
                found.append(each)
                _tell(each, given.missed)
    print(summary(found))


def _tell(each: BrokenFunction, missed: Path | None) -> None:
    print(
        f"{each.repo} {each.commit} {each.id}: needed {len(each.needed)}, found {each.hits}, named {len(each.named)}",
        flush=True,
    )
    if missed:
        row = {
            "id": each.id, "commit": each.commit, "repo": each.repo, "missed": sorted(each.needed - each.named),
            "spare": sorted(each.named - each.needed), "needed": sorted(each.needed),
        }  # fmt: skip
        with missed.open("a") as file:
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
