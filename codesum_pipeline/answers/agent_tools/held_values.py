"""The names under which the body of a class or the top of a file keeps what it refers to: `WRITERS = {"iso": to_iso}`.

Whoever reads that name may run it. Nobody else of those who use the class or file does so for this reason.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from codesum_pipeline.answers.agent_tools.constants import ConstantReader
from codesum_pipeline.answers.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import SEPARATOR, own_name, symbol_id
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.foundation.language_facts.language_profiles import profile_of

# A statement that gives a name a value, or hands something to what has that name (`HOOKS.append(f)`).
KEEPING = re.compile(r"(?:[a-z]+ ){0,4}([^\W\d]\w*) ?(?:=(?!=)|:|\.\w+\(|\[)")
_PLAIN_DECORATOR = re.compile(r"@(\w+)(?!\.)\b")
_HEAD = re.compile(r"\s*(?:async\s+)?(?:def|class)\b")
_CLOSING = re.compile(r"[\])}]")
_WORD = re.compile(r"[\w$]+")
# Of something else, as in `x.name`, or where it is defined, it is another name.
_READ = re.compile(r"(?<![\w$.])(?<!\bdef )(?<!\bclass )[\w$]+")
# Lines that name something without keeping it.
_NO_STATEMENT = ("import ", "from ", "class ", "#", "//")


class HeldValues(Struct, eq=False):
    """The names under which classes and files keep what they refer to; `children` are what each document holds."""

    documents: JoinedDocuments
    constants: ConstantReader
    children: Mapping[int, Sequence[int]]
    _lines: dict[int, dict[int, str]] = field(default_factory=dict)
    _heads: dict[int, Mapping[str, Collection[str]]] = field(default_factory=dict)
    _readers: dict[int, Mapping[str, Collection[int]]] = field(default_factory=dict)

    def names(self, holder: int, held: int) -> list[str] | None:
        """The names under which a class or file keeps a definition; None where it is named for another reason, such as
        a base, an argument or a type."""
        word = _WORD.search(own_name(self.documents[held].id))
        if word is None:
            return None
        found: dict[str, None] = {}
        for head in self._heads_by_word(holder).get(word[0], ()):
            if match := KEEPING.match(head):
                found[match[1]] = None
            elif not head.startswith(_NO_STATEMENT):
                return None
        return list(found)

    def _heads_by_word(self, holder: int) -> Mapping[str, Collection[str]]:
        """The first lines of the statements of a class or file by the words in them."""
        if holder not in self._heads:
            lines = self.own_lines(holder)
            found: dict[str, dict[str, None]] = defaultdict(dict)
            for line, head in zip(lines.values(), _heads(lines.values(), self._level(holder, lines)), strict=True):
                for word in _WORD.findall(line):
                    found[word][head] = None
            self._heads[holder] = {**found}
        return self._heads[holder]

    def _level(self, holder: int, lines: Mapping[int, str]) -> int:
        """How far the statements of a class or file are indented: those of a class more than its head."""
        indents = [_indent(line) for line in lines.values()]
        if self.documents[holder].level is Level.FILE or not indents:
            return 0
        return next((indent for indent in indents if indent > indents[0]), indents[0])

    def decorators(self, number: int) -> list[str]:
        """The lines of a definition before its head."""
        own = self.constants.sources.lines_of(self.documents[number])
        return own[: next((at for at, line in enumerate(own) if _HEAD.match(line)), 0)]

    def users_of_registries(self, number: int) -> Iterator[int]:
        """Who reads the constants beside a decorator of the repository with which its code may keep a function:
        `REGISTRY` of `@register`, whose code is `REGISTRY.append(function)`."""
        for match in filter(None, (_PLAIN_DECORATOR.match(line.strip()) for line in self.decorators(number))):
            for id_ in self.imported(match[1]):
                registrar = self.documents.number(id_)
                own = [] if registrar is None else [registrar, *self.children.get(registrar, ())]
                path = id_.partition(SEPARATOR)[0]
                for constant in self.constants.used_by(own):
                    users = self.constants.users_of(constant) if constant.startswith(f"{path}{SEPARATOR}") else []
                    # A file that only has it runs nothing of it.
                    others = (user for user in users if user not in own)
                    yield from (user for user in others if self.documents[user].level is not Level.FILE)

    def imported(self, name: str) -> list[str]:
        """The definition of a name, where the repository has one of it."""
        named = self.documents.named_exactly(name)
        return [self.documents[one].id for one in named] if len(named) == 1 else []

    def users_of_file(self, file: int, names: list[str]) -> Iterator[int]:
        """Whoever reads a name at the top of a file; of a name that counts as no constant, the innermost definitions of
        the file that have it in their code."""
        path = self.documents[file].id
        for name in names:
            users = self.constants.users_of(symbol_id(path, [name]))
            yield from users
            if not users:
                yield from self._readers_in(file).get(name, ())

    def with_code(self, holder: int, wanted: re.Pattern[str]) -> Iterator[int]:
        """The innermost definitions in a file or another definition that have some code."""
        comment = profile_of(language_of_path(self.documents[holder].path) or "").line_comment
        for one in self.children.get(holder, ()):
            yield from self.with_code(one, wanted)
            lines = (line.partition(comment)[0] if comment else line for line in self.own_lines(one).values())
            if any(map(wanted.search, lines)):
                yield one

    def _readers_in(self, file: int) -> Mapping[str, Collection[int]]:
        """The innermost definitions of a file by the names in their code."""
        if file not in self._readers:
            found: dict[str, dict[int, None]] = defaultdict(dict)
            comment = profile_of(language_of_path(self.documents[file].path) or "").line_comment
            for one in self._innermost_first(file):
                for line in self.own_lines(one).values():
                    for name in _READ.findall(line.partition(comment)[0] if comment else line):
                        found[name][one] = None
            self._readers[file] = {**found}
        return self._readers[file]

    def _innermost_first(self, holder: int) -> Iterator[int]:
        for one in self.children.get(holder, ()):
            yield from self._innermost_first(one)
            yield one

    def own_lines(self, holder: int) -> dict[int, str]:
        """The lines of a class, function or file that are in no definition of it, without empty ones."""
        if holder not in self._lines:
            found, shown = self.documents[holder], self.documents[holder].shown()
            text = self.constants.sources.lines(self.documents.repo, found.path)
            covered = set[int]()
            for part in (self.documents[each].shown() for each in self.children.get(holder, ())):
                covered.update(range(part["start_line"] or 1, (part["end_line"] or 0) + 1))
            first, last = shown["start_line"] or 1, shown["end_line"] or len(text)
            numbered = ((at, text[at - 1]) for at in range(first, min(last, len(text)) + 1) if at not in covered)
            self._lines[holder] = {at: line for at, line in numbered if line.strip()}
        return self._lines[holder]


def _heads(lines: Iterable[str], level: int) -> Iterator[str]:
    """For each line the first one of the statement around it; statements are indented by `level`."""
    head = ""
    for line in lines:
        if _indent(line) <= level and not _CLOSING.match(line.strip()):
            head = line.strip()
        yield head or line.strip()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
