"""Identifiers, types, values and calls become words."""

import pytest

from codesum_pipeline.summaries.extractive.call_phrases import call_phrase
from codesum_pipeline.summaries.extractive.frequencies import word_bucket
from codesum_pipeline.summaries.extractive.keywords import choose_keywords, fold
from codesum_pipeline.summaries.extractive.plain import clip, enumerate_first, sentence
from codesum_pipeline.summaries.extractive.type_words import type_words
from codesum_pipeline.summaries.extractive.value_phrases import raised, value_phrase
from codesum_pipeline.summaries.extractive.verbs import gerund, third_person
from codesum_pipeline.summaries.extractive.words import split_identifier, spoken, with_article


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("HTTPServer2_loop", ("http", "server", "2", "loop")),
        ("getUserURLs", ("get", "user", "urls")),
        ("parse_utf8", ("parse", "utf8")),
        ("kebab-case.name", ("kebab", "case", "name")),
        ("SQLiteImpl", ("sqlite", "impl")),
        ("größe_in_m", ("gr", "öß", "e", "in", "m")),
        ("__", ()),
    ],
)
def test_an_identifier_is_split(identifier, words):
    assert split_identifier(identifier) == words


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("req_hdrs", "request headers"),
        ("user_id", "user ID"),
        ("HTTP2Stream", "HTTP/2 stream"),
        ("x509_store2", "x509 store2"),
    ],
)
def test_an_identifier_is_said_in_full(identifier, words):
    assert spoken(identifier) == words


@pytest.mark.parametrize(
    ("phrase", "said"),
    [
        ("header", "a header"),
        ("error", "an error"),
        ("HTTP header", "an HTTP header"),
        ("unique key", "a unique key"),
        ("headers", "headers"),
        ("metadata", "metadata"),
        ("all rows", "all rows"),
        ("last row", "the last row"),
        ("URL", "a URL"),
    ],
)
def test_a_noun_gets_the_article_it_needs(phrase, said):
    assert with_article(phrase) == said


@pytest.mark.parametrize(
    ("verb", "third", "ing"),
    [
        ("parse", "parses", "parsing"),
        ("copy", "copies", "copying"),
        ("get", "gets", "getting"),
        ("fetch", "fetches", "fetching"),
        ("submit", "submits", "submitting"),
        ("render", "renders", "rendering"),
        ("do", "does", "doing"),
        ("fix", "fixes", "fixing"),
    ],
)
def test_a_verb_is_conjugated(verb, third, ing):
    assert (third_person(verb), gerund(verb)) == (third, ing)


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        ("dict[str, list[int]] | None", "a dict of strings to lists of integers, or nothing"),
        ("Optional[UserSession]", "a user session, or nothing"),
        ("tuple[int, str]", "a tuple of an integer and a string"),
        ("tuple[str, str]", "a pair of strings"),
        ("Iterator[Row]", "an iterator over rows"),
        ("'Row'", "a row"),
        ("Literal['a', 'b']", "one of 'a', 'b'"),
        ("T", ""),
    ],
)
def test_a_type_is_said(annotation, words):
    assert type_words(annotation) == words


@pytest.mark.parametrize(
    ("code", "phrase"),
    [
        ("self.total", "its total"),
        ("user.name", "the name of the user"),
        ("create_token(user)", "a token"),
        ("UserSession(user)", "a new user session"),
        ("a == b", "true or false"),
        ("len(self.rows)", "the number of the rows"),
        ('"%s of %s" % (a, b)', "the text “… of …”"),
        ('{"name": a, "age": b}', "a dict with name and age"),
        ("[row for row in self.rows if row]", "a list made from the rows"),
        ("first if ok else second", "the first or the second"),
        ("name, value", "a tuple of the name and the value"),
        ('{"a": load(x, "y…', "a dict with a"),
    ],
)
def test_a_value_is_said(code, phrase):
    assert value_phrase(code)[0] == phrase


@pytest.mark.parametrize(
    ("callee", "phrase"),
    [
        ("self.db.query_user", "queries the user via the DB"),
        ("json.dumps", "encodes JSON"),
        ("session.add", "adds to the session"),
        ("file.close", "closes the file"),
        ("UserSession", "builds a user session"),
        ("graph.add_edges_from", "adds edges"),
    ],
)
def test_a_call_is_said(callee, phrase):
    said = call_phrase(callee)

    assert said and said[1] == phrase


@pytest.mark.parametrize(
    "callee", ["len", "isinstance", "super().__init__", "ValueError", "x", "assert_equal", "a[0](b)"]
)
def test_a_call_that_tells_nothing_is_not_said(callee):
    assert call_phrase(callee) is None


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ('ValueError("bad port")', ("ValueError", "bad port")),
        ('errors.PortError(f"bad port {port}: %s" % x)', ("PortError", "bad port …: …")),
        ('PortError("first part " "second part")', ("PortError", "first part second part")),
        ('PortError("this is cut somewh…', ("PortError", "this is cut …")),
        ("error", ("", "")),
        ("", ("", "")),
    ],
)
def test_an_error_is_told_with_its_message(code, told):
    assert raised(code) == told


def test_a_long_text_is_cut_at_a_sentence_or_a_word():
    assert clip("One two three. Four five six.", 20) == "One two three."
    assert clip("One two three four five", 14) == "One two three…"
    assert clip("Reads all the rows (of a file)", 24) == "Reads all the rows…"
    assert clip("short", 20) == "short"


def test_a_sentence_keeps_an_identifier_at_its_start():
    assert [sentence(text) for text in ("reads rows", "read_rows does", "iOS only!", "")] == [
        "Reads rows.",
        "read_rows does.",
        "iOS only!",
        "",
    ]


def test_a_long_list_says_how_many_more():
    assert enumerate_first(["a", "b", "c", "d"], 2) == "a, b and 2 more"
    assert enumerate_first(["a", "b"], 2) == "a and b"


def test_rare_words_of_the_name_come_first_and_forms_of_one_word_once():
    places = [("parse_header", 4.0), ("parser", 2.5), ("quokka", 1.0), ("the value is a string", 1.6)]

    assert choose_keywords(places) == ("parse", "header", "quokka", "string")
    assert choose_keywords([], fallback=["src/auth"]) == ("src", "auth", "code")


@pytest.mark.parametrize(
    "words", [("parse", "parser", "parsers", "parsing", "parsed"), ("header", "headers"), ("query", "queries")]
)
def test_forms_of_a_word_fold_to_one(words):
    assert len(set(map(fold, words))) == 1


def test_the_table_of_frequencies_knows_common_from_rare():
    assert word_bucket("name") < word_bucket("header") < word_bucket("pagination") < word_bucket("abscissa")
