import pytest

from codesum_pipeline.search.retrieval.hits import Occurrence, literal_of, occurrence_in

SOURCE = """def check(cookie):
    raise ValueError("Session cookie is "
                     "too large")
printf("failed to open %s: %s\\n", path, reason);
throw new Error(`no route for ${method} and ${path}`)
message = "could not connect to " + host
log.warn(f"retrying {count} times for {url}")
# The last resort of a desperate person.
"""


def found(query: str) -> Occurrence | None:
    wanted = literal_of(query)
    return None if wanted is None else occurrence_in(SOURCE, wanted)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("Session cookie is too large", Occurrence(2, 1), id="a literal in two pieces"),
        pytest.param('"failed to open %s"', Occurrence(4, 2), id="quoted, with its placeholder"),
        pytest.param('where is "failed to open" raised', Occurrence(4, 2), id="a part in quotes"),
        pytest.param("FAILED TO OPEN", Occurrence(4, 1), id="three words of a literal, in another case"),
        pytest.param("failed to open /etc/x: permission denied", Occurrence(4, 0), id="values filled in, printf"),
        pytest.param("no route for GET and /a/b", Occurrence(5, 0), id="values filled in, braces"),
        pytest.param("could not connect to example.org", Occurrence(6, 0), id="a value behind a literal"),
        pytest.param("retrying 3 times for http://a", Occurrence(7, 0), id="values filled in, an f-string"),
        pytest.param("last resort of a desperate person", Occurrence(8, 2), id="a sentence of a comment"),
        pytest.param("the last resort", None, id="three words that no literal has"),
        pytest.param("how is failed to open handled by the caller", None, id="a question about a message"),
        pytest.param("where is the session cookie signed", None, id="a question"),
        pytest.param("session cookie", None, id="two words without quotes"),
        pytest.param('"session cookie"', Occurrence(2, 1), id="two words in quotes"),
        pytest.param('"%s"', None, id="nothing but a placeholder"),
    ],
)
def test_what_is_asked_for_is_found_where_it_stands(query: str, expected: Occurrence | None) -> None:
    assert found(query) == expected
