"""The digest that no model writes: what changed about a standing question, where, and why as far as commits say it.

It is English in whatever language the intent asks for: names, code, commits and
most texts of a repository are as their authors wrote them, and our few words
between them in another language would make half a translation. The same items
give the same text.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from codesum_pipeline.digests import wording
from codesum_pipeline.digests.material import Happening, Item
from codesum_pipeline.model.digests import SummaryResult
from codesum_pipeline.model.documents import LEVELS
from codesum_pipeline.model.ids import ROOT_MODULE, module_path_of
from codesum_pipeline.model.intents import DocumentChange, Intent
from codesum_pipeline.model.markdown import code

PLAIN_LANGUAGE = "English"

# A screen or two: so many items with what is otherwise in them, so many in a line each, so many folders of the rest.
_MOST_DETAILED = 4
_MOST_SHOWN = 14
_MOST_BESIDE = 3
_MOST_FOLDERS = 5
_MOST_REPOSITORIES = 3
_MOST_HUNK_LINES = 14
_MOST_HUNK_LINES_IN_ALL = 40
_MOST_QUOTES = 4
_INTENT_CHARS = 120


def write_plain(intent: Intent, items: Sequence[Item]) -> SummaryResult:
    """A digest of the items, best first. `[N]` are the items that it names, and in code and fences no such numbers."""
    ordered = sorted(items, key=_rank)
    main = [item for item in ordered if not _is_beside(item)] or ordered
    beside = [item for item in ordered if _is_beside(item)] if len(main) < len(ordered) else []
    digest = _Digest(has_many=len({item.citation.repository for item in items}) > 1)
    shown = main[:_MOST_SHOWN]
    sections: dict[tuple[str, ...], list[Item]] = {}
    for item in shown:
        sections.setdefault(item.subjects, []).append(item)
    digest.add(_gist(intent, main, next(iter(sections)) if len(sections) == 1 else ()))
    detailed = {id(item) for item in shown[:_MOST_DETAILED]}
    for subjects, members in sections.items():
        if len(sections) > 1:
            digest.add(f"## {_quoted(subjects) or 'Other changes'}")
        for item in members:
            if id(item) in detailed:
                digest.tell(item)
        digest.list([item for item in members if id(item) not in detailed])
    digest.add_beside(beside)
    digest.add_rest([*main[_MOST_SHOWN:]])
    return SummaryResult(intent.name, digest.text, tuple(item.citation for item in digest.cited))


def _rank(item: Item) -> tuple[bool, float, str, str]:
    return item.citation.score is None, -(item.citation.score or 0.0), item.citation.repository, item.change.document_id


def _is_beside(item: Item) -> bool:
    """Whether it is told in a line below all others."""
    return item.change.is_test or item.change.is_vendored or item.happening is Happening.REWORDED


@dataclass
class _Digest:
    """Paragraphs, and the items that they cite."""

    has_many: bool
    cited: list[Item] = field(default_factory=list)
    _paragraphs: list[str] = field(default_factory=list)
    _lines_left: int = _MOST_HUNK_LINES_IN_ALL

    @property
    def text(self) -> str:
        return "\n\n".join(self._paragraphs) + "\n"

    def add(self, paragraph: str) -> None:
        self._paragraphs.append(paragraph)

    def tell(self, item: Item) -> None:
        """An item with its lines, or what is said otherwise about it."""
        self.add(self._headed(item))
        hunk, most = item.hunk, min(_MOST_HUNK_LINES, self._lines_left)
        is_gone = item.happening is Happening.REMOVED
        if hunk is not None and wording.is_prose(item) and not is_gone:
            self._add_list(wording.quoted(hunk, _MOST_QUOTES))
            return
        lines = 0 if hunk is None or is_gone or not hunk.text else hunk.text.count("\n") + 1
        # Of something new a part says little; it is told in words.
        has_block = 0 < lines <= most if item.happening is Happening.ADDED else lines > 0 and most > 2
        self._add_list(wording.details(item, with_code=not has_block or lines > most))
        if hunk is not None and has_block:
            self.add(wording.block(hunk, most))
            self._lines_left -= min(lines, most)

    def list(self, items: Sequence[Item]) -> None:
        """A line for each item."""
        lines = []
        for item in items:
            told = wording.details(item, with_code=True)[:1]
            lines.append(": ".join([self._headed(item), *told]))
        self._add_list(lines)

    def add_beside(self, items: Sequence[Item]) -> None:
        """Tests, vendored copies and texts by their counts, and a few of them by name."""
        tests = [item for item in items if item.change.is_test and item.happening is not Happening.REWORDED]
        vendored = [item for item in items if item.change.is_vendored and item not in tests]
        reworded = [item for item in items if item.happening is Happening.REWORDED]
        for title, members in (("Tests", tests), ("Vendored copies", vendored), ("Only described otherwise", reworded)):
            if members:
                self.add(f"**{title}:** {self._named(members)}")

    def add_rest(self, items: Sequence[Item]) -> None:
        """How many are not named, and where they are."""
        counts = Counter(_folder(change, self.has_many) for item in items for change in (item.change, *item.alike))
        if not counts:
            return
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        said = [f"{count:,} in {code(folder)}" for folder, count in ordered[:_MOST_FOLDERS]]
        if more := sum(count for _, count in ordered[_MOST_FOLDERS:]):
            said.append(f"{more:,} in {len(ordered) - _MOST_FOLDERS:,} other folders")
        total = sum(counts.values())
        self.add(f"**Not shown here:** {total:,} more change{'s' if total > 1 else ''}: {', '.join(said)}.")

    def _named(self, items: Sequence[Item]) -> str:
        shown = []
        for happening in Happening:
            members = [item for item in items if item.happening is happening]
            if members:
                numbers = " ".join(self._cite(item) for item in members[:_MOST_BESIDE])
                changes = [change for item in members for change in (item.change, *item.alike)]
                shown.append(
                    f"{len(changes):,} {wording.verb(happening, len(changes))}, {wording.names(changes)} {numbers}"
                )
        return "; ".join(shown)

    def _headed(self, item: Item) -> str:
        where = f" of {code(item.citation.source_name or item.citation.repository)}" if self.has_many else ""
        return f"{wording.heading(item)}{where} {self._cite(item)}"

    def _cite(self, item: Item) -> str:
        self.cited.append(item)
        return f"[{len(self.cited)}]"

    def _add_list(self, lines: Sequence[str]) -> None:
        if lines:
            self.add("\n".join(f"- {line}" for line in lines))


def _gist(intent: Intent, items: Sequence[Item], subjects: Sequence[str]) -> str:
    """What changed, in one sentence."""
    changes = [change for item in items for change in (item.change, *item.alike)]
    repositories = sorted({item.citation.source_name or item.citation.repository for item in items})
    named = [code(name) for name in repositories[:_MOST_REPOSITORIES]]
    if len(repositories) > _MOST_REPOSITORIES:
        named.append(f"{len(repositories) - _MOST_REPOSITORIES} other repositories")
    where = f" in {_joined(named)}" if named else ""
    question = wording.said(intent.text, limit=_INTENT_CHARS)
    why = f" {'Commits' if len(subjects) > 1 else 'Commit'}: {_quoted(subjects)}." if subjects else ""
    return f"{_joined(list(_counted(items, changes)))}{where}, about “{question}”.{why}"


def _counted(items: Sequence[Item], changes: Sequence[DocumentChange]) -> Iterator[str]:
    happenings = {id(change): item.happening for item in items for change in (item.change, *item.alike)}
    for happening in Happening:
        counts = Counter(change.level for change in changes if happenings[id(change)] is happening)
        examples = {change.level: change for change in changes if happenings[id(change)] is happening}
        said = [
            f"{counts[level]:,} {wording.noun(examples[level], counts[level])}" for level in LEVELS if counts[level]
        ]
        if said:
            yield f"{_joined(said)} {wording.verb(happening, sum(counts.values()))}"


def _quoted(subjects: Iterable[str]) -> str:
    return ", ".join(f"“{wording.said(subject)}”" for subject in subjects)


def _joined(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1] if parts else "")))


def _folder(change: DocumentChange, has_many: bool) -> str:
    path = change.state.file_path
    folder = path if path == ROOT_MODULE else module_path_of(path)
    shown = "./" if folder == ROOT_MODULE else f"{folder}/"
    return f"{change.repository}: {shown}" if has_many else shown
