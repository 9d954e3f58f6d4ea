"""Whether tests that `impact` lists as kept away by mocks do not run a function, and whether those that it names do.

    python -m benchmarks.kept_away CLONE=PYTHON FUNCTION … --named 12

Each FUNCTION of a clone is asked about, and broken: its body becomes `raise AssertionError`. All tests that are kept
away and the first of those that are named are run before and after. A test that is kept away and fails is wrong.
"""

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.impact import _broken
from codesum_pipeline.answers.agent_tools.asked_definitions import report_uses
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of

_SUITE_S = 600
# Writes whether each test passed; parametrised ones count once.
_PLUGIN = """
import json, os
found = {}
def pytest_runtest_logreport(report):
    id_ = report.nodeid.partition("[")[0]
    if report.when == "call" or report.failed:
        found[id_] = found.get(id_, True) and not report.failed
def pytest_sessionfinish(session):
    with open(os.environ["IMPACT_RESULTS"], "w") as file:
        json.dump(found, file)
"""


def results_of(clone: Path, python: Path, tests: Sequence[str]) -> Mapping[str, bool]:
    """Whether each of some tests passes; empty where none can be run."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "kept_away_plugin.py").write_text(_PLUGIN)
        results = Path(folder) / "results.json"
        command = [str(python), "-m", "pytest", "-q", "-p", "kept_away_plugin", "-p", "no:cacheprovider"]
        command += ["-o", "addopts=", "--continue-on-collection-errors", *tests]
        paths = os.pathsep.join([folder, str(clone / "src"), str(clone)])
        variables = {"PYTHONPATH": paths, "IMPACT_RESULTS": str(results), "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run(
            command, cwd=clone, env={**os.environ, **variables}, capture_output=True, timeout=_SUITE_S, check=False
        )
        return json.loads(results.read_text()) if results.exists() else {}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", metavar="CLONE=PYTHON")
    parser.add_argument("functions", nargs="+", metavar="FUNCTION")
    parser.add_argument("--named", type=int, default=12, help="how many of the tests that are named are run")
    parser.add_argument("--home", type=Path, help="a home that has the index; default: it is built")
    given = parser.parse_args()
    clone, python = (Path(each).absolute() for each in given.clone.split("=", 1))
    with tempfile.TemporaryDirectory() as folder:
        home = given.home or Path(folder) / "home"
        if given.home is None:
            build(workspace_of(open_home(home), RepositoryEntry(clone.name, str(clone))), may_fail=True)
        catalogue = IndexCatalogue.of(load_settings({"home": home}, environ={}))
        totals = [0, 0, 0, 0]
        for name in given.functions:
            try:
                page = report_uses(ToolContext(catalogue, Path("/")), clone.name, [name]).whole()
            except CodesumError as error:
                print(f"{name}: {error}")
                continue
            (asked,) = page.changes
            file = clone / asked.path
            source, broken = file.read_text(), _broken(file, asked.line or 1, asked.end_line or 1)
            lists = [row.id for row in page.tests][: given.named], [row.id for row in page.kept_away]
            if not broken or not any(lists):
                continue
            before = results_of(clone, python, [*lists[0], *lists[1]])
            file.write_text(broken)
            try:
                after = results_of(clone, python, [*lists[0], *lists[1]])
            finally:
                file.write_text(source)
            passed = [[each for each in tests if before.get(each)] for tests in lists]
            failed = [[each for each in tests if not after.get(each)] for tests in passed]
            counts = [len(passed[0]), len(failed[0]), len(passed[1]), len(failed[1])]
            totals = [one + other for one, other in zip(totals, counts, strict=True)]
            print(
                f"{asked.id}: named {page.test_count}, of {counts[0]} run {counts[1]} fail; "
                f"kept away {len(lists[1])}, of {counts[2]} run {counts[3]} fail: {', '.join(failed[1])}",
                flush=True,
            )
        print(f"all: of {totals[0]} named {totals[1]} fail; of {totals[2]} kept away {totals[3]} fail")


if __name__ == "__main__":
    main()
