"""The edges of the declared languages, family by family; no family knows of another's names."""

from collections import Counter
from collections.abc import Mapping

from codesum_pipeline.graph.call_sites import CallSite, Outcome
from codesum_pipeline.graph.declared.c_family import CFamilyRules
from codesum_pipeline.graph.declared.c_sharp import CSharpRules
from codesum_pipeline.graph.declared.calls import Calls
from codesum_pipeline.graph.declared.definitions import DeclaredFile
from codesum_pipeline.graph.declared.ecmascript import EcmascriptRules
from codesum_pipeline.graph.declared.go import GoRules
from codesum_pipeline.graph.declared.jvm import JvmRules
from codesum_pipeline.graph.declared.lua import LuaRules
from codesum_pipeline.graph.declared.modules import BashRules, ElixirRules, HaskellRules, SwiftRules, ZigRules
from codesum_pipeline.graph.declared.names import Names
from codesum_pipeline.graph.declared.php import PhpRules
from codesum_pipeline.graph.declared.projects import Projects
from codesum_pipeline.graph.declared.ruby import RubyRules
from codesum_pipeline.graph.declared.rules import Outside, Rules
from codesum_pipeline.graph.declared.rust import RustRules
from codesum_pipeline.graph.declared.tree import NameTree
from codesum_pipeline.graph.declared.unique import UniqueMethods
from codesum_pipeline.graph.declared.values import Defined, External
from codesum_pipeline.graph.edge_table import EdgeTable
from codesum_pipeline.graph.reasons import Reason
from codesum_pipeline.model.graph import EdgeKind
from codesum_pipeline.model.progress import Progress, no_progress

PROGRESS_EVERY = 200
FAMILIES: tuple[type[Rules], ...] = (
    BashRules, CFamilyRules, CSharpRules, EcmascriptRules, ElixirRules, GoRules, HaskellRules, JvmRules, LuaRules,
    PhpRules, RubyRules, RustRules, SwiftRules, ZigRules,
)  # fmt: skip


class Family:
    """One family's files, resolved."""

    def __init__(self, rules: Rules, files: Mapping[str, DeclaredFile]) -> None:
        for file in files.values():
            file.unit = rules.unit(file)
        self.files = files
        self.rules = rules
        self.tree = NameTree(files)
        rules.use(self.tree)
        self.names = Names(rules, self.tree)
        taken_in = {
            path: {target for _, resolved in imports.rows for target in resolved.files}
            for path, imports in self.names.imports.items()
        }
        self.calls = Calls(rules, self.names, UniqueMethods(self.tree, taken_in))

    def sites(self, path: str) -> list[CallSite]:
        """The calls of one file."""
        return list(self.calls.sites(self.files[path]))

    def add_bases(self, table: EdgeTable, path: str) -> None:
        """Which classes a file's classes derive from."""
        for class_ in self.files[path].definitions:
            for base in self.calls.bases(class_) if class_.is_class else ():
                if isinstance(base, Defined) and (parent := base.as_class) is not None:
                    table.add(class_.id, parent.id, EdgeKind.INHERIT, base.why)
                elif isinstance(base, External):
                    table.add(class_.id, base.name, EdgeKind.INHERIT, Reason.IMPORT, is_external=True)

    def add_imports(self, table: EdgeTable, path: str) -> None:
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
            found.append(Family(rules(projects), own))
    return found


def add_declared_edges(
    table: EdgeTable,
    files: Mapping[str, DeclaredFile],
    projects: Projects,
    outcomes: Counter[Outcome],
    reasons: Counter[str],
    *,
    progress: Progress = no_progress,
) -> None:
    """Add all edges of the declared languages to a table, and count what became of the calls."""
    done = 0
    for family in families(files, projects):
        for path in family.files:
            if done % PROGRESS_EVERY == 0:
                progress("resolving references of declared languages", done, len(files))
            done += 1
            family.add_bases(table, path)
            for site in family.sites(path):
                outcomes[site.outcome] += 1
                if site.reason is not None:
                    reasons[site.reason] += 1
                if site.target is not None:
                    is_external = site.outcome is Outcome.EXTERNAL
                    reason = site.reason or Reason.IMPORT
                    table.add(site.caller_id, site.target, EdgeKind.CALL, reason, is_external=is_external)
            family.add_imports(table, path)
