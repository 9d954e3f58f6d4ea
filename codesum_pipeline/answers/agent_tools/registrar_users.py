"""Who uses the objects with which decorators register functions: `app` of `@app.route("/pay")`.

An index knows the users of constants alone. A name in lower case is looked for in the file that gives it its value, in
those that import it from there, and in what these make of it: `client = app.test_client()`.
"""

import re
from collections.abc import Iterator

from msgspec import Struct, field

from codesum_pipeline.answers.agent_tools.held_values import KEEPING, HeldValues
from codesum_pipeline.answers.agent_tools.joined_uses import names_of
from codesum_pipeline.answers.agent_tools.relations import Relation, related_documents
from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import symbol_id

_DECORATOR = re.compile(r"@(\w+)\.\w+")
_GIVEN = re.compile(r"([^\W\d]\w*) ?(?:=(?!=)|:)")
_WORD = re.compile(r"\w+")
# Of something else, as in `x.app`, or in a decorator, it is another name or no use.
_BARE = r"(?<![\w$.@])"
# Names of files that are followed from one object: each file that imports it, and each name that is made of it.
_MOST_NAMES = 5_000
_MOST_FILES = 2_000
# Lines that are searched in a repository for one answer, for all names and in all files: about three seconds.
MOST_SEARCHED = 5_000_000
# Files through which a name is imported.
_MOST_STEPS = 3


class RegistrarUsers(Struct, eq=False):
    """Finds the users of such objects; so many lines were `searched`, and where there would be more, it `is_cut`."""

    held: HeldValues
    searched: int = 0
    is_cut: bool = False
    _outside: dict[tuple[int, str], bool] = field(default_factory=dict)
    _known: dict[tuple[int, str], list[int]] = field(default_factory=dict)
    _given_names: dict[int, frozenset[str]] = field(default_factory=dict)
    _known_givers: dict[tuple[int, str, int], list[int]] = field(default_factory=dict)
    _top_words: dict[int, frozenset[str]] = field(default_factory=dict)

    def of(self, number: int) -> Iterator[int]:
        """Who uses the objects that register a function."""
        held, documents = self.held, self.held.documents
        path = documents[number].path
        for match in filter(None, (_DECORATOR.match(line.strip()) for line in held.decorators(number))):
            found: list[int] = []
            for id_ in (symbol_id(path, [match[1]]), *held.imported(match[1])):
                found += held.constants.users_of(id_)
                if (registrar := documents.number(id_)) is not None:
                    found.append(registrar)
            yield from found or self._users_of_value(int(documents.files[number]), match[1])

    def is_from_outside(self, file: int, name: str) -> bool:
        """Whether a file imports a name that nothing of the repository has."""
        if (file, name) not in self._outside:
            is_imported = self._imports(file, name)
            is_ours = not is_imported or self.held.imported(name) or self._givers(file, name)
            self._outside[file, name] = not is_ours
        return self._outside[file, name]

    def _users_of_value(self, file: int, name: str) -> list[int]:
        """Who reads what has a name in a file, where that or a file that it imports gives the name its value."""
        if (file, name) not in self._known:
            owners = [file] if self._is_given(file, name) else self._givers(file, name)
            self._known[file, name] = [*dict.fromkeys(user for owner in owners for user in self._readers(owner, name))]
        return self._known[file, name]

    def _is_given(self, file: int, name: str) -> bool:
        if file not in self._given_names:
            given = filter(None, map(_GIVEN.match, self.held.own_lines(file).values()))
            self._given_names[file] = frozenset(match[1] for match in given)
        return name in self._given_names[file]

    def _givers(self, file: int, name: str, steps: int = _MOST_STEPS) -> list[int]:
        """The files that give a value to a name that a file imports, also by a file between them."""
        if not steps or not self._imports(file, name):
            return []
        if (file, name, steps) not in self._known_givers:
            imported = related_documents(self.held.documents, file, Relation.IMPORTS)[:_MOST_FILES]
            files = [each.number for each in imported if self._is_file(each.number)]
            self._read(files)
            found = [each for each in files if self._is_given(each, name)]
            found = found or [giver for each in files for giver in self._givers(each, name, steps - 1)]
            self._known_givers[file, name, steps] = [*dict.fromkeys(found)]
        return self._known_givers[file, name, steps]

    def _readers(self, file: int, name: str) -> Iterator[int]:
        waiting, seen = [(file, name)], {(file, name)}
        while waiting:
            stop_if_cancelled()
            holder, value = waiting.pop()
            if users := self.held.constants.users_of(symbol_id(self.held.documents[holder].id, [value])):
                yield from users
                continue
            for place, read in [(holder, _reading(_BARE, value)), *self._in_importers(holder, value)]:
                if not self._may_search(place):
                    return
                yield from self.held.with_code(place, read)
                made = {value} if place != holder and self._imports(place, value) else set[str]()
                lines = (line for line in self.held.own_lines(place).values() if read.search(line))
                made |= {match[1] for match in map(KEEPING.match, lines) if match}
                new = {(place, each) for each in made} - seen
                waiting += sorted(new) if len(seen) < _MOST_NAMES else ()
                seen |= new

    def _may_search(self, file: int) -> bool:
        """Whether the lines of one more file may be searched."""
        lines = self.held.constants.sources.lines(self.held.documents.repo, self.held.documents[file].path)
        self.is_cut = self.is_cut or self.searched + len(lines) > MOST_SEARCHED
        self.searched += 0 if self.is_cut else len(lines)
        return not self.is_cut

    def _in_importers(self, file: int, name: str) -> Iterator[tuple[int, re.Pattern[str]]]:
        """The files that import a name from a file, or use it as `file.name`, each with how they write it."""
        documents = self.held.documents
        importers = related_documents(documents, file, Relation.IMPORTED_BY)[:_MOST_FILES]
        files = [each.number for each in importers if self._is_file(each.number)]
        self._read(files)
        module = "|".join(map(re.escape, sorted(names_of(documents[file].id))))
        for each in files:
            bare = f"|{_BARE}" if self._imports(each, name) else ""
            yield each, _reading(rf"(?:\b(?:{module})\.{bare})", name)

    def _imports(self, file: int, name: str) -> bool:
        """Whether a file has a name outside of its definitions and gives it no value there."""
        if file not in self._top_words:
            lines = self.held.own_lines(file).values()
            self._top_words[file] = frozenset(word for line in lines for word in _WORD.findall(line))
        return name in self._top_words[file] and not self._is_given(file, name)

    def _is_file(self, number: int) -> bool:
        return self.held.documents[number].level is Level.FILE

    def _read(self, files: list[int]) -> None:
        for index in self.held.documents.parts:
            self.held.constants.sources.read_missing(index, [self.held.documents[each].path for each in files])


def _reading(start: str, name: str) -> re.Pattern[str]:
    """Finds a name behind what may stand before it."""
    return re.compile(rf"{start}{re.escape(name)}(?![\w$])")
