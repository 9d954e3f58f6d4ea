"""Identifiers and messages become words."""

import pytest

from codesum_pipeline.evidence.author_texts.plain_sentences import clip_text, make_sentence, word_bucket
from codesum_pipeline.evidence.extractive.code_facts import message_in_words
from codesum_pipeline.evidence.extractive.words import (
    choose_keywords,
    fold_word,
    identifier_in_words,
    list_names,
    shared_prefix,
    split_identifier,
)


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("HTTPServer2_loop", ("http", "server", "2", "loop")),
        ("getUserURLs", ("get", "user", "urls")),
        ("parse_utf8", ("parse", "utf8")),
        ("kebab-case.name", ("kebab", "case", "name")),
        ("SQLiteImpl", ("sqlite", "impl")),
        ("größe_in_m", ("größe", "in", "m")),
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
    assert identifier_in_words(identifier) == words


def test_a_long_text_is_cut_at_a_sentence_or_a_word():
    assert clip_text("One two three. Four five six.", 20) == "One two three."
    assert clip_text("One two three four five", 14) == "One two three…"
    assert clip_text("Reads all the rows (of a file)", 24) == "Reads all the rows…"
    assert clip_text("short", 20) == "short"


def test_a_sentence_keeps_an_identifier_at_its_start():
    assert [make_sentence(text) for text in ("reads rows", "read_rows does", "iOS only!", "")] == [
        "Reads rows.",
        "read_rows does.",
        "iOS only!",
        "",
    ]


def test_a_long_list_says_how_many_more():
    assert list_names(["load_a", "load_b", "load_c", "load_a"], 2) == "load a, load b, 1 more"
    assert list_names(["a", "b"], 2) == "a, b"


@pytest.mark.parametrize(
    ("names", "prefix"),
    [
        pytest.param(["curl_easy_init", "curl_easy_open", "curl_easy_perform"], ("curl", "easy"), id="a C library's"),
        pytest.param(["NSString", "NSArray", "NSObject", "main"], ("ns",), id="one of capitals"),
        pytest.param(["parse_a", "parse_b", "parse_c"], (), id="a verb is none"),
        pytest.param(["redisOpen", "redisClose"], (), id="two names share by chance"),
        pytest.param(["tag_open", "tag_close", "line_a", "row_b", "cell_c", "tag_d"], (), id="half of the names"),
    ],
)
def test_the_prefix_that_most_names_share_is_found(names, prefix):
    assert shared_prefix(names) == prefix


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no path for {path!r}", "no path for …"),
        ("%s of %d files\\n", "… of … files"),
        ("bad #{a.b} and ${c}", "bad … and …"),
        ("\\x1b[31m{}", "[31m…"),
        ("%s: %d", ""),
    ],
)
def test_a_message_shows_where_values_are_filled_in(text, words):
    assert message_in_words(text) == words


def test_rare_words_of_the_name_come_first_and_forms_of_one_word_once():
    places = [("parse_header", 4.0), ("parser", 2.5), ("quokka", 1.0), ("the value is a string", 1.6)]

    assert choose_keywords(places) == ("parse", "header", "quokka", "string")
    assert choose_keywords([], fallback=["src/auth"]) == ("src", "auth", "code")


@pytest.mark.parametrize(
    "words", [("parse", "parser", "parsers", "parsing", "parsed"), ("header", "headers"), ("query", "queries")]
)
def test_forms_of_a_word_fold_to_one(words):
    assert len(set(map(fold_word, words))) == 1


def test_the_table_of_frequencies_knows_common_from_rare():
    assert word_bucket("name") < word_bucket("header") < word_bucket("pagination") < word_bucket("abscissa")
