"""SCIP indexes made by hand: the words of sources, and the symbols that stand there."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from codesum_pipeline.symbols.scip.offering import message_class

DEFINITION = 1


def python_symbol(module: str, name: str = "", *, package: str = "shop") -> str:
    """As scip-python names what a module defines: `Cart#`, `Cart#add().`, `total().`."""
    return f"scip-python python {package} 1.0 `{module}`/{name or '__init__:'}"


@dataclass
class HandMadeIndex:
    """An index of some sources; each occurrence is the `nth` of a word in a file, counted from 0."""

    sources: Mapping[str, str]
    tool: str = "scip-python"
    _occurrences: dict[str, list[Any]] = field(default_factory=dict)
    _information: dict[str, list[Any]] = field(default_factory=dict)

    def module(self, path: str, symbol: str) -> Self:
        """The file as a whole."""
        return self.place(path, symbol, (0, 0, 0), roles=DEFINITION)

    def define(
        self,
        path: str,
        word: str,
        symbol: str,
        nth: int = 0,
        *,
        lines: int = 0,
        bases: Sequence[str] = (),
        text: str = "",
    ) -> Self:
        """A definition; `lines` are how many it has, `bases` what it implements, `text` documents it."""
        return self.define_at(path, symbol, self._range(path, word, nth), lines=lines, bases=bases, text=text)

    def define_at(
        self,
        path: str,
        symbol: str,
        range_: tuple[int, int, int],
        *,
        lines: int = 0,
        bases: Sequence[str] = (),
        text: str = "",
    ) -> Self:
        """A definition whose name has this range."""
        information = message_class("SymbolInformation")(symbol=symbol)
        for base in bases:
            information.relationships.add(symbol=base, is_implementation=True)
        if text:
            information.documentation.append(text)
        self._information.setdefault(path, []).append(information)
        enclosing = (range_[0], 0, range_[0] + lines - 1, 999) if lines else ()
        return self.place(path, symbol, range_, roles=DEFINITION, enclosing=enclosing)

    def refer(self, path: str, word: str, symbol: str, nth: int = 0) -> Self:
        """A use of a symbol."""
        return self.place(path, symbol, self._range(path, word, nth))

    def place(
        self, path: str, symbol: str, range_: Sequence[int], *, roles: int = 0, enclosing: Sequence[int] = ()
    ) -> Self:
        """An occurrence at any place, whether or not there is such a one."""
        occurrence = message_class("Occurrence")(
            symbol=symbol, range=range_, symbol_roles=roles, enclosing_range=enclosing
        )
        self._occurrences.setdefault(path, []).append(occurrence)
        return self

    def _range(self, path: str, word: str, nth: int) -> tuple[int, int, int]:
        source = self.sources[path]
        found = [*re.finditer(rf"(?<![\w$]){re.escape(word)}(?![\w$])", source)][nth]
        line = source.count("\n", 0, found.start())
        before = source[source.rfind("\n", 0, found.start()) + 1 : found.start()]
        start = len(before.encode("utf-16-le")) // 2
        return line, start, start + len(word.encode("utf-16-le")) // 2

    def message(self) -> Any:
        """The index as a message."""
        index = message_class("Index")()
        index.metadata.tool_info.name, index.metadata.tool_info.version = self.tool, "1.2.3"
        index.metadata.project_root = "file:///somewhere/else"
        for path in sorted(self._occurrences):
            document = index.documents.add(relative_path=path)
            document.occurrences.extend(self._occurrences[path])
            document.symbols.extend(self._information.get(path, ()))
        return index

    def content(self) -> bytes:
        """The index as it is written."""
        written: bytes = self.message().SerializeToString()
        return written
