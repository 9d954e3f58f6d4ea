"""The digest without a model: what changed about a standing question, where, and why, as far as commits say it.

It is English in whatever language the intent asks for: names, code, commits and
most texts of a repository are as their authors wrote them, and our few words
between them in another language would make half a translation. The same items
give the same text.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from codesum_pipeline.foundation.data_model.digest_record import SummaryResult
from codesum_pipeline.foundation.data_model.document import LEVELS
from codesum_pipeline.foundation.data_model.ids import ROOT_MODULE, module_path_of
from codesum_pipeline.foundation.data_model.markdown import code_span
from codesum_pipeline.foundation.data_model.printable import count_noun, list_words
from codesum_pipeline.foundation.data_model.standing_question import DocumentChange, Intent
from codesum_pipeline.indexes.lanes.tokens import tokenize
from codesum_pipeline.notifications.digests import wording
from codesum_pipeline.notifications.digests.digest_items import ChangeNature, Item
from codesum_pipeline.notifications.matching.scores import subject_text

PLAIN_LANGUAGE = "English"

# A screen or two: so many items with what is otherwise in them, so many in a line each, so many folders of the rest.
_MOST_SHOWN = 14
_MOST_BESIDE = 3
_MOST_FOLDERS = 3
_MOST_REPOSITORIES = 3
# Lines of code that are shown of the best item, of the next, and so on.
_HUNK_LINES = (16, 12, 9, 9)
_MOST_QUOTES = 4
# In one sentence.
_MOST_SUBJECTS = 2
_MOST_IN_GIST = 2
_INTENT_CHARS = 120


def write_plain(intent: Intent, items: Sequence[Item]) -> SummaryResult:
    """A digest of the items, best first. `[N]` are the items that it names, and in code and fences no such numbers."""
    ordered = sorted(items, key=_rank)
    main = [item for item in ordered if not _is_beside(item)] or ordered
    beside = [item for item in ordered if _is_beside(item)] if len(main) < len(ordered) else []
    digest = _PlainDigest(
        has_many=len({item.citation.repository for item in items}) > 1,
        words=frozenset(tokenize(subject_text(intent.text))),
    )
    shown = main[:_MOST_SHOWN]
    sections: dict[tuple[str, ...], list[Item]] = {}
    for item in shown:
        sections.setdefault(item.subjects, []).append(item)
    digest.add(_gist(main))
    detailed = {id(item) for item in shown[: len(_HUNK_LINES)]}
    for subjects, members in sections.items():
        if in_detail := [item for item in members if id(item) in detailed]:
            if len(sections) > 1:
                digest.add(f"## {list_words(_commits(subjects)) or 'Commit not known'}")
            for item in in_detail:
                digest.add_item(item)
            digest.add_items([item for item in members if id(item) not in detailed])
    if others := [item for item in shown if not any(id(member) in detailed for member in sections[item.subjects])]:
        digest.add("## Other changes")
        digest.add_items(others)
    digest.add_beside(beside)
    digest.add_rest(main[_MOST_SHOWN:])
    digest.add(f"*Asked: “{wording.quote_words(intent.text, limit=_INTENT_CHARS)}”. No language model wrote this.*")
    return SummaryResult(intent.name, digest.text, tuple(item.citation for item in digest.cited))


def _rank(item: Item) -> tuple[bool, float, str, str]:
    return item.citation.score is None, -(item.citation.score or 0.0), item.citation.repository, item.change.document_id


def _is_beside(item: Item) -> bool:
    """Whether an item is mentioned in a line below all others."""
    is_minor = item.happening is ChangeNature.REWORDED or wording.is_renumbered(item)
    return item.change.is_test or item.change.is_vendored or is_minor


class _PlainDigest(Struct):
    """Paragraphs, and the items that they cite."""

    has_many: bool
    words: frozenset[str]
    cited: list[Item] = field(default_factory=list)
    _paragraphs: list[str] = field(default_factory=list)
    _rooms: Iterator[int] = field(default_factory=lambda: iter(_HUNK_LINES))

    @property
    def text(self) -> str:
        return "\n\n".join(self._paragraphs) + "\n"

    def add(self, paragraph: str) -> None:
        self._paragraphs.append(paragraph)

    def add_item(self, item: Item) -> None:
        """An item with its lines, or what is said otherwise about it."""
        self.add(self._headed(item))
        hunk = item.hunk
        if hunk is None or not hunk.text or item.happening is ChangeNature.REMOVED:
            self._add_list(wording.details_of(item))
            return
        if wording.is_prose(item):
            self._add_list(wording.quote_sentences(hunk, _MOST_QUOTES))
            return
        lines = wording.lines_to_show(hunk, next(self._rooms), self.words)
        is_whole = hunk.text.count("\n") < len(lines)
        # A part of something new says less than what somebody wrote about it.
        if not is_whole and item.happening is ChangeNature.ADDED and wording.words_about(item):
            lines = []
        self._add_list(wording.details_of(item, shown="\n".join(lines), is_whole=is_whole))
        if lines:
            self.add(wording.fenced_block(hunk, lines))

    def add_items(self, items: Sequence[Item]) -> None:
        """A line for each item."""
        lines = []
        for item in items:
            is_quoted = item.hunk is not None and wording.is_prose(item) and item.happening is ChangeNature.CHANGED
            words = wording.quote_sentences(item.hunk, 1) if is_quoted and item.hunk else wording.details_of(item)
            lines.append(": ".join([self._headed(item), *words[:1]]))
        self._add_list(lines)

    def add_beside(self, items: Sequence[Item]) -> None:
        """Tests, vendored copies and texts by their counts, and a few of them by name."""
        of = {
            "Only described otherwise": [item for item in items if item.happening is ChangeNature.REWORDED],
            "Only numbers or dates": [item for item in items if wording.is_renumbered(item)],
            "Tests": [item for item in items if item.change.is_test],
            "Vendored copies": [item for item in items if item.change.is_vendored],
        }
        unlisted = {id(item) for item in items}
        for title, members in of.items():
            if some := [item for item in members if id(item) in unlisted]:
                unlisted -= {id(item) for item in some}
                self.add(f"**{title}:** {self._named(some)}")

    def add_rest(self, items: Sequence[Item]) -> None:
        """The number of items that are not named, and their folders."""
        counts = Counter(_folder(change, self.has_many) for item in items for change in (item.change, *item.alike))
        if not counts:
            return
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        counts_by_folder = [f"{count:,} in {code_span(folder)}" for folder, count in ordered[:_MOST_FOLDERS]]
        if more := sum(count for _, count in ordered[_MOST_FOLDERS:]):
            counts_by_folder.append(f"{more:,} in {len(ordered) - _MOST_FOLDERS:,} other folders")
        total = sum(counts.values())
        self.add(f"**Not shown here:** {count_noun(total, 'more change')}: {', '.join(counts_by_folder)}.")

    def _named(self, items: Sequence[Item]) -> str:
        shown = []
        for happening in ChangeNature:
            if members := [item for item in items if item.happening is happening]:
                numbers = " ".join(self._cite(item) for item in members[:_MOST_BESIDE])
                changes = [change for item in members for change in (item.change, *item.alike)]
                count = f"{len(changes):,} {'new' if happening is ChangeNature.ADDED else happening}"
                shown.append(f"{count}: {wording.names_of_changes(changes)} {numbers}")
        return "; ".join(shown)

    def _headed(self, item: Item) -> str:
        where = f" of {code_span(item.citation.source_name or item.citation.repository)}" if self.has_many else ""
        return f"{wording.heading_of(item)}{where} {self._cite(item)}"

    def _cite(self, item: Item) -> str:
        self.cited.append(item)
        return f"[{len(self.cited)}]"

    def _add_list(self, lines: Sequence[str]) -> None:
        if lines:
            self.add("\n".join(f"- {line}" for line in lines))


def _gist(items: Sequence[Item]) -> str:
    """What changed, in one sentence: what or how many and with which commits."""
    changes = [change for item in items for change in (item.change, *item.alike)]
    repositories = sorted({item.citation.source_name or item.citation.repository for item in items})
    where = [code_span(name) for name in repositories[:_MOST_REPOSITORIES]]
    if len(repositories) > _MOST_REPOSITORIES:
        where.append(f"{len(repositories) - _MOST_REPOSITORIES} other repositories")
    subjects = list(dict.fromkeys(subject for item in items for subject in item.subjects))
    commits = _commits(subjects)
    what = list_words(list(_named_ones(items) if len(changes) <= _MOST_IN_GIST else _counted(items, changes)))
    why = f", with {list_words(commits)}" if commits else ""
    new = " Nothing but numbers or dates is different." if items and all(map(wording.is_renumbered, items)) else ""
    return f"In {list_words(where)}, {what}{why}.{new}" if items else "Nothing changed."


def _named_ones(items: Sequence[Item]) -> Iterator[str]:
    for happening in ChangeNature:
        if members := [item for item in items if item.happening is happening]:
            named = list_words([wording.name_of(item.change) for item in members])
            yield f"{named} {wording.verb_of(happening, len(members))}"


def _counted(items: Sequence[Item], changes: Sequence[DocumentChange]) -> Iterator[str]:
    happenings = {id(change): item.happening for item in items for change in (item.change, *item.alike)}
    for happening in ChangeNature:
        counts = Counter(change.level for change in changes if happenings[id(change)] is happening)
        examples = {change.level: change for change in changes if happenings[id(change)] is happening}
        counts_by_level = [
            f"{counts[level]:,} {wording.noun_of(examples[level], counts[level])}" for level in LEVELS if counts[level]
        ]
        if counts_by_level:
            yield f"{list_words(counts_by_level)} {wording.verb_of(happening, sum(counts.values()))}"


def _commits(subjects: Sequence[str]) -> list[str]:
    shown = [f"“{wording.quote_words(subject)}”" for subject in subjects[:_MOST_SUBJECTS]]
    more = len(subjects) - len(shown)
    return [*shown, count_noun(more, "more commit")] if more else shown


def _folder(change: DocumentChange, has_many: bool) -> str:
    path = change.state.file_path
    folder = path if path == ROOT_MODULE else module_path_of(path)
    shown = "./" if folder == ROOT_MODULE else f"{folder}/"
    return f"{change.repository}: {shown}" if has_many else shown
