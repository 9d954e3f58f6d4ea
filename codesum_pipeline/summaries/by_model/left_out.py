"""What a model is not asked for by default: test code, and what its author documented."""

from collections.abc import Collection, Set

from codesum_pipeline.model.guard import FailureGuard
from codesum_pipeline.parsing.testing import is_among, read_tests
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.extractive.upper import author_opening, author_opening_of_function
from codesum_pipeline.summaries.functions import docstrings_of
from codesum_pipeline.summaries.outline import DocumentTree
from codesum_pipeline.summaries.placeholder import UpperInput
from codesum_pipeline.summaries.shown import module_layers


class TestCode:
    """The files and single definitions of test code, and the folders of nothing else."""

    # Not a class of tests, whatever its name makes of it.
    __test__ = False

    def __init__(self, workspace: Workspace, outline: DocumentTree) -> None:
        found = {*read_tests(workspace.tables, workspace.key)}
        for folder in (path for layer in module_layers(outline) for path in layer):
            if all(child.id in found for child in outline.children[folder]):
                found.add(folder)
        self._found: Set[str] = found

    def __contains__(self, id_: str) -> bool:
        return is_among(self._found, id_)


class Documentation:
    """Which documents their authors documented; each is looked at once."""

    def __init__(self, workspace: Workspace, guard: FailureGuard) -> None:
        self._workspace = workspace
        self._guard = guard
        self._functions: dict[str, bool] = {}
        self._others: dict[str, bool] = {}

    def look_at_functions(self, ids: Collection[str]) -> None:
        """Read those functions' docstrings that were not yet."""
        missing = [id_ for id_ in ids if id_ not in self._functions]
        for id_, language, name, docstring in docstrings_of(self._workspace, missing) if missing else ():
            self._functions[id_] = False
            with self._guard.item(id_):
                self._functions[id_] = bool(author_opening_of_function(docstring, language, name))

    def of_function(self, id_: str) -> bool:
        """False for one that was not looked at."""
        return self._functions.get(id_, False)

    def of_upper(self, given: UpperInput) -> bool:
        """Whether a class, file or folder is documented by itself."""
        if given.id not in self._others:
            self._others[given.id] = False
            with self._guard.item(given.id):
                self._others[given.id] = bool(author_opening(given))
        return self._others[given.id]
