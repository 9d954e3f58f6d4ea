"""Bash, and what other shells have in common with it.

Blanks separate words, so each word stays as written: texts, expansions,
substitutions. Commands in them are found all the same. `;` before `then`
and `do` is shown whether written or a line's end, and left out between commands,
which are on lines of their own.
"""

import re
from collections.abc import Iterator

import tree_sitter_bash
from tree_sitter import Node

from codesum_pipeline.foundation.data_model.possible_values import ModuleValue
from codesum_pipeline.foundation.data_model.scopes import ImportRow, ScopedFile
from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.languages.declarations import hooks
from codesum_pipeline.languages.declarations.declaration import Declaration, syntax_beside
from codesum_pipeline.languages.declarations.handed_names import find_word_of_bash
from codesum_pipeline.languages.declarations.hook_values import CallSyntax, ImportSyntax
from codesum_pipeline.languages.declarations.kin import parent_of
from codesum_pipeline.languages.declarations.node_code import Text, raw_text
from codesum_pipeline.languages.declarations.nodes import find_field
from codesum_pipeline.languages.declarations.projects import join_path
from codesum_pipeline.languages.declarations.rules import ResolvedImport, Rules
from codesum_pipeline.languages.declarations.spec import split_words

# Zsh has flags in expansions, `for x (…)`, anonymous functions and globs that this grammar takes for something else.
_ZSH_FILES = split_words(".zshrc .zprofile")
_ZSH_SCRIPT = re.compile(rb"#![^\n]*\bzsh\b")
_NAME = re.compile(r"[^\s$`\"'\\()<>|&;=]+")
_GLOBAL_WORDS = split_words("export readonly declare typeset")
# What begins a path that the shell computes, up to the first of its fixed parts.
_COMPUTED = re.compile(r"^(?:\$\{[^}]*\}|\$\w+|\$\((?:[^()]|\([^()]*\))*\)|\$[@*#?])+/")


def _is_default(node: Node) -> bool:
    """Whether an arm of a `case` matches everything: `*)`."""
    value = find_field(node, "value")
    return node.type == "case_item" and value is not None and value.text == b"*"


def _is_zsh(path: str, source: bytes) -> bool:
    name = path.rpartition("/")[2].lower()
    return name.endswith(".zsh") or name in _ZSH_FILES or _ZSH_SCRIPT.match(source[:256]) is not None


def _command(node: Node, text: Text) -> CallSyntax | None:
    """A command whose name is fixed. A `trap` calls the command in its first argument."""
    name, argument = _unquoted(node, "name"), find_field(node, "argument")
    if name == "exit" and raw_text(argument) in ("", "0"):
        return None
    if name == "trap" and argument is not None:
        name = next(iter(re.split(r"[\s;]", _unquoted(node, "argument"))), "")
    return CallSyntax("", name) if name and _NAME.fullmatch(name) else None


def _unquoted(node: Node, field: str) -> str:
    written = raw_text(node, field)
    return written[1:-1] if len(written) > 1 and written[0] in "\"'" and written[0] == written[-1] else written


def _source(node: Node, text: Text) -> Iterator[ImportSyntax]:
    """`source path`: the path from its first fixed part (`"$DIR/lib/a.sh"` → `lib/a.sh`)."""
    if raw_text(node, "name") not in ("source", "."):
        return
    path = _unquoted(node, "argument").replace('"/', "/").replace("'/", "/").replace('"', "")
    path = _COMPUTED.sub("", path)
    if path and not re.search(r"[$`(*]", path):
        yield ImportSyntax(path)


def _declared(node: Node, text: Text) -> Iterator[str]:
    """The names of `export A=1 B` and the like."""
    if node.children and node.children[0].type in _GLOBAL_WORDS:
        for child in node.named_children:
            if child.type in ("variable_assignment", "variable_name"):
                yield raw_text(find_field(child, "name") or child)


def _assigned(node: Node, text: Text) -> Iterator[str]:
    """A variable in capital letters: such a name says that the whole file uses it."""
    name = find_field(node, "name")
    around = parent_of(node)
    is_for_command = around is not None and around.type == "command"
    if name is not None and name.type == "variable_name" and raw_text(name).isupper() and not is_for_command:
        yield raw_text(name)


DECLARATION = Declaration(
    **syntax_beside(
        __file__,
        tree_sitter_bash.language,
        spec={"count_branches": lambda node: 0 if _is_default(node) else 1},
        uses={"find_handed": find_word_of_bash},
    ),
    definitions={"function_definition": hooks.definition_reader(SymbolType.FUNCTION)},
    is_dialect=_is_zsh,
    calls={"command": _command},
    imports={"command": _source},
    is_public=lambda parts, modifiers: not parts[-1].startswith("_"),
    globals={"declaration_command": _declared, "variable_assignment": _assigned},
)


class BashRules(Rules):
    """A script sees the functions of the files that it sources."""

    languages = frozenset({"bash"})

    def resolve_import(self, file: ScopedFile, row: ImportRow) -> Iterator[ResolvedImport]:
        near = join_path(file.folder, row.module)
        found = [near] if near in self.projects.paths else self.projects.ending(row.module.removeprefix("./"))
        if len(found) == 1 and found[0] is not None:
            yield ResolvedImport(ModuleValue((found[0],)), None, (found[0],), is_star=True, is_handed_on=True)
