"""The answer of `impact`: what changed, what that reaches, and which tests, routes and commands are among it.

The short text comes first: counts, and what is riskiest. The rows follow, as many as fit. A long list is written by
files, without the ways.
"""

from collections.abc import Iterable, Iterator, Sequence

from pydantic import BaseModel, Field

from codesum_pipeline.answers.agent_tools.changed_symbols import SymbolChangeKind
from codesum_pipeline.answers.agent_tools.tool_answers import AnswerPage, indent_lines, place_of
from codesum_pipeline.foundation.data_model.ids import own_name
from codesum_pipeline.foundation.data_model.printable import count_noun, one_line, shorten_text, some_of

_NAMED = 3
_LONGEST_SIGNATURE = 160
_LONGEST_HEADLINE = 110
_LONGEST_NAME = 50
# Steps of a way that are shown: its ends tell most.
_MOST_STEPS_SHOWN = 4
# What is reached is counted for one, two and all steps.
_STEPS_COUNTED = 2
_WORDS = {
    SymbolChangeKind.REMOVED: ("removed", "removed"), SymbolChangeKind.SIGNATURE: ("signature", "signatures"),
    SymbolChangeKind.MOVED: ("moved or renamed", "moved or renamed"), SymbolChangeKind.BODY: ("body", "bodies"),
    SymbolChangeKind.ADDED: ("added", "added"),
    SymbolChangeKind.CODE: ("file's code outside of definitions", "files' code outside of definitions"),
    SymbolChangeKind.ASKED: ("asked about", "asked about"),
}  # fmt: skip


def title_of(id_: str) -> str:
    """The names of a definition, or the path of a file."""
    return one_line(id_.partition("::")[2].replace("::", ".") or id_)


class ChangedDefinition(BaseModel):
    """One definition, or the code of a file outside of definitions; `moved_from` is its id before. `users` are the
    first of those of one step that did not change, tests last; `changed_user_count` are others. `left_count` of them
    use a name that is gone, and `unresolved` are places that call something of that name."""

    kind: SymbolChangeKind
    id: str
    path: str
    line: int | None = None
    end_line: int | None = None
    moved_from: str = ""
    signature: str = ""
    signature_before: str = ""
    headline: str = ""
    headline_before: str = ""
    names: list[str] = []
    users: list[str] = []
    user_count: int = 0
    changed_user_count: int = 0
    left_count: int = 0
    test_user_count: int = 0
    unresolved: list[str] = []
    is_test: bool = False

    @property
    def title(self) -> str:
        return title_of(self.id)

    @property
    def risk(self) -> int:
        """How much may break: who uses what went or has another name now, then users of another signature."""
        if self.kind in (SymbolChangeKind.REMOVED, SymbolChangeKind.SIGNATURE):
            weight = 2 if self.kind is SymbolChangeKind.REMOVED else 1
            return (self.user_count + len(self.unresolved)) * weight
        return (self.left_count + len(self.unresolved)) * 2

    @property
    def is_renamed(self) -> bool:
        return "::" in self.id and "::" in self.moved_from and own_name(self.moved_from) != own_name(self.id)

    @property
    def told_kind(self) -> str:
        """The kind, and what was moved or renamed was before."""
        kind = "renamed" if self.is_renamed and self.kind is SymbolChangeKind.MOVED else str(self.kind)
        is_here = self.moved_from.partition("::")[0] == self.path and "::" in self.moved_from
        was = title_of(self.moved_from) if is_here else one_line(self.moved_from)
        return f"{kind}, was {was}" if self.moved_from else kind

    @property
    def told_left(self) -> str:
        """How the users that are left behind name it; empty where there are none, or nothing has another name."""
        if not self.left_count or self.kind is SymbolChangeKind.REMOVED:
            return ""
        return f"by the old {'name' if self.is_renamed else 'place'}"

    @property
    def told_users(self) -> str:
        users = [title_of(each) for each in self.users]
        tests = f" ({self.test_user_count:,} in tests)" if self.test_user_count else ""
        all_left = f" {self.told_left}" if self.told_left and self.left_count == self.user_count else ""
        counts = f"{count_noun(self.user_count, 'user')}{all_left}{tests}"
        also = "asked about" if self.kind is SymbolChangeKind.ASKED else "changed"
        too = f"{self.changed_user_count:,} more {also}, too" if self.changed_user_count else ""
        told = f"{counts}: {_some(users, self.user_count)}" if users else ""
        left = f"{self.left_count:,} of them {self.told_left}" if self.told_left and not all_left else ""
        places = f"by name: {some_of(self.unresolved, _NAMED)}" if self.unresolved else ""
        return "; ".join(filter(None, (told, too, left, places)))

    def line_of_risk(self) -> str:
        return f"{self.told_kind}  {self.place}{self._told_title}: {self.told_users}"

    @property
    def _told_title(self) -> str:
        """The name behind the place; the place of a file is its name."""
        return f"  {self.title}" if "::" in self.id else ""

    @property
    def place(self) -> str:
        return place_of(self.path, self.line, self.end_line)

    def lines(self) -> list[str]:
        names = f" ({some_of([*map(one_line, self.names)], _NAMED)})" if self.names else ""
        is_code = self.kind is SymbolChangeKind.CODE
        what = "code outside of definitions" if is_code else f"{self.told_kind}{self._told_title}"
        head = f"{self.place}  {what}{names}"
        found = [f"{head}: {self._told_headline()}" if self._told_headline() else head]
        if self.signature_before and self.signature_before != self.signature:
            before, after = (
                shorten_text(one_line(each), _LONGEST_SIGNATURE) for each in (self.signature_before, self.signature)
            )
            found += indent_lines([f"- {before}", *([f"+ {after}"] if after else [])])
        return [*found, *indent_lines([self.told_users])] if self.told_users else found

    def _told_headline(self) -> str:
        before, after = (
            shorten_text(one_line(each), _LONGEST_HEADLINE) for each in (self.headline_before, self.headline)
        )
        return f"{before} → {after}" if before and after and before != after else after or before

    def text(self) -> str:
        return "\n".join(self.lines())


