"""Comments in markup count for nothing."""

import pytest

from codesum_pipeline_tests.languages.declarations.cases import parse


@pytest.mark.parametrize("language", ["javascript", "tsx"])
@pytest.mark.parametrize(
    ("commented", "plain"),
    [
        ("<a>{/* c */}<b /></a>", "<a><b /></a>"),
        ("<a>\n  {/* c */}\n  <b />\n</a>", "<a>\n  <b />\n</a>"),
        ("<a b={1} {/* c */ ...d}>{/* x */ g()}</a>", "<a b={1} {...d}>{g()}</a>"),
        ("<a>t {/* c */} u</a>", "<a>t  u</a>"),
        ("<a>{/* c */}{\n// d\n}{x}</a>", "<a>{x}</a>"),
    ],
    ids=["alone", "on a line", "before an expression", "in a text", "several"],
)
def test_a_comment_in_braces_of_markup_changes_nothing(language: str, commented: str, plain: str) -> None:
    sources = [parse(language, f"function f() {{\n  return {markup};\n}}\n") for markup in (commented, plain)]

    assert sources[0].facts.content_hash == sources[1].facts.content_hash
    assert sources[0].symbols[0].content_hash == sources[1].symbols[0].content_hash
