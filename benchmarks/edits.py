"""What `codesum index` costs after a small change of a repository, by kind of change and by step.

    python -m benchmarks.edits REPOSITORY [--changes 3] [--home FOLDER] [--tree FOLDER] [--kinds "edited body" ...]

The repository is a work tree of git; it is copied and the copy is changed. Functions of its main language are drawn by
the hash of their ids, and for each a change of every kind is made and committed. What is measured is the processor time
of the whole command and of all its children, which hardly depends on what else the machine does; the least of two
imports of both processes is told apart. A second series of the same kinds runs the steps, previews and checks in one
process, and says what each takes. `--tree` is a checkout of another revision of this project, whose commands are
measured; `--home` has an index already or keeps the one that is made.
"""

import argparse
import hashlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from codesum_pipeline.builds.dagster.companion import _in_order
from codesum_pipeline.builds.reports.build_values import BuildOptions
from codesum_pipeline.builds.reports.exchange import BuilderMethod
from codesum_pipeline.builds.steps.one_build import Build
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.lease import hold_repository
from codesum_pipeline.foundation.store.workspace import connect_in_memory
from codesum_pipeline_tests.support.homes import open_home
from codesum_pipeline_tests.support.repositories import GitRepo

PROJECT = Path(__file__).parent.parent
KEY = "edited"
UNCHANGED = "unchanged"
# By language: a parameter more, and a function more.
PARAMETERS = {
    "python": "extra_{0}=None",
    "javascript": "extra{0}",
    "typescript": "extra{0}?: number",
    "go": "extra{0} int",
}
FUNCTIONS = {
    "python": '\n\ndef measured_change_{0}(value):\n    """Add the number of the change."""\n    return value + {0}\n',
    "javascript": "\nfunction measuredChange{0}(value) {{\n\treturn value + {0};\n}}\n",
    "typescript": "\nexport function measuredChange{0}(value: number): number {{\n  return value + {0};\n}}\n",
    "go": "\n// MeasuredChange{0} adds the number of the change.\nfunc MeasuredChange{0}(value int) int {{\n"
    "\treturn value + {0}\n}}\n",
}
# A line more, before a function's last return.
LINES = {
    "python": "measured_total = previous_count + {0}",
    "javascript": "const measuredTotal = previousCount + {0};",
    "typescript": "const measuredTotal = previousCount + {0};",
    "go": "measuredTotal := previousCount + {0}",
}
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")
_PACKAGE = re.compile(r"^package \w+$", re.MULTILINE)
# Of the process that builds and of the one that records, to which the first tells what the stages are.
IMPORTS = (
    "import codesum_pipeline.cli, codesum_pipeline.ways_in.cli.commands.index, codesum_pipeline.builds.steps.one_build",
    "from codesum_pipeline.builds.dagster.recorder import _import_dagster; _import_dagster(); "
    "import codesum_pipeline.builds.dagster.asset_steps, codesum_pipeline.builds.dagster.dagster_records",
)


class Places:
    """Functions to change, in the order of the hash of their ids."""

    def __init__(self, repo: GitRepo, home: Path) -> None:
        self._repo = repo
        columns = ["id", "type", "file_path", "language", "name", "start_line", "end_line"]
        rows = open_home(home).tables.read("symbols", KEY, columns=columns).to_pylist()
        known = Counter(row["language"] for row in rows if row["language"] in PARAMETERS)
        ((self.language, _),) = known.most_common(1)
        wanted = [row for row in rows if row["language"] == self.language and row["type"] == "function"]
        self._rows = iter(sorted(wanted, key=lambda row: hashlib.sha1(row["id"].encode()).digest()))

    def take(self, change: Callable[[list[str], str], list[str] | None]) -> dict[str, str]:
        """The first file whose next function can be changed, with its new text."""
        for row in self._rows:
            path = self._repo.path / row["file_path"]
            if "test" in row["file_path"].lower() or not path.exists():
                continue
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            first, last = row["start_line"] - 1, row["end_line"]
            changed = change(lines[first:last], row["name"])
            if changed is not None:
                return {row["file_path"]: "".join([*lines[:first], *changed, *lines[last:]])}
        raise SystemExit("no function is left that can be changed")


