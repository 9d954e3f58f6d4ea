"""Ruby: constants in one tree that all files share; classes and modules may be reopened."""

from collections.abc import Iterator

from codesum_pipeline.graph.declared import common_methods
from codesum_pipeline.graph.declared.definitions import DeclaredFile, ImportRow, Key
from codesum_pipeline.graph.declared.projects import join
from codesum_pipeline.graph.declared.rules import Outside, ResolvedImport, Rules

_BUILTINS = frozenset({
    "ArgumentError", "Array", "Class", "Comparable", "Complex", "Date", "Dir", "ENV", "Enumerable", "Exception", "File",
    "Float", "GC", "Hash", "IO", "IndexError", "Integer", "Kernel", "KeyError", "Marshal", "Math", "Method", "Module",
    "Mutex", "NameError", "NotImplementedError", "Object", "ObjectSpace", "Proc", "Process", "Queue", "Random", "Range",
    "Rational", "Regexp", "RuntimeError", "Set", "Signal", "StandardError", "String", "Struct", "Symbol", "Thread",
    "Time", "TypeError", "abort", "alias_method", "at_exit", "attr_accessor", "attr_reader", "attr_writer", "binding",
    "block_given?", "catch", "define_method", "eval", "exit", "extend", "format", "freeze", "gets", "include", "lambda",
    "load", "loop", "module_function", "p", "pp", "prepend", "print", "printf", "private", "private_constant", "proc",
    "protected", "public", "puts", "raise", "rand", "require", "require_relative", "sleep", "sprintf", "super", "throw",
    "yield",
})  # fmt: skip


class RubyRules(Rules):
    """A plain name is a method of the object or of its class; a constant is one of the scopes around or of the top."""

    languages = frozenset({"ruby"})
    common_methods = common_methods.RUBY
    sees_members = True
    is_merged = True
    separator = "::"
    own_words = frozenset({"self"})
    constructors = ("initialize",)
    builtins = _BUILTINS

    def unit(self, file: DeclaredFile) -> Key:
        return ()

    def resolve_import(self, file: DeclaredFile, row: ImportRow) -> Iterator[ResolvedImport]:
        name = row.module if row.module.endswith(".rb") else f"{row.module}.rb"
        near = join(file.folder, name) if row.level or row.module.startswith(".") else None
        found = [near] if near is not None and near in self.projects.paths else self._on_load_path(name)
        if len(found) == 1:
            yield ResolvedImport(None, None, (found[0],))
        elif not found and not row.level and not row.module.startswith("."):
            yield ResolvedImport(Outside(row.module.partition("/")[0], ""))

    def _on_load_path(self, name: str) -> list[str]:
        found = self.projects.ending(name.removeprefix("./"))
        return [path for path in found if f"/{path}".endswith((f"/lib/{name}", f"/app/{name}"))] or [
            path for path in found if path == name
        ]
