"""Calls keep their order from the parser to the graph, so that what is known of each by its number can be joined."""

import pytest

from codesum_pipeline.graph.call_sites import CallSite, resolve_calls
from codesum_pipeline.graph.declared.edges import families
from codesum_pipeline.graph.declared.projects import Projects
from codesum_pipeline.graph.loading import load_files
from codesum_pipeline.graph.module_paths import ModulePaths
from codesum_pipeline.graph.resolver import Resolver
from codesum_pipeline.graph.unique_names import UniqueNames
from codesum_pipeline.model.files import FileStatus, SourceFile
from codesum_pipeline.model.options import HashPolicy
from codesum_pipeline.parsing.parsers import PARSERS, parse_file
from codesum_pipeline_tests.support.marked_calls import unmarked


def sites_of(language: str) -> tuple[list[str], list[CallSite]]:
    """The callees that the parser lists for a source of a language, and the sites that the graph makes of them."""
    facts = parse_file("a", language, unmarked(language).encode(), blob="", hash_policy=HashPolicy.CANONICAL).facts
    loaded = load_files([{
        "file_path": "a", "language": language, "exports": facts.exports, "references": facts.references,
    }])  # fmt: skip
    if language == "python":
        files = [SourceFile("a", "", 0, "", "python", FileStatus.INDEXED, None, False, False)]
        resolver = Resolver(loaded.python, ModulePaths(files, loaded.python, root="."))
        scopes = loaded.python["a"]
        return [callee for _, callee, _ in scopes.calls], [*resolve_calls(resolver, UniqueNames(loaded.python), scopes)]
    (family,) = families(loaded.declared, Projects(["a"], loaded.projects))
    return [call.name for call in loaded.declared["a"].calls], family.sites("a")


@pytest.mark.parametrize("language", sorted(PARSERS))
def test_each_call_of_a_file_is_one_site_in_the_same_order(language: str) -> None:
    callees, sites = sites_of(language)

    assert callees
    assert [site.callee for site in sites] == callees
