"""What the callers and users of a function or class leave out: an answer that names it is no proof of dead code.

Some of it is true of every index. The rest is looked up: other calls by the same name whose target nobody could tell,
and programs that no grammar reads.
"""

import re
from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.constructors import constructed_class
from codesum_pipeline.answers.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.answers.agent_tools.joined_uses import dotted_parts
from codesum_pipeline.answers.agent_tools.tool_answers import place_of
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.edge import EdgeKind
from codesum_pipeline.foundation.data_model.ids import own_name
from codesum_pipeline.foundation.data_model.printable import count_noun, some_of
from codesum_pipeline.foundation.language_facts.file_languages import language_of_path
from codesum_pipeline.foundation.language_facts.language_profiles import (
    Trait,
    has_trait,
    profile_of,
)
from codesum_pipeline.indexes.file_formats.version_folder import Lane
from codesum_pipeline.indexes.lanes.tokens import tokens_of_word
from codesum_pipeline.search.retrieval.published_index import PublishedIndex

# Files that are looked through for calls, and places that are named.
MOST_FILES = 50
_PLACES_NAMED = 3
_LANGUAGES_NAMED = 4
_NAME = re.compile(r"[^\W\d][\w$]*[?!]?")
# What may follow a name that begins a statement, where its arguments need no brackets: `set :tries, 3`.
_ARGUMENT = r"[ \t]{1,8}(?!(?:and|if|in|or|rescue|then|unless|until|while)\b)[\w:'\"@]"
_ALWAYS = "uses by reflection or by a name in a text, and code outside this repository"


def uncounted_uses(call: ToolContext, documents: JoinedDocuments, number: int | None = None) -> list[str]:
    """What may use a function, a class or anything else, and is in none of its relations; the looked-up parts first."""
    found: list[str] = []
    if number is not None:
        found += _unknown_calls(call, documents, number)
    programs = documents.parts[0].unread_programs
    if programs:
        named = some_of([profile_of(one).title for one in programs], _LANGUAGES_NAMED)
        found.append(f"code in {named}, which is not resolved")
    return [*found, _ALWAYS]


def _unknown_calls(call: ToolContext, documents: JoinedDocuments, number: int) -> Iterator[str]:
    name = _called_name(documents, number)
    sources, path = call.sources(documents.parts), documents[number].path
    found, unread = other_callers(sources, documents, name, path, but=number)
    places = [each.place for each in found]
    if places:
        least = "at least " if unread else ""
        those = count_noun(len(places), "other function or file", "other functions or files")
        yield f"{least}{those} with `{name}(` whose target is not known: {some_of(places, _PLACES_NAMED)}"
    elif unread:
        yield f"`{name}(` in {count_noun(unread, 'file')} with this name that were not looked through"


def _called_name(documents: JoinedDocuments, number: int) -> str:
    """The name by which code calls a function: that of its class for a constructor."""
    class_ = constructed_class(documents, number)
    return own_name(documents[number if class_ is None else class_].id)


class OtherCaller(Struct, frozen=True):
    """The functions around a call of something of a name, else the class or file; and the place of the call."""

    numbers: frozenset[int]
    place: str


def other_callers(
    sources: SourceReader, documents: JoinedDocuments, name: str, path: str, *, but: int | None = None
) -> tuple[list[OtherCaller], int]:
    """The first place in each function or file that calls something of a name and has no known use of any document of
    that name, in the languages that a file at `path` can be called from; and the number of files that have the name and
    were not looked through. The document `but` is left out."""
    if not _NAME.fullmatch(name):
        return [], 0
    family = family_of(path)
    known = {*_users_of_name(documents, name), *([] if but is None else [but])}
    found: list[OtherCaller] = []
    unread = 0
    for start, index in zip(documents.starts, documents.parts, strict=False):
        rows = files_with(index, name, family)
        texts = sources.texts(index, [index.ids[row] for row in rows[:MOST_FILES]])
        unread += len(rows) - len(texts)
        for row in sorted(rows[:MOST_FILES]):
            for around, line in _places_in(index, row, texts.get(index.ids[row], ""), name):
                numbers = frozenset(start + one for one in around)
                if known.isdisjoint(numbers) and not any(_is_outside(documents, one, name) for one in numbers):
                    found.append(OtherCaller(numbers, place_of(index.ids[row], line)))
    return found, unread


def _users_of_name(documents: JoinedDocuments, name: str) -> Iterator[int]:
    """What calls or refers to any document with a name."""
    uses = documents.uses
    named = (one for one in documents.named_exactly(name) if one < len(uses))
    for one in named:
        yield from (user for kind in (EdgeKind.CALL, EdgeKind.REFERENCE) for user in uses.users_of(one, kind))


def _is_outside(documents: JoinedDocuments, number: int, name: str) -> bool:
    """Whether a document is known to use something of a name from outside the repository."""
    return any(dotted_parts(each)[-1:] == [name] for each in documents.outside(number))


def family_of(path: str) -> str:
    """The languages from which the definitions of a file can be called."""
    return profile_of(language_of_path(path) or "").family


def files_with(index: PublishedIndex, name: str, family: str) -> list[int]:
    """The files of a family of languages that have a name, those first that have it most."""
    words = index.words[Lane.CODE]
    (span,) = words.spans([tokens_of_word(name).rpartition(" ")[2]])
    passages = words.indices[span].astype(np.int64) - len(index)
    order = np.argsort(-words.data[span], kind="stable")
    of_files = index.passage_files[passages[order][passages[order] >= 0]].tolist()
    return [
        row for row in dict.fromkeys(of_files)
        if index.shows(row) and family_of(index.ids[row]) == family
    ]  # fmt: skip


def _places_in(index: PublishedIndex, file: int, text: str, name: str) -> Iterator[tuple[list[int], int]]:
    """The functions around each call of something of a name, else what is around it, and the first such line of each.
    Comments are left out. What has that name itself is not looked into: its own head looks like a call."""
    language = language_of_path(index.ids[file]) or ""
    comment = profile_of(language).line_comment
    named = re.escape(name)
    bare = rf"|\.{named}\b|^{named}{_ARGUMENT}" * has_trait(language, Trait.CHAINS_CALL)
    pattern = re.compile(rf"(?<![\w$]){named}[ \t]{{0,8}}\({bare}")
    rows = (index.arrays["file_row"] == file).nonzero()[0]
    rows = rows[rows != file]
    first, last = index.shown.lines[rows].T
    seen = set[tuple[int, ...]]()
    for line, written in enumerate(text.split("\n"), start=1):
        code = written.partition(comment)[0].lstrip() if name in written else ""
        # In a comment of several lines, a line begins so.
        if code.startswith("*") or not pattern.search(code):
            continue
        found = rows[(first <= line) & (line <= last)].tolist()
        around = [one for one in found if index.level_of(one) is Level.FUNCTION] or found or [file]
        if tuple(around) not in seen and not any(own_name(index.ids[one]) == name for one in around):
            seen.add(tuple(around))
            yield around, line
