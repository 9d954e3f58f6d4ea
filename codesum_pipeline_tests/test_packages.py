"""What `pyproject.toml` and the files beside it say of packages holds for code, messages and pages."""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from codesum_pipeline.foundation.data_model.extras import way_to_install
from codesum_pipeline_tests.test_wheel import LEFT_OUT

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "codesum_pipeline"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
PINNED = [canonicalize_name(line.partition("==")[0]) for line in (ROOT / "constraints.txt").read_text().split()]
# Modules that are imported only where a setting asks for their extra.
OF_EXTRAS = {f"builds/dagster/{name}.py" for name in ("celery_runs", "machine_watch", "postgres", "worker")}


def names_of(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(each).name) for each in requirements}


def test_the_wheel_has_the_files_that_are_read_and_none_is_ignored() -> None:
    taken = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert taken == {name: f"codesum_pipeline/{name}" for name in ("prompts", "dagster.yaml")}
    assert all((ROOT / name).exists() for name in taken)
    ignored = ["git", "ls-files", "--others", "--ignored", "--exclude-standard", "codesum_pipeline"]
    listed = subprocess.run(ignored, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    assert [name for name in listed if "__pycache__" not in name] == []


def test_every_extra_that_is_named_exists() -> None:
    code = "\n".join(file.read_text() for file in PACKAGE.rglob("*.py"))
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "deploy").rglob("*")]
    texts = "\n".join(page.read_text() for page in pages if page.suffix == ".md" or page.name == "Dockerfile")
    by_code = {name for call in re.findall(r"way_to_install\(([^)]*)\)", code) for name in re.findall(r"'(\w+)'", call)}
    # The names of launchers, which are extras, too.
    by_code |= {"celery", "k8s", "postgres"}
    by_pages = {name for group in re.findall(r"(?:\.|/src)\[([a-z0-9,]+)\]", texts) for name in group.split(",")}

    assert by_code == EXTRAS.keys()
    assert by_pages == EXTRAS.keys()


def imported_at_once(tree: ast.Module) -> Iterator[str]:
    """The first names of modules that are imported when the module is, apart from those for types alone."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            is_for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            waiting += node.orelse if isinstance(node, ast.If) and is_for_types else ast.iter_child_nodes(node)


def test_what_may_be_missing_is_imported_only_where_it_is_used() -> None:
    always = names_of(PROJECT["project"]["dependencies"]) - {*LEFT_OUT}
    missing = {name for requirements in EXTRAS.values() for name in names_of(requirements)} | {*LEFT_OUT}
    installed = packages_distributions()
    modules = {name for name, owners in installed.items() if {canonicalize_name(owner) for owner in owners} & missing}
    modules |= {name.replace("-", "_") for name in missing}

    assert not missing & always
    found = {
        file.relative_to(PACKAGE).as_posix(): modules & {*imported_at_once(ast.parse(file.read_text()))}
        for file in PACKAGE.rglob("*.py")
    }
    assert {file for file, names in found.items() if names} == OF_EXTRAS


def test_constraints_are_sorted_and_hold_every_package_that_is_named() -> None:
    groups = [PROJECT["project"]["dependencies"], *EXTRAS.values(), *PROJECT["dependency-groups"].values()]
    named = {name for group in groups for name in names_of(group)}

    assert sorted(set(PINNED)) == PINNED
    assert named <= {*PINNED}
    assert {*LEFT_OUT} <= names_of(PROJECT["project"]["dependencies"])


def test_missing_packages_are_installed_as_the_others_were(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    assert way_to_install("celery", "postgres") == (
        "in a checkout, `pip install -c constraints.txt '.[celery,postgres]'` installs what is missing"
    )
    (tmp_path / "uv-receipt.toml").touch()
    monkeypatch.setattr("codesum_pipeline.foundation.data_model.extras.find_spec", lambda _: None)
    assert "`uv tool install -c constraints.txt --excludes without-torch.txt '.[chat]'`" in way_to_install("chat")
    assert "-c constraints.txt --torch-backend cpu .`" in way_to_install(with_torch=True)
