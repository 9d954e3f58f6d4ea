"""The words of calls that give code a name which is no definition's: routes, commands, tests, tasks."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from msgspec import Struct

from codesum_pipeline.foundation.data_model.decoding import convert
from codesum_pipeline.foundation.data_model.symbol import NameKind

_ECMASCRIPT = ("javascript", "typescript", "tsx")


class NamingCalls(Struct, frozen=True):
    """The words of one language; `naming_calls.toml` explains the fields."""

    routes: Mapping[str, str] = {}
    rooted: bool = False
    owners: frozenset[str] = frozenset()
    clients: frozenset[str] = frozenset()
    prefixes: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    handler_first: frozenset[str] = frozenset()
    tests: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    tasks: frozenset[str] = frozenset()
    commands: frozenset[str] = frozenset()
    actions: frozenset[str] = frozenset()
    events: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    unbracketed: bool = False

    def kind_of(self, word: str, owner: str) -> NameKind | None:
        """What a call of a word on an owner names; None for a word that names nothing."""
        for kind, words in (
            (NameKind.ROUTE, self.routes), (NameKind.GROUP, self.groups), (NameKind.TEST, self.tests),
            (NameKind.COMMAND, self.commands), (NameKind.PREFIX, self.prefixes), (NameKind.EVENT, self.events),
        ):  # fmt: skip
            if word in words:
                return kind
        is_task = word in self.tasks or f"{owner}.{word}" in self.tasks
        return NameKind.TASK if is_task else None

    @property
    def methods(self) -> frozenset[str]:
        """The words of routes that say a method."""
        return frozenset(word for word, method in self.routes.items() if method)

    @property
    def words(self) -> frozenset[str]:
        """All words that a call may be made with."""
        tasks = (task.rpartition(".")[2] for task in self.tasks)
        return frozenset().union(
            self.routes, self.groups, self.tests, self.commands, self.prefixes, self.events, tasks
        )  # fmt: skip

    @property
    def titled(self) -> re.Pattern[bytes]:
        """Where a record says what it is called: the text's first quote follows the match."""
        return re.compile(rf"\b(?:{'|'.join(sorted(self.titles))}):\s{{0,20}}(?=[\"`])".encode())

    @property
    def openings(self) -> re.Pattern[bytes]:
        """What a call with a text begins with: the text's first quote follows the match."""
        if not self.unbracketed:
            return re.compile(rb"\(\s{0,200}+(?=[rRuU]?[\"'`@$]|[\w.]{1,60}+ ?\+)")
        words = "|".join(sorted(map(re.escape, self.words)))
        return re.compile(rf"\b({words})(?:\(\s{{0,200}}+|[ \t]++)(?=[\"':\w])".encode())


@cache
def naming_calls(language: str) -> NamingCalls | None:
    """The words of a language; None where no call names anything."""
    text = resources.files(__package__).joinpath("naming_calls.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text).get("ecmascript" if language in _ECMASCRIPT else language)
    return convert(table, NamingCalls) if table is not None else None
