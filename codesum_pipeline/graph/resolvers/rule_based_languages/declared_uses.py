"""What the names of a file mean that are used and not called: a function, a class, or a constant of a file.

They are found as callees are, and believed less readily: not by a name that is unique, and an attribute only where it
is called what it means.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from codesum_pipeline.foundation.data_model.bindings import Bound
from codesum_pipeline.foundation.data_model.expression import Chain, ExpressionStep
from codesum_pipeline.foundation.data_model.ids import symbol_id
from codesum_pipeline.foundation.data_model.possible_values import (
    UNKNOWN,
    ClassValue,
    FunctionValue,
    ModuleValue,
    ObjectValue,
    Reason,
    Value,
    VariableValue,
)
from codesum_pipeline.foundation.data_model.scopes import Key, Scope, ScopedFile, UseExpression
from codesum_pipeline.graph.resolvers.resolver import Resolver, Use
from codesum_pipeline.graph.resolvers.rule_based_languages.declared_members import DeclaredMembers
from codesum_pipeline.graph.resolvers.rule_based_languages.declared_names import DeclaredNames
from codesum_pipeline.languages.declarations.name_tree import NameTree, Table
from codesum_pipeline.languages.declarations.rules import Member

# The id of what is used, and how that was found.
_Found = tuple[str, Reason]


class DeclaredUses:
    """Finds what the uses of one family's files mean; `choose` is one of several functions by a number of arguments."""

    def __init__(
        self,
        resolver: Resolver[Chain | None, ExpressionStep],
        names: DeclaredNames,
        members: DeclaredMembers,
        tree: NameTree,
        choose: Callable[[FunctionValue, int], Value],
    ) -> None:
        self._resolver, self._names, self._members, self._tree, self._choose = resolver, names, members, tree, choose
        # The file of a constant of a package or file; None where several have it.
        self._constants: Table[tuple[Key, str], str | None] = tree.table("constants")
        self._constant_names: Table[str, bool] = tree.table("names of constants")
        self._constants_of: Table[tuple[str, str], bool] = tree.table("constants of files")
        for path in sorted(tree.files):
            file = tree.files[path]
            for name in file.constants - file.private_constants:
                at = (file.unit, name)
                self._constants.rows[at] = None if self._constants.rows.get(at, path) != path else path
            self._constant_names.rows.update(dict.fromkeys(file.constants, True))
            self._constants_of.rows.update(dict.fromkeys(((path, name) for name in file.constants), True))
        # Zig, whose files are types, has fields behind their objects alone.
        self._sees_fields = names.rules.sees_members and not names.rules.files_are_types
        self._of_classes: Table[str, bool] = tree.table("names of constants of classes", self._names_of_classes())

    def of_file(self, file: ScopedFile) -> Iterator[Use]:
        """The uses of a file whose meaning is known."""
        imports = self._names.imports[file.path]
        imported = {one.name for _, one in imports if not one.is_star}
        # Of several imports of one name the first is meant.
        members = {
            one.name: one.target
            for at, one in reversed(imports)
            if at < 0 and not one.is_star and isinstance(one.target, Member)
        }
        starred = tuple(dict.fromkeys(path for _, one in imports if one.is_star for path in one.files))
        found: dict[str, list[tuple[Key, Use]]] = defaultdict(list)
        for use in file.code()[1]:
            name = use.path[-1].name
            if name not in self._constant_names and name not in self._tree.by_name and name not in imported:
                continue
            scope = file.scopes[use.scope]
            if (value := self._definition(scope, use)) is not None:
                meant = self._names.rules.meant_by(scope, use, value.scope)
                # Something inside of it does not use it, also in another file.
                if meant is not None and meant.id is not None and scope.definition.key[: len(meant.key)] != meant.key:
                    key = meant.key if meant.is_class else ()
                    found[scope.caller_id].append((key, Use(scope.caller_id, meant.id, value.why, use.times)))
            elif (
                name in self._constant_names
                and (constant := self._constant(scope, use.path, members, starred)) is not None
            ):
                yield Use(scope.caller_id, *constant, use.times)
        for uses in found.values():
            # A class that is named on the way to one inside of it is not used by itself.
            ways = {key[:size] for key, _ in uses for size in range(1, len(key))}
            yield from (use for key, use in uses if not key or key not in ways)

    def _definition(self, scope: Scope, use: UseExpression) -> ClassValue | FunctionValue | None:
        *receiver, step = use.path
        if self._names.variable_scope(scope, use.path[0].name) is not None and not (receiver and use.may_be_function):
            return None
        value: Value = UNKNOWN
        if use.may_be_function:
            value = self._resolver.value(scope, use.path)
            if isinstance(value, FunctionValue) and not use.is_only:
                value = self._choose(value, use.arguments)
        if not isinstance(value, ClassValue | FunctionValue):
            # A path of types and packages is read as a type is.
            value = self._members.named(scope, [one.name for one in use.path])
        if not isinstance(value, ClassValue | FunctionValue):
            return None
        if isinstance(value, FunctionValue):
            is_one = use.may_be_function and not value.overloads
            if not is_one or not value.scope.takes(use.arguments):
                return None
        if not receiver:
            return None if use.may_be_function and self._is_hidden(scope, step.name, value.scope) else value
        # An attribute may hold what has another name; that is used where it is assigned.
        return value if value.scope.name == step.name else None

    def _is_hidden(self, scope: Scope, name: str, meant: Scope) -> bool:
        """Whether a value nearer than a definition has its name: a constant of the file, a field of a class around."""
        if meant.is_class and meant.file is not scope.file and name in scope.file.constants:
            return True
        for class_ in scope.around() if self._sees_fields else ():
            if class_.is_class:
                keys = [one.key for one in self._resolver.ancestors(class_) if isinstance(one, Scope)]
                if meant.key[:-1] in keys:
                    return False
                found = (one for key in keys for one in self._tree.fields(key, name))
                # What methods assign to their object is behind that alone.
                if fields := [binding for holder, binding in found if holder.is_class]:
                    return not self._names.rules.is_type_before_member(scope, name, meant, fields)
        return False

    def _is_field(self, scope: Scope, name: str) -> bool:
        """Whether a class around has a field of a name, which is meant by it; its functions and classes are none."""
        around = (one for one in scope.around() if one.is_class) if self._sees_fields else ()
        return any(name in one.names and not one.bound(name, Bound.DEFINED) for one in around)

    def _constant(
        self, scope: Scope, path: Chain, members: Mapping[str | None, Member], starred: Sequence[str]
    ) -> _Found | None:
        """What a path means in a file that imports these members by name, and all of other files."""
        *receiver, step = path
        file, name = scope.file, step.name
        if receiver:
            value = self._resolver.value(scope, tuple(receiver))
            if isinstance(value, ModuleValue | ObjectValue):
                return self._in_unit(value.module, name, Reason.IMPORT)
            return None
        if self._names.variable_scope(scope, name) is not None:
            return None
        if self._is_field(scope, name):
            return None
        if name in file.constants:
            return symbol_id(file.path, [name]), Reason.SAME_FILE
        if name in self._of_classes and any(one.is_class for one in scope.around()):
            # It may be one of a class, which hides those of other files.
            return None
        if (member := members.get(name)) is not None:
            return self._in_unit(member.key, member.name, Reason.IMPORT)
        for key in self._names.rules.spaces_of(file):
            if (found := self._in_unit(key, name, Reason.PACKAGE)) is not None:
                return found
        # A constant of the one file that the file takes in as a whole and that has it.
        paths = [path for path in starred if (path, name) in self._constants_of]
        return (symbol_id(paths[0], [name]), Reason.IMPORT) if len(paths) == 1 else None

    def _names_of_classes(self) -> dict[str, bool]:
        """The constants that classes have, too; none where fields are not seen."""
        files = self._tree.files.values() if self._sees_fields else ()
        names = self._constant_names.rows.keys()
        return {name: True for file in files for scope in file.scopes if scope.is_class for name in names & scope.names}

    def _in_unit(self, key: Key, name: str, why: Reason) -> _Found | None:
        path: str | None = self._constants.get((key, name))
        if path is None and isinstance(value := self._names.member(key, name), VariableValue):
            name = value.name
            path = self._constants.get((value.module, name))
        return None if path is None else (symbol_id(path, [name]), why)
