"""JavaScript and TypeScript: each file is a module, which gives what it exports."""

from collections.abc import Iterator, Sequence

from codesum_pipeline.foundation.data_model.bindings import Bound
from codesum_pipeline.foundation.data_model.ids import without_suffix
from codesum_pipeline.foundation.data_model.possible_values import UNKNOWN, ClassValue, ModuleValue, Reason, Value
from codesum_pipeline.foundation.data_model.scopes import ImportRow, Key, Scope, ScopedFile
from codesum_pipeline.languages.declarations.ecmascript.specifiers import EcmascriptModules, package_name
from codesum_pipeline.languages.declarations.name_tree import NameTree, Table
from codesum_pipeline.languages.declarations.projects import Projects
from codesum_pipeline.languages.declarations.rules import Member, Outside, ResolvedImport, Rules

# The modifier, for the graph, of a class that is a component.
COMPONENT = "component"
_VUE = ".vue"
# Components that come with Vue and its router.
_OF_VUE = frozenset((
    "Component", "KeepAlive", "RouterLink", "RouterView", "Suspense", "Teleport", "Transition", "TransitionGroup",
))  # fmt: skip
# Where a class and interfaces of one name in one place are one type.
_JOINING = frozenset({"typescript", "tsx"})


class EcmascriptRules(Rules):
    """Each file is a module, found by the specifiers of imports. Re-exports pass names on."""

    languages = frozenset({"javascript", "typescript", "tsx", "vue", "svelte", "astro"})
    library = "javascript"
    constructors = ("constructor",)
    has_modules = True

    def __init__(self, projects: Projects) -> None:
        super().__init__(projects)
        self.modules = EcmascriptModules(projects)

    def use_tree(self, tree: NameTree) -> None:
        super().use_tree(tree)
        # A function in a component is none of its methods: nothing calls it through an object.
        for name in [name for name, scope in tree.methods.rows.items() if not scope.is_member]:
            del tree.methods.rows[name]
        # For each name that a module gives, the name that it has inside of the file.
        self._exports: Table[tuple[Key, str], str] = tree.table("exports")
        self._handed: dict[str, frozenset[str]] = {}
        for path in sorted(tree.files):
            names = _exports(tree.files[path])
            self._exports.rows |= {((path,), outer): inner for outer, inner in names.items()}
            self._handed[path] = frozenset(names.values())

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        path = self.modules.find(file.folder, row.module)
        exports = self._handed.get(file.path, ())
        is_star = row.name == "*"
        name = row.bound_name if not is_star else None
        handed = is_star or (name is not None and name in exports)
        if path is not None:
            target = ModuleValue((path,)) if row.name is None or is_star else Member((path,), row.name)
            yield ResolvedImport(target, name, (path,), is_star, handed)
        elif not self.modules.is_relative(row.module) and not self.modules.is_own(file.folder, row.module):
            package = package_name(row.module).removeprefix("node:")
            taken = row.name if row.name not in (None, "*", "default") else ""
            yield ResolvedImport(Outside(package, taken or ""), name, (), is_star, handed)

    def inner_spaces(self, scope: Scope) -> Iterator[Key]:
        """An object's functions do not see each other; only types do what is declared in namespaces."""
        for key in super().inner_spaces(scope):
            if key in self.tree.classes:
                continue
            if scope.file.language != "javascript" and key[-1][:1].isupper():
                yield key

    def owner_key(self, definition: Scope) -> Key:
        """That of the nearest member around: of a class, or of an object that may be a function's. All options of a
        component are functions of the component."""
        member = next((scope for scope in definition.around() if scope.is_member or scope.is_class), None)
        if member is None:
            return super().owner_key(definition)
        if member.parent is not None and COMPONENT in member.parent.modifiers:
            return member.parent.key
        return member.key if member.is_class else member.key[:-1]

    def own_class(self, scope: Scope, key: Key) -> Scope | None:
        return next((around for around in scope.around() if around.is_class and around.key == key), None)

    def is_of(self, owner: Scope, scope: Scope) -> bool:
        """Classes of one name in several functions each have their own members: those that are in no other class."""
        class_ = next((around for around in scope.around() if around.is_class), None)
        return class_ is None or class_ is owner or class_.key != owner.key

    def members_of(self, owner: Scope, definitions: Sequence[Scope]) -> Sequence[Scope]:
        return [entry for entry in definitions if self.is_of(owner, entry.parent or entry)]

    def has_variable(self, key: Key, name: str) -> bool:
        file = self.tree.known_files.get(key[0]) if len(key) == 1 else None
        if file is None:
            return False
        inner = self.local_key(key, name)[-1]
        written = (inner, self.member_name(key, name))
        return any(self.tree.bound(file.top, one, Bound.ANNOTATED, Bound.VALUE) for one in written)

    def member_name(self, key: Key, name: str) -> str:
        """A member of what a module gives as a whole, as the module writes it."""
        return f"{self._exports.get((key, 'default'), '')}.{name}"

    def joined_among(self, classes: Sequence[Scope]) -> Sequence[Scope]:
        """TypeScript joins interfaces with the class of their name that is beside them, which has the plain id."""
        first = classes[0]
        is_joined = first.file.language in _JOINING and all(one.parent is first.parent for one in classes)
        plain = [one for one in classes if one.id is not None and without_suffix(one.id) == one.id]
        return plain if is_joined and len(plain) == 1 else classes

    def importable_among(self, definitions: Sequence[Scope]) -> Sequence[Scope]:
        """Definitions in a function are local to it, unless nothing else has the name."""
        outer = [entry for entry in definitions if entry.is_member or (entry.parent and entry.parent.is_top)]
        return outer or definitions

    def local_key(self, key: Key, name: str) -> Key:
        return (*key, self._exports.get((key, name), name))

    def value_of_called(self, file: ScopedFile, name: str, count: int) -> Value:
        """A component of Vue that a program registers for all others, or a framework does: the only one of its name."""
        if not file.path.endswith(_VUE) or not name[:1].isupper() or name in _OF_VUE:
            return UNKNOWN
        named: Sequence[Scope] = self.tree.by_name.get(name, ())
        found = [one for one in named if COMPONENT in one.modifiers and one.file.path.endswith(_VUE)]
        return ClassValue(found[0], Reason.UNIQUE_NAME) if len(found) == 1 else UNKNOWN

    def callee_of(self, module: Key) -> Member | None:
        return Member(module, "default") if len(module) == 1 else None


def _exports(file: ScopedFile) -> dict[str, str]:
    """The exported names of a module: for each name that others see, the name that it has inside of the file.

    A default that has a name counts before one that is made of it.
    """
    names: dict[str, str] = {}
    for export in file.exports or ():
        inner, renamed, outer = export.partition(" as ")
        name = outer if renamed else inner
        if names.get(name, name) == name:
            names[name] = inner
    return names