class Changes:
    """Makes changes of every kind in a repository."""

    def __init__(self, repo: GitRepo, home: Path) -> None:
        self._repo = repo
        self._places = Places(repo, home)
        # Beyond the numbers of changes that were made before in the same copy.
        self._number = int(repo.git("rev-list", "--count", "HEAD"))
        self.kinds: Mapping[str, Callable[[], Mapping[str, str]]] = {
            "edited body": lambda: self._places.take(self._edit_body),
            "added line": lambda: self._places.take(self._add_line),
            "changed signature": lambda: self._places.take(self._add_parameter),
            "new function": lambda: {path: text + self._function() for path, text in self._any_file().items()},
            "new file": self._new_file,
            "renamed file": self._renamed_file,
            "removed file": self._removed_file,
        }

    def make(self, kind: str) -> None:
        """Commit one change of a kind; none to stay unchanged."""
        if kind == UNCHANGED:
            return
        self._number += 1
        self._repo.commit(self.kinds[kind](), f"{kind} {self._number}")

    def _function(self) -> str:
        return FUNCTIONS[self._places.language].format(self._number)

    def _edit_body(self, lines: list[str], _: str) -> list[str] | None:
        for place, line in enumerate(lines[2:], 2):
            if _NUMBER.search(line) and '"' not in line and "'" not in line:
                return [*lines[:place], _NUMBER.sub(str(self._number), line, count=1), *lines[place + 1 :]]
        return None

    def _add_line(self, lines: list[str], _: str) -> list[str] | None:
        found = [place for place, line in enumerate(lines) if place and line.lstrip().startswith("return ")]
        if not found:
            return None
        place, line = found[-1], lines[found[-1]]
        indent = line[: len(line) - len(line.lstrip())]
        return [*lines[:place], f"{indent}{LINES[self._places.language].format(self._number)}\n", *lines[place:]]

    def _add_parameter(self, lines: list[str], name: str) -> list[str] | None:
        parameter = PARAMETERS[self._places.language].format(self._number)
        head, found = re.subn(rf"\b{re.escape(name)}\((\w[^()*]*)\)", rf"{name}(\1, {parameter})", lines[0], count=1)
        return [head, *lines[1:]] if found else None

    def _any_file(self) -> dict[str, str]:
        return self._places.take(lambda lines, _: lines)

    def _new_file(self) -> dict[str, str]:
        ((path, text),) = self._any_file().items()
        head = _PACKAGE.search(text) if self._places.language == "go" else None
        place = Path(path).with_stem(f"measured_{self._number}")
        return {str(place): (f"{head[0]}\n" if head else "") + self._function()}

    def _renamed_file(self) -> dict[str, str]:
        ((path, _),) = self._any_file().items()
        self._repo.git("mv", path, str(Path(path).with_stem(f"{Path(path).stem}_{self._number}")))
        return {}

    def _removed_file(self) -> dict[str, str]:
        ((path, _),) = self._any_file().items()
        self._repo.git("rm", "-q", path)
        return {}


