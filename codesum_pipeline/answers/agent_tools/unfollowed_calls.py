"""Calls of what is reached by its name alone, on objects that nobody knows: what `impact` does not follow, and says."""

from collections.abc import Iterator, Sequence
from itertools import islice

from codesum_pipeline.answers.agent_tools.answering_sources import SourceReader
from codesum_pipeline.answers.agent_tools.document_tree import JoinedDocuments
from codesum_pipeline.answers.agent_tools.footprints import Footprint
from codesum_pipeline.answers.agent_tools.graph_role import is_test_document
from codesum_pipeline.answers.agent_tools.impact_page import UnfollowedCalls
from codesum_pipeline.answers.agent_tools.uncounted import MOST_FILES, family_of, files_with, other_callers
from codesum_pipeline.foundation.data_model.cancellation import stop_if_cancelled
from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.ids import own_name

# Names that are looked for in the sources of other files, nearest first: each costs some milliseconds.
MOST_NAMES = 50
# The places of a name that more functions call say nothing.
MOST_PLACES = 8


def unfollowed_calls(
    own: Footprint, sources: SourceReader, *, in_code: bool = True, in_tests: bool = False
) -> list[UnfollowedCalls]:
    """For the name of each function that surely is reached, the places that call something of that name and are neither
    reached nor known to call something else: those outside of tests, and how many there are in tests."""
    if not in_code and not in_tests:
        return []
    names = [*islice(_names(own), MOST_NAMES)]
    _read_files(own.documents, sources, names)
    found: list[UnfollowedCalls] = []
    for number, name in names:
        stop_if_cancelled()
        callers, unread = other_callers(sources, own.documents, name, own.documents[number].path, but=number)
        new = [each for each in callers if own.found.keys().isdisjoint(each.numbers)]
        are_tests = [any(is_test_document(own.documents, one) for one in each.numbers) for each in new]
        places = [each.place for each, is_test in zip(new, are_tests, strict=True) if in_code and not is_test]
        count = sum(are_tests) if in_tests else 0
        if places or count:
            shown = places if len(places) <= MOST_PLACES else []
            told = UnfollowedCalls(name=name, places=shown, count=len(places), in_tests=count, unread=unread)
            found.append(told)
    return found


def _read_files(documents: JoinedDocuments, sources: SourceReader, names: Sequence[tuple[int, str]]) -> None:
    """Read the files that have the names together: one process of git instead of one for each name."""
    for index in documents.parts:
        paths = {
            index.ids[row]
            for number, name in names
            for row in files_with(index, name, family_of(documents[number].path))[:MOST_FILES]
        }
        sources.read_missing(index, paths)


def _names(own: Footprint) -> Iterator[tuple[int, str]]:
    """The functions that surely are reached, one for each name, nearest first."""
    seen = set[str]()
    for number in sorted(own.found, key=lambda one: own.found[one].distance):
        name = own_name(own.documents[number].id)
        is_function = own.documents[number].level is Level.FUNCTION and not is_test_document(own.documents, number)
        if is_function and own.found[number].is_sure and name not in seen and not name.startswith("__"):
            seen.add(name)
            yield number, name
