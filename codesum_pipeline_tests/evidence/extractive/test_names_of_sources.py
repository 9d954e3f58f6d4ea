"""Names of real sources and of hostile ones, and of classes."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.evidence.extractive.name_clauses import MAX_CLAUSE, clause_of_function
from codesum_pipeline.foundation.data_model.symbol import SymbolType
from codesum_pipeline.symbols.parsing.parsers import PARSERS
from codesum_pipeline_tests.evidence.extractive.shown_inputs import function_of
from codesum_pipeline_tests.evidence.extractive.written_names import GIVES, Written, class_clause


@pytest.mark.parametrize(
    ("language", "path", "source", "clauses"),
    [
        pytest.param(
            "go", "a.go",
            "package a\ntype Store struct{}\nfunc (s *Store) AddUser(user User) error { return s.put(user) }\n"
            "func (s *Store) IsEmpty() bool { return s.count() == 0 }\n",
            {"AddUser": "Adds a user", "IsEmpty": "Reports whether the store is empty"}, id="go",
        ),
        pytest.param(
            "java", "A.java",
            "class Session { boolean isExpired() { return clock.now() > end; }\n"
            "  void close() { socket.close(); }\n  String name() { return name; }\n"
            "  User findUser(String id) { return db.load(id); } }\n",
            {"isExpired": "Reports whether the session is expired", "close": "Closes the session",
             "name": "Returns the name of the session", "findUser": "Finds a user by ID"}, id="java",
        ),
        pytest.param(
            "ruby", "a.rb",
            "class Stack\n  def empty?\n    items.none?\n  end\n  def limit=(value)\n    @limit = value\n  end\n"
            "  def push_item(item)\n    items << item\n  end\nend\n",
            {"empty?": "Reports whether the stack is empty", "limit=": "Sets the limit",
             "push_item": "Pushes an item"}, id="ruby",
        ),
        pytest.param(
            "rust", "a.rs",
            "struct Entry;\nimpl Entry {\n    fn into_path(self) -> PathBuf { self.inner.into_path() }\n"
            "    fn is_hidden(&self) -> bool { self.name().starts_with('.') }\n}\n",
            {"into_path": "Converts the entry to a path", "is_hidden": "Reports whether the entry is hidden"},
            id="rust",
        ),
        pytest.param(
            "typescript", "a.ts",
            "export class Cache {\n  get size(): number { return this.count() }\n"
            "  removeEntry(entry: Entry): void { this.drop(entry) }\n"
            "  hasEntry(key: string): boolean { return this.find(key) }\n}\n",
            {"size": "Counts what the cache holds", "removeEntry": "Removes an entry",
             "hasEntry": "Reports whether the cache has an entry"}, id="typescript",
        ),
        pytest.param(
            "elixir", "test/a_test.exs",
            'defmodule ATest do\n  use ExUnit.Case\n'
            '  test "rejects an empty list" do\n    assert check([])\n  end\nend\n',
            {"rejects an empty list": "Tests that it rejects an empty list"}, id="elixir",
        ),
        pytest.param(
            "kotlin", "A.kt",
            "class Queue {\n  fun addJob(job: Job) { jobs.add(job) }\n  val loadFactor: Double get() = compute()\n}\n",
            {"addJob": "Adds a job"}, id="kotlin",
        ),
        pytest.param(
            "swift",
            "a.swift",
            "class Token {\n  func hash(into hasher: inout Hasher) { hasher.combine(id) }\n"
            "  func write(to stream: Stream) { stream.put(id) }\n  func sign(with key: Key) { sign(key) }\n}\n",
            {"hash": "", "write": "Writes to a stream", "sign": ""},
            id="swift",
        ),
        pytest.param(
            "c", "a.c",
            "static void session_destroy(struct session *s) { free_all(s); }\n"
            "int is_space(int c) { return c == 32; }\n",
            {"session_destroy": "Destroys the session"}, id="c",
        ),
    ],
)  # fmt: skip
def test_functions_of_real_sources_are_read(language, path, source, clauses):
    symbols = PARSERS[language].parse(source.encode(), path).symbols
    functions = {one.name: function_of(one) for one in symbols if one.type is SymbolType.FUNCTION}

    assert {name: clause_of_function(functions[name]) for name in clauses} == clauses


@pytest.mark.parametrize(
    ("clause", "name", "written"),
    [
        pytest.param("Handles requests", "RequestHandler", {"members": "handle_request"}, id="an agent"),
        pytest.param("Parses JSON", "JsonParser", {}, id="an agent of a format"),
        pytest.param("Parses JSON", "FastJsonParser", {}, id="how it is made is left out"),
        pytest.param("Signals a parse error", "ParseError", {}, id="an error"),
        pytest.param("Signals an invalid name", "InvalidNameError", {}, id="an error of a thing"),
        pytest.param("Signals a timeout", "TimeoutException", {}, id="an error that is a mishap"),
        pytest.param("Signals that a user was not found", "UserNotFound", {"bases": "AppError"}, id="what happened"),
        pytest.param("Holds the settings of the server", "ServerConfig", {}, id="settings"),
        pytest.param("Holds the options of parsing", "ParseOptions", {}, id="settings of an action"),
        pytest.param("Lists the kinds of tokens", "TokenKind", {"bases": "Enum"}, id="kinds"),
        pytest.param("Lists the states of an order", "OrderStatus", {"head": "enum", "language": "java"}, id="states"),
        pytest.param("Lists the possible colors", "Color", {"bases": "enum.Enum"}, id="an enumeration"),
        pytest.param("Tests the order service", "OrderServiceTest", {"bases": "TestCase"}, id="tests"),
        pytest.param("Tests the worker pool", "TestWorkerPool", {"members": "test_start"}, id="tests by their methods"),
        pytest.param("Formats dates", "DateFormatter", {"members": "format"}, id="an agent that does it"),
        pytest.param("Manages users", "UserManager", {"members": "find_user"}, id="a manager of what its members name"),
        pytest.param("Holds the properties of the page header", "PageHeaderProps", {}, id="properties"),
        pytest.param("Tests deleting a user", "DeleteUserTest", {"members": "test_x"}, id="tests of an action"),
        pytest.param("Answers requests about users", "UserController", {"language": "php"}, id="a web controller"),
        pytest.param("Gives access to orders", "OrderRepository", {}, id="a repository"),
        pytest.param("Is a command that exports users", "ExportUsersCommand", {"members": "execute"}, id="a command"),
        pytest.param("Is a migration that adds an index to posts", "AddIndexToPosts", {"bases": "Migration"},
                     id="a migration"),
        pytest.param("Asks to delete a user", "DeleteUserCommand", {"fields": ["id"]}, id="a command that only holds"),
        pytest.param("", "Page", {"fields": ["title", "author"], "members": "render"}, id="what does something"),
        pytest.param("", "Page", {"fields": ["title"]}, id="one value"),
        pytest.param("", "Page", {"fields": ["onClick: () => void", "onClose: () => void"]}, id="functions as values"),
        pytest.param("", "TagModerationLog", {"bases": "Migration"}, id="a migration that may begin with a noun"),
        pytest.param("", "StoreDeviceController", {"language": "php"}, id="a verb that no member confirms"),
        pytest.param("", "ApplicationController", {"language": "ruby"}, id="the base of all controllers"),
        pytest.param("", "Migration", {"fields": ["dependencies", "operations"]}, id="what a framework reads"),
        pytest.param("", "PlaybackController", {"language": "cpp"}, id="a controller of something"),
        pytest.param("", "ExportCommand", {"members": "execute"}, id="a command alone"),
        pytest.param("", "PageEvent", {}, id="an event that does not say what happened"),
        pytest.param("", "Parser", {}, id="an agent alone"),
        pytest.param("", "UserManager", {}, id="a manager of what no member names"),
        pytest.param("", "TimeoutReader", {"members": "readexactly"}, id="an agent that no member confirms"),
        pytest.param("", "MockRequestHandler", {"members": "handle_request"}, id="a stand-in"),
        pytest.param("", "BufferedReader", {"members": "read"}, id="an agent without an object"),
        pytest.param("", "TestSchema", {"members": "resolve"}, id="no tests in it"),
        pytest.param("", "BreakLoop", {"bases": "Exception"}, id="an exception that is no error"),
        pytest.param("", "ResponseFuture", {"head": "enum", "language": "rust"}, id="an enumeration that holds data"),
        pytest.param("", "Order", {}, id="a noun"),
        pytest.param("", "Yl", {}, id="a minified name"),
        pytest.param("", "", {}, id="no name"),
    ],
)  # fmt: skip
def test_a_class_is_read_by_its_rule(clause, name, written):
    assert class_clause(name, **written) == clause


HOSTILE = [
    "get_" + "a" * 100_000, "is_" * 50_000, "test_" + "x_" * 50_000, "удалить_файл", "ファイルを開く", "parse_🙂",
    "get\u202eresu", "delete\x1b[31m_file", "get\ud800_user", "a" * 160 + " b", "test " + "word " * 500, "\x00", " ",
    "`drop table`", "get_user\nname", "__", "!", "?", "=", "()", "operator()",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("modifiers", [(), ("test",)], ids=["plain", "test"])
def test_a_hostile_name_gives_a_bounded_printable_clause(name, modifiers):
    clauses = [Written(name, modifiers=modifiers, body=GIVES).clause(), class_clause(name)]

    assert all(len(one) <= MAX_CLAUSE and (one.isprintable() or not one) for one in clauses)


WORDS = st.sampled_from(
    [
        "get",
        "set",
        "is",
        "has",
        "to",
        "from",
        "on",
        "test",
        "parse",
        "find",
        "user",
        "by",
        "in",
        "or",
        "file",
        "x",
        "2",
        "expired",
        "list",
    ]
)


@given(st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=12).map("_".join)), st.lists(WORDS, max_size=3))
def test_any_name_gives_a_bounded_printable_clause(name, parameters):
    written = Written(name, takes=",".join(parameters), body=GIVES, owner="Session")
    clauses = [written.clause(), Written(name, modifiers=("test",)).clause(), class_clause(name, members=name)]

    assert all(len(one) <= MAX_CLAUSE and (one.isprintable() or not one) for one in clauses)
    assert all(not one.endswith(".") and one[:1] == one[:1].upper() for one in clauses)


def test_clauses_do_not_depend_on_the_hash_seed():
    code = (
        "from codesum_pipeline_tests.evidence.extractive.test_name_clauses import SAID\n"
        "print([one.values[0].clause() for one in SAID])"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }

    assert len(said) == 1