class ReachedPlace(BaseModel):
    """A document that is reached, by so many steps; `way` are the names from the change to it. `is_elsewhere` where it
    is in another repository than the change; not `is_sure` where each way to it calls a method by its name alone, or
    one that a subclass overrides. A test that is kept away has `replaced` the names of what it replaces."""

    repo: str
    id: str
    path: str
    line: int | None = None
    steps: int = 0
    way: list[str] = []
    starts: list[str] = []
    is_elsewhere: bool = False
    is_sure: bool = True
    replaced: list[str] = []

    @property
    def title(self) -> str:
        return title_of(self.id)

    @property
    def place(self) -> str:
        return f"{self._told_repo}{place_of(self.path, self.line)}"

    @property
    def file(self) -> str:
        return f"{self._told_repo}{place_of(self.path)}"

    @property
    def _told_repo(self) -> str:
        return f"{one_line(self.repo)}  " if self.is_elsewhere else ""

    @property
    def holder(self) -> str:
        """The class of a method, or what a nested definition is in; empty for others."""
        return self.title.rpartition(".")[0] if "::" in self.id else ""

    @property
    def name_and_line(self) -> str:
        name = self.title.rpartition(".")[2] if "::" in self.id else "the file"
        place = name if self.line is None or "::" not in self.id else f"{name}:{self.line}"
        return place + self.doubt

    @property
    def doubt(self) -> str:
        return "" if self.is_sure else "?"

    @property
    def why(self) -> str:
        """What those of a file are grouped by: the steps to them, or what they replace."""
        return f"replace {', '.join(map(one_line, self.replaced))}" if self.replaced else count_noun(self.steps, "step")

    def text(self) -> str:
        starts = f"  {', '.join(map(one_line, self.starts))}" if self.starts else ""
        return f"{self.place}{starts}  {self.title}{self.doubt}  ({self.told_way()})"

    def told_way(self) -> str:
        if self.replaced:
            return self.why
        way = [*map(one_line, self.way)]
        if len(way) > _MOST_STEPS_SHOWN:
            way = [way[0], "…", *way[-_MOST_STEPS_SHOWN + 1 :]]
        return f"{self.why}: {' ← '.join(way)}"