def processor_seconds(who: int) -> float:
    """User and system time of this process, or of its children that have ended."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def run_measured(tree: Path, *arguments: str) -> tuple[float, str]:
    """The processor seconds of a Python process and all its children, and its output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CODESUM_", "DAGSTER_"))}
    before = processor_seconds(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=tree, env=environment | {"PYTHONPATH": str(tree)}, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    return processor_seconds(resource.RUSAGE_CHILDREN) - before, done.stdout


def index(tree: Path, home: Path) -> float:
    """The processor seconds of `codesum index`."""
    return run_measured(tree, "-m", "codesum_pipeline.cli", "--home", str(home), "index", KEY)[0]


def measure_steps(home: Path) -> dict[str, float]:
    """The processor seconds of each step of a build in this process, and of what each table's preview and check take.

    Children, which parse and write texts, count too.
    """
    opened = open_home(home)
    seconds: dict[str, float] = {}
    with connect_in_memory() as database:
        build = Build(opened, KEY, "measured", BuildOptions(), new_connection=database.cursor)
        with hold_repository(opened.layout, KEY, run_id="measured", wait_s=0) as build.record:
            reused = set()
            for request in _in_order():
                start = sum(map(processor_seconds, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
                if request.method is BuilderMethod.PERFORM and build.perform(request.about).is_reused:
                    reused.add(request.about)
                elif request.method is BuilderMethod.SHOW and request.about not in reused:
                    build.show(request.about)
                elif request.method is BuilderMethod.CHECK:
                    build.check(request.about)
                end = sum(map(processor_seconds, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
                method = {BuilderMethod.SHOW: "previews", BuilderMethod.CHECK: "checks"}.get(request.method)
                name = method or request.about
                if name:
                    seconds[name] = seconds.get(name, 0.0) + end - start
    return seconds


def steps_of(tree: Path, home: Path) -> dict[str, float]:
    """As `measure_steps`, in a process of its own."""
    found: dict[str, float] = json.loads(run_measured(tree, __file__, "--steps", str(home))[1].splitlines()[-1])
    return found


def copy_beside(home: Path, repository: Path) -> Path:
    """The copy that is changed, beside the home in which it is registered."""
    copy = home.parent / f"{home.name}-repository"
    if not copy.exists():
        clone = ["git", "clone", "--quiet", "--shared", str(repository.resolve()), str(copy)]
        subprocess.run(clone, check=True)
    opened = open_home(home)
    if KEY not in {entry.key for entry in opened.registry.entries()}:
        opened.registry.add(RepositoryEntry(key=KEY, location=str(copy)))
    return copy


def format_table(whole: Mapping[str, Sequence[float]], steps: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """A row for the whole command and for each step; a column for each kind."""
    kinds = list(whole)
    yield f"| processor seconds | {' | '.join(kinds)} |"
    yield f"|---|{'---:|' * len(kinds)}"
    yield f"| **whole command** | {' | '.join(f'{median(whole[kind]):.2f}' for kind in kinds)} |"
    yield f"| {' | '.join(['steps, checks, previews', *(f'{sum(steps[kind].values()):.2f}' for kind in kinds)])} |"
    for name in next(iter(steps.values())):
        yield f"| {' | '.join([name, *(f'{steps[kind].get(name, 0.0):.2f}' for kind in kinds)])} |"


def main() -> None:
    """Prepare a copy and its index, make the changes, print the table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--changes", type=int, default=3)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--tree", type=Path, default=PROJECT)
    parser.add_argument("--kinds", nargs="+")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="edits-") as scratch:
        home = (arguments.home or Path(scratch) / "home").resolve()
        copy = copy_beside(home, arguments.repository)
        started = time.monotonic()
        first = index(arguments.tree, home)
        print(f"brought up to date: {first:.1f} s of a processor, {time.monotonic() - started:.0f} s", file=sys.stderr)
        changes = Changes(GitRepo(copy), home)
        whole: dict[str, list[float]] = {}
        steps: dict[str, dict[str, float]] = {}
        for kind in arguments.kinds or (UNCHANGED, *changes.kinds):
            for _ in range(arguments.changes):
                changes.make(kind)
                whole.setdefault(kind, []).append(index(arguments.tree, home))
            changes.make(kind)
            steps[kind] = steps_of(arguments.tree, home)
            print(f"{kind}: {[round(one, 2) for one in whole[kind]]}", file=sys.stderr, flush=True)
        imports = [min(run_measured(arguments.tree, "-c", line)[0] for _ in range(2)) for line in IMPORTS]
        print("\n".join(format_table(whole, steps)))
        print(f"\nOf the whole command, imports take {sum(imports):.2f} s: {imports[1]:.2f} of them Dagster's process.")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--steps"]:
        print(json.dumps(measure_steps(Path(sys.argv[2]))))
    else:
        main()
