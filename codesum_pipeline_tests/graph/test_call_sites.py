"""Calls keep their order from the parser to the graph, so that what is known of each by its number can be joined."""

import pytest

from codesum_pipeline.foundation.data_model.edge import CallRow
from codesum_pipeline.foundation.data_model.file import FilePlace, FileStatus
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.symbol import FileFacts
from codesum_pipeline.foundation.store.rows import to_table
from codesum_pipeline.graph.resolvers.families import families_of, load_files
from codesum_pipeline.symbols.parsing.parsers import PARSERS, parse_file
from codesum_pipeline_tests.support.marked_calls import unmarked


def sites_of(language: str) -> tuple[list[str], list[CallRow]]:
    """The callees that the parser lists for a source of a language, and the sites that the graph makes of them."""
    facts = parse_file("a", language, unmarked(language).encode(), blob="", hash_policy=HashPolicy.CANONICAL).facts
    loaded = load_files(to_table([facts], FileFacts).to_pylist())
    (family,) = families_of(loaded, [FilePlace("a", FileStatus.INDEXED, False, False)], ["a"], root=".")
    callees = [callee for _, callee, _ in loaded.python["a"].code()[0]] if loaded.python else [
        call.name for call in loaded.declared["a"].code()[0]
    ]  # fmt: skip
    return callees, family.resolver({"a": family.telling_names("a")})("a").calls


@pytest.mark.parametrize("language", sorted(PARSERS))
def test_each_call_of_a_file_is_one_site_in_the_same_order(language: str) -> None:
    callees, sites = sites_of(language)

    assert callees
    assert [site.callee for site in sites] == callees
