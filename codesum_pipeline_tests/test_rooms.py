"""The folders of the package are its architecture: few, in one order, each with more than one file, without circles."""

from collections import Counter
from pathlib import Path

import grimp
import networkx as nx

import codesum_pipeline
import codesum_pipeline_tests
from codesum_pipeline_tests.support.rooms import rooms

PACKAGE = Path(codesum_pipeline.__file__).parent
TESTS = Path(codesum_pipeline_tests.__file__).parent


def folders_below(top: Path) -> set[Path]:
    """The folders that hold anything but compiled files."""
    return {path.parent for path in top.rglob("*") if path.is_file() and path.suffix != ".pyc"}


def test_the_package_has_thirteen_rooms_at_most_and_the_contract_orders_them_all() -> None:
    found = {folder.relative_to(PACKAGE).parts[0] for folder in folders_below(PACKAGE) - {PACKAGE}}

    assert set(rooms()) == found
    assert len(found) <= 13


def test_tests_stand_in_the_same_rooms() -> None:
    found = {folder.relative_to(TESTS).parts[0] for folder in folders_below(TESTS) - {TESTS}}

    assert found - set(rooms()) == {"support"}


def test_a_module_name_stands_once_in_the_package() -> None:
    names = Counter(path.stem for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")

    assert [name for name, count in names.items() if count > 1] == []


def test_no_folder_has_one_file() -> None:
    alone = [
        str(folder.relative_to(PACKAGE))
        for folder in folders_below(PACKAGE)
        if len([path for path in folder.iterdir() if path.name not in ("__init__.py", "__pycache__")]) < 2
    ]

    assert alone == []


def test_no_modules_import_each_other_in_a_circle_late_or_for_types_either() -> None:
    imports = grimp.build_graph(codesum_pipeline.__name__, cache_dir=None)
    graph = nx.DiGraph(
        (module, imported)
        for module in imports.modules
        for imported in imports.find_modules_directly_imported_by(module)
    )

    assert [sorted(circle) for circle in nx.strongly_connected_components(graph) if len(circle) > 1] == []