def pieces_by_file(rows: Iterable["Row"]) -> Iterator[tuple[ReachedPlace, str]]:
    """Each place with what it adds to the text of those before it: `path  1 step: Class: name:line, name:line`, with
    other steps on lines of their own."""
    before: ReachedPlace | None = None
    for row in (each for each in rows if isinstance(each, ReachedPlace)):
        holder = f"{row.holder}: " if row.holder else ""
        if before is None or before.file != row.file:
            start = f"{'' if before is None else chr(10)}{row.file}  {row.why}: {holder}"
        elif before.why != row.why:
            start = f"\n    {row.why}: {holder}"
        else:
            start = ", " if before.holder == row.holder else f"; {holder}"
        yield row, f"{start}{row.name_and_line}"
        before = row


class ReachCounts(BaseModel):
    """How many definitions and files are reached in one, at most two, and any number of steps; `others` are those in
    other repositories, by key. With `is_cut` there are more."""

    one: int = 0
    two: int = 0
    all: int = 0
    others: dict[str, int] = {}
    is_cut: bool = False

    def told(self, steps: int) -> str:
        """The counts in words; `steps` were followed at most, 0 for all."""
        more = "more than " if self.is_cut else ""
        if not steps:
            return f"{self.one:,} in one step, {self.two:,} in two, {more}{self.all:,} in all"
        last = f", {more}{self.all:,} in {steps}" if steps > _STEPS_COUNTED else ""
        two = f", {self.two:,} in two" if steps > 1 else ""
        return f"{self.one:,} in one step{two}{last}; further steps were not followed"


class UnfollowedCalls(BaseModel):
    """How many places call something of a name on an object that is not known, and where, if they are few; so many
    others are `in_tests`, counted where no test is known, and so many files that have the name are `unread`."""

    name: str
    places: list[str]
    count: int
    in_tests: int = 0
    unread: int = 0

    def text(self) -> str:
        places = ", ".join(map(one_line, self.places)) or (count_noun(self.count, "place") if self.count else "")
        tests = f"{count_noun(self.in_tests, 'place')} in tests" if self.in_tests else ""
        unread = f"{count_noun(self.unread, 'more file')} not looked through" if self.unread else ""
        return f"{one_line(self.name)}(: {'; '.join(filter(None, (places, tests, unread)))}"


def explained_doubt(rows: Iterable["Row"]) -> str:
    """What a `?` behind a name means, for the heading of a list; empty where no row has one."""
    is_doubted = any(isinstance(row, ReachedPlace) and not row.is_sure for row in rows)
    return "; ? where a method is called by its name alone, or as that of a base class" if is_doubted else ""


