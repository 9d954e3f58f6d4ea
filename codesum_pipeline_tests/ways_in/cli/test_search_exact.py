"""An exact message, or string literal, is found where it stands."""

import json

import pytest

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

# Many functions are about sessions and opening; one of each language has the message.
_DECOY = '''def open_session_{number}(session, cookie):
    """Open the session number {number}: the session cookie is opened, and large cookies of the session fail."""
    session.open(cookie, large=cookie.large, failed=session.failed)
    return session.cookie
'''
FILES = {
    "sessions.py": "\n\n".join(_DECOY.format(number=number) for number in range(12)),
    "limits.py": 'def check(size):\n    if size > 4093:\n        raise ValueError("Session cookie is " "too large")\n',
    "files/open.c": 'int get(char *p) {\n    warn("failed to open %s: %s", p, why());\n    return -1;\n}\n',
    "routes.js": "export function pick(m, p) {\n  throw new Error(`no such session ${m} in ${p}`)\n}\n",
    "conf/app.toml": '[session]\nhint = "Ask the operator for a larger cookie jar."\n',
    "lost.py": "def find(jar):\n    raise KeyError(f\"no jar of '{jar}' was found here\")\n",
    "knobs.py": "MOST_JARS = 7\n\n\ndef session_limit(jars):\n    return min(jars, MOST_JARS)\n",
    "options.py": "def parse(arguments):\n    return '--keep-jar' in arguments, readCookie(arguments)\n",
    "docs/faq.md": "# Questions\n\nA *session* that nobody opened is closed at midnight by the janitor.\n",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exact")
    repo = GitRepo.create(folder / "repo", FILES)
    build(workspace_of(open_home(folder / "home"), RepositoryEntry("exact", str(repo.path))))
    return folder / "home"


@pytest.mark.parametrize(
    ("query", "id_"),
    [
        pytest.param("Session cookie is too large", "limits.py::check", id="python, in two pieces"),
        pytest.param('"failed to open %s"', "files/open.c::get", id="c, quoted with its placeholder"),
        pytest.param("failed to open session: permission denied", "files/open.c::get", id="c, values filled in"),
        pytest.param("no such session cookie in large", "routes.js::pick", id="javascript, values filled in"),
        pytest.param("no jar of 'marmalade' was found here", "lost.py::find", id="python, its values in quotes"),
        pytest.param("Ask the operator for a larger cookie jar.", "conf/app.toml", id="a text file"),
        pytest.param("session that nobody opened is closed at midnight", "docs/faq.md", id="prose with markup in it"),
    ],
)
def test_it_comes_first_and_says_its_line(codesum, home, query, id_):
    answer = json.loads(codesum(home, "search", query, "--json").stdout)

    assert answer["hits"][0]["id"] == id_
    assert "in line " in answer["hits"][0]["why"]
    assert answer["fits_well"] is True
    ids = [hit["id"] for hit in answer["hits"]]
    assert len(ids) == len(set(ids))
    scores = [hit["score"] for hit in answer["hits"]]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("query", ["MOST_JARS", "`MOST_JARS`", 'who reads "MOST_JARS" of a session'])
def test_a_name_that_no_document_has_is_found_where_it_stands(codesum, home, query):
    answer = json.loads(codesum(home, "search", query, "--json").stdout)

    assert (answer["hits"][0]["id"], answer["hits"][0]["line"]) == ("knobs.py", 1)
    assert answer["fits_well"] is True


@pytest.mark.parametrize(
    ("query", "id_", "line"),
    [
        pytest.param("which cookie jar is kept by the option --keep-jar", "options.py::parse", 2, id="a flag"),
        pytest.param("how are arguments taken by readCookie", "options.py::parse", 2, id="camelCase"),
        pytest.param("who calls min() of jars", "knobs.py::session_limit", 5, id="a call"),
        pytest.param("open_session_3", "sessions.py::open_session_3", 19, id="the name of a function alone"),
    ],
)
def test_a_hit_that_has_a_word_of_code_says_where_and_fits(codesum, home, query, id_, line):
    answer = json.loads(codesum(home, "search", query, "--json").stdout)

    assert next(hit["line"] for hit in answer["hits"] if hit["id"] == id_) == line
    assert answer["fits_well"] is True


def test_a_word_of_code_in_a_sentence_changes_no_order(codesum, home):
    sentence = "how is the session opened by open_session_7"
    answer = json.loads(codesum(home, "search", sentence, "--json").stdout)

    scores = [hit["score"] for hit in answer["hits"]]
    assert scores == sorted(scores, reverse=True)
    assert answer["hits"][0]["id"] == "sessions.py::open_session_7"


def test_a_question_that_stands_nowhere_is_ranked_as_ever(codesum, home):
    answer = json.loads(codesum(home, "search", "how is a session cookie opened", "--json").stdout)

    assert all("in line " not in hit["why"] for hit in answer["hits"])


def test_filters_hold_for_what_stands_there_too(codesum, home):
    arguments = ("search", "Session cookie is too large", "--json")

    answer = json.loads(codesum(home, *arguments, "--path", "files/").stdout)
    assert {hit["file_path"] for hit in answer["hits"]} <= {"files/open.c", "files"}
    answer = json.loads(codesum(home, *arguments, "--level", "file").stdout)
    assert answer["hits"][0]["id"] == "limits.py"


def test_without_the_sources_a_search_still_answers(codesum, home, tmp_path):
    mirrors = home / "mirrors"
    aside = mirrors.rename(tmp_path / "aside")
    try:
        result = codesum(home, "search", "Session cookie is too large", "--json")
    finally:
        aside.rename(mirrors)

    assert result.exit_code == 0
    assert json.loads(result.stdout)["hits"]
