"""The edges of the declared languages, family by family; no family knows of another's names."""

from collections import defaultdict
from collections.abc import Mapping

from codesum_pipeline.graph.call_sites import CallSite
from codesum_pipeline.graph.declared.c_family import CFamilyRules
from codesum_pipeline.graph.declared.c_sharp import CSharpRules
from codesum_pipeline.graph.declared.calls import FamilyCallResolver
from codesum_pipeline.graph.declared.definitions import DeclaredFile, ScopeDefinition
from codesum_pipeline.graph.declared.ecmascript import EcmascriptRules
from codesum_pipeline.graph.declared.go import GoRules
from codesum_pipeline.graph.declared.jvm import JvmRules
from codesum_pipeline.graph.declared.lua import LuaRules
from codesum_pipeline.graph.declared.modules import BashRules, ElixirRules, HaskellRules, SwiftRules, ZigRules
from codesum_pipeline.graph.declared.names import FamilyNameResolver
from codesum_pipeline.graph.declared.php import PhpRules
from codesum_pipeline.graph.declared.projects import Projects
from codesum_pipeline.graph.declared.ruby import RubyRules
from codesum_pipeline.graph.declared.rules import Outside, Rules
from codesum_pipeline.graph.declared.rust import RustRules
from codesum_pipeline.graph.declared.tree import NameTree
from codesum_pipeline.graph.declared.unique import UniqueMethods
from codesum_pipeline.graph.declared.values import External, NamedDefinitions, Value
from codesum_pipeline.graph.edge_table import EdgeTable
from codesum_pipeline.graph.reasons import Reason
from codesum_pipeline.model.graph import EdgeKind
from codesum_pipeline.model.guard import FailureGuard

FAMILIES: tuple[type[Rules], ...] = (
    BashRules, CFamilyRules, CSharpRules, EcmascriptRules, ElixirRules, GoRules, HaskellRules, JvmRules, LuaRules,
    PhpRules, RubyRules, RustRules, SwiftRules, ZigRules,
)  # fmt: skip


class Family:
    """One family's files, resolved; `guard` is told which of them cannot be taken in."""

    def __init__(self, rules: Rules, files: Mapping[str, DeclaredFile], guard: FailureGuard) -> None:
        for path, file in files.items():
            with guard.item(path):
                file.unit = rules.unit(file)
        self.files = files
        self.rules = rules
        self.tree = NameTree(files, guard)
        rules.use(self.tree)
        self.names = FamilyNameResolver(rules, self.tree, guard)
        taken_in = {
            path: {target for _, resolved in imports.rows for target in resolved.files}
            for path, imports in self.names.imports.items()
        }
        self.calls = FamilyCallResolver(rules, self.names, UniqueMethods(self.tree, taken_in, rules.common_methods))
        self._extended: dict[str, list[tuple[ScopeDefinition, Value]]] = defaultdict(list)
        for path in sorted(files):
            with guard.item(path):
                for class_, base in self.calls.extended(files[path]):
                    self._extended[class_.file.path].append((class_, base))
        self.calls.extend(extended for found in self._extended.values() for extended in found)
        self._used = {path: frozenset(used) for path, used in self.names.used.items()}

    def edges(self, path: str) -> EdgeTable:
        """The edges that start in one file, whatever other files were resolved before."""
        table = EdgeTable()
        self._begin(path)
        self._add_bases(table, path)
        for site in self.calls.sites(self.files[path]):
            table.add_call(site)
        self._add_imports(table, path)
        return table

    def sites(self, path: str) -> list[CallSite]:
        """The calls of one file."""
        self._begin(path)
        return list(self.calls.sites(self.files[path]))

    def _begin(self, path: str) -> None:
        """Forget what was found out for other files: in circles an answer depends on which was asked for first."""
        self.calls.forget()
        self.names.used[path] = set(self._used.get(path, ()))

    def _add_bases(self, table: EdgeTable, path: str) -> None:
        """Which classes a file's classes derive from, wherever that is written."""
        classes = (definition for definition in self.files[path].definitions if definition.is_class)
        own = ((class_, base) for class_ in classes for base in self.calls.bases(class_))
        for class_, base in (*own, *self._extended.get(path, ())):
            if isinstance(base, NamedDefinitions) and (parent := base.as_class) is not None:
                table.add(class_.id, parent.id, EdgeKind.INHERIT, base.why)
            elif isinstance(base, External):
                table.add(class_.id, base.name, EdgeKind.INHERIT, Reason.IMPORT, is_external=True)

    def _add_imports(self, table: EdgeTable, path: str) -> None:
        """Which files and packages a file imports; of a package's files those that it uses names of."""
        for _, resolved in self.names.imports[path].rows:
            for target in resolved.files:
                if target != path:
                    table.add(path, target, EdgeKind.IMPORT, Reason.IMPORT)
            if isinstance(resolved.target, Outside):
                table.add(path, resolved.target.package, EdgeKind.IMPORT, Reason.IMPORT, is_external=True)
        known = {target for _, resolved in self.names.imports[path].rows for target in resolved.files}
        folder = self.files[path].unit
        for target in sorted(self.names.used[path] - known - {path}):
            if self.files[target].unit != folder:
                table.add(path, target, EdgeKind.IMPORT, Reason.IMPORT)


def families(files: Mapping[str, DeclaredFile], projects: Projects) -> list[Family]:
    """The families that a repository has files of."""
    found = []
    for rules in FAMILIES:
        own = {path: files[path] for path in sorted(files) if files[path].language in rules.languages}
        if own:
            found.append(Family(rules(projects), own, FailureGuard()))
    return found