class ImpactPage(AnswerPage):
    """`changes`, `tests`, `starts` (routes and commands), `reached` and `kept_away` are the rows of this part of the
    answer, in this order; the counts are of the whole, as are `risks`, lines on the `riskiest` changes; `totals` are by
    list, and `begins` is the place of the first row of this part in each. At most `steps` were followed, 0 for all.
    `asked` are the ids of definitions that need not have changed; without any, two versions are compared."""

    repo: str = ""
    base: str = ""
    head: str = ""
    asked: list[str] = []
    steps: int = 0
    kinds: dict[str, int] = {}
    files: int = 0
    only_layout: int = 0
    not_compared: dict[str, list[str]] = {}
    counts: ReachCounts = ReachCounts()
    test_count: int = 0
    start_count: int = 0
    risks: list[str] = []
    riskiest: list[ChangedDefinition] = Field(default=[], exclude=True)
    nearest_tests: list[str] = []
    start_names: list[str] = []
    kept_away_count: int = 0
    changes: list[ChangedDefinition] = []
    tests: list[ReachedPlace] = []
    starts: list[ReachedPlace] = []
    reached: list[ReachedPlace] = []
    kept_away: list[ReachedPlace] = []
    totals: dict[str, int] = {}
    begins: dict[str, int] = {}
    unfollowed: list[UnfollowedCalls] = []
    is_first: bool = True

    def text(self) -> str:
        return self.framed(self.lines(), what="rows")

    def lines(self) -> Iterator[str]:
        if self.is_first:
            yield from self.short_lines()
        for name, rows in self.sections():
            yield self.heading(name, len(rows)) + explained_doubt(rows)
            if is_by_file(name, self.totals.get(name, 0)):
                yield from indent_lines("".join(piece for _, piece in pieces_by_file(rows)).split("\n"))
            else:
                yield from indent_lines(line for row in rows for line in row.text().split("\n"))
        if self.is_first and self.unfollowed:
            yield "not followed, since nobody knows on what they are called:"
            yield from indent_lines(each.text() for each in self.unfollowed)

    def sections(self) -> Iterator[tuple[str, Sequence["Row"]]]:
        """The names of the lists that have rows in this part, with these."""
        for name in SECTIONS:
            rows: Sequence[Row] = getattr(self, name)
            if rows:
                yield name, rows

    def heading(self, name: str, shown: int) -> str:
        """What a list is, and whether it is whole."""
        total, before = self.totals.get(name, shown), self.begins.get(name, 0)
        if name == "changes" and self.asked:
            return "asked about"
        what = SECTIONS[name]
        return f"all {total:,} {what}" if shown == total else f"{what}, {before + 1:,}-{before + shown:,} of {total:,}"

    @property
    def told_kinds(self) -> str:
        """How many changes there are of each kind, in words."""
        counts = ((kind, self.kinds.get(kind, 0)) for kind in SymbolChangeKind)
        return ", ".join(f"{number:,} {_WORDS[kind][number != 1]}" for kind, number in counts if number)

    def short_lines(self) -> Iterator[str]:
        """The short text: at most fifteen lines."""
        if self.asked:
            yield f"{self.repo}: what reaches {_some([*map(title_of, self.asked)], len(self.asked))}"
        elif self.kinds:
            yield f"{self.repo} {self.base} → {self.head}: {self.told_kinds}, in {count_noun(self.files, 'file')}"
        else:
            yield f"{self.repo} {self.base} → {self.head}: no definition changed"
        if self.asked or self.kinds:
            yield self._told_reach()
            yield self._told_tests()
        if self.kept_away_count:
            yield f"kept away by what they replace: {count_noun(self.kept_away_count, 'test')}"
        if self.start_count:
            yield f"routes and commands: {self.start_count:,}: {_some(self.start_names, self.start_count)}"
        if told := self._told_rest():
            yield f"besides: {told}"
        if self.risks:
            yield "riskiest:"
            yield from indent_lines(self.risks)

    def _told_reach(self) -> str:
        others = [f"{one_line(key)} {number:,}" for key, number in self.counts.others.items()]
        beyond = f"; in other repositories: {some_of(others, _NAMED)}" if others else ""
        return f"reached: {self.counts.told(self.steps)}{beyond}"

    def _told_tests(self) -> str:
        if not self.test_count:
            return "tests: none is known to reach it"
        return f"tests: {self.test_count:,}, nearest first: {_some(self.nearest_tests, self.test_count)}"

    def _told_rest(self) -> str:
        layout = f"{count_noun(self.only_layout, 'file')} with other comments or layout" if self.only_layout else ""
        rest = (
            f"{count_noun(len(paths), 'file')} {why}: {some_of([*map(one_line, paths)], _NAMED)}"
            for why, paths in self.not_compared.items()
        )
        return "; ".join(filter(None, (layout, *rest)))


Row = ChangedDefinition | ReachedPlace
# The lists of rows, in their order, with their headings.
SECTIONS = {
    "changes": "changed", "tests": "tests that reach it", "starts": "routes and commands", "reached": "reached",
    "kept_away": "tests that are kept away by what they replace",
}  # fmt: skip
# Of these a longer list is written by files.
_BY_FILE = frozenset({"tests", "reached", "kept_away"})
MOST_WITH_WAYS = 12


def is_by_file(name: str, total: int) -> bool:
    """Whether a list of so many rows is written by files, without the way to each."""
    return name in _BY_FILE and total > MOST_WITH_WAYS


def _some(names: Sequence[str], total: int) -> str:
    shown = ", ".join(shorten_text(name, _LONGEST_NAME) for name in names[:_NAMED])
    return f"{shown} and {total - _NAMED:,} more" if total > _NAMED else shown
