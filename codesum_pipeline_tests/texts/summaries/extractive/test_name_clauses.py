"""A name is read as one clause, or as nothing where it says nothing certain."""

import subprocess
import sys
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.symbol import Fact, Form, Parameter, SymbolFacts, SymbolType
from codesum_pipeline.symbols.parsing.parsers import PARSERS
from codesum_pipeline.texts.summaries.extractive.name_clauses import MAX_CLAUSE, clause_of_class, clause_of_function
from codesum_pipeline.texts.summaries.inputs import ChildText, ClassInput, FunctionInput
from codesum_pipeline_tests.texts.summaries.extractive.shown_inputs import function_of

# What a body may do: it does something and gives something back, or nothing, or gives back what is there.
GIVES = SymbolFacts(
    returned=(Fact("made()", 2, ("made",), Form.CALL),), calls=(Fact("made()", 2, ("made",), Form.CALL),)
)
ACTS = SymbolFacts(calls=(Fact("act()", 2, ("act",), Form.CALL),))
ANSWERS = SymbolFacts(returned=(Fact("True", 2, (), Form.TRUTH),), calls=ACTS.calls)
READS = SymbolFacts(returned=(Fact("self.x", 2, ("self", "x"), Form.NAME),))


@dataclass(frozen=True)
class Written:
    """A function as it is written: its name, what it takes and gives, and where it is."""

    name: str
    takes: str = ""
    gives: str = ""
    owner: str = ""
    language: str = "python"
    body: SymbolFacts = ACTS
    modifiers: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()

    def clause(self) -> str:
        parameters = [one.strip().partition(": ") for one in self.takes.split(",") if one.strip()]
        facts = SymbolFacts(
            parameters=tuple(Parameter(name, kind or None, None, "positional") for name, _, kind in parameters),
            return_type=self.gives or None,
            returned=self.body.returned,
            calls=self.body.calls,
        )
        path = f"{self.owner}.{self.name}" if self.owner else self.name
        function = FunctionInput(
            f"src/a.x::{path.replace('.', '::')}", path, self.name, self.language, "", f"{self.name}({self.takes})",
            None, self.modifiers, 3, 5, facts,
        )  # fmt: skip
        return clause_of_function(function, self.prefix)


def case(clause: str, name: str, *, rule: str, **written: object) -> object:
    return pytest.param(Written(name, **written), clause, id=rule)


SAID = [
    case("Validates an order", "validate_order", takes="order", rule="what is handed in is a thing"),
    case("Closes the connection", "closeConnection", rule="what is there is the thing"),
    case("Creates a session", "create_session", body=GIVES, rule="what is made is a thing"),
    case("Deletes expired sessions", "delete_expired_sessions", rule="plurals have no article"),
    case("Parses JSON", "parse_json", body=GIVES, rule="what is not counted has no article"),
    case("Sends an HTTP request", "send_http_request", takes="http_request", rule="an before the sound of a letter"),
    case("Builds a URL", "build_url", body=GIVES, rule="a before a consonant sound"),
    case("Updates the status", "update_status", takes="job, value", body=GIVES, rule="such verbs hardly modify nouns"),
    case("Loads the default config", "load_default_config", rule="there is one default"),
    case("Removes all listeners", "remove_all_listeners", rule="a determiner stands for the article"),
    case("Parses request headers", "parse_req_hdrs", body=GIVES, rule="clipped words are written out"),
    case("Initializes the buffer", "init_buffer", rule="clipped verbs are written out"),
    case("Sets up logging", "setup_logging", rule="verbs written together"),
    case("Tears down the server", "tear_down_server", rule="verbs of two words"),
    case("Deletes files recursively", "delete_files_recursively", rule="adverbs stay last"),
    case("Reads and parses the manifest", "read_and_parse_manifest", body=GIVES, rule="two verbs are joined"),
    case("Gets or creates the client", "get_or_create_client", body=GIVES, rule="two verbs are alternatives"),
    case("Copies bytes from the buffer to the file", "copy_bytes_from_buffer_to_file", rule="prepositions in their order"),
    case("Sorts rows by name", "sort_rows_by_name", body=GIVES, rule="by has no article"),
    case("Writes to a stream", "write_to", takes="stream", rule="the parameter follows a last preposition"),
    case("Finds a user by name", "find_by_name", takes="name", gives="User", body=GIVES, rule="the object is the type that comes back"),
    case("Finds users by name", "find_by_name", takes="name", gives="list[User]", body=GIVES, rule="many of them come back"),
    case("Finds a user by email", "find_by_email", takes="email", owner="UserRepository", body=GIVES, rule="the object is what a repository holds"),
    case("Closes the connection", "close", owner="Connection", rule="a verb alone is about its class"),
    case("Closes the connection", "close", owner="AbstractConnection", rule="a class without words about its kind"),
    case("Validates an order", "validate", takes="order", owner="Checker", rule="a verb alone is about its parameter"),
    case("Validates an order", "validate", takes="o: Order", language="java", gives="void", rule="a parameter that only its type names"),
    case("Adds a job to the queue", "add", takes="job", owner="Queue", rule="into a container"),
    case("Removes a job from the queue", "remove_job", takes="job", owner="Queue", rule="out of a container"),
    case("Tries to acquire the lock", "try_acquire_lock", body=GIVES, rule="an attempt"),
    case("Flushes the cache, if needed", "maybe_flush_cache", rule="what may be done"),
    case("Loads the manifest", "load_manifest_async", rule="async is dropped"),
    case("Parses the manifest", "_do_parse_manifest", body=GIVES, rule="do is dropped"),
    case("Opens the stream", "curl_easy_open_stream", prefix=("curl", "easy"), language="c", gives="void", rule="a library's prefix is dropped"),
    case("Destroys the session", "session_destroy", language="c", gives="void", rule="the noun first where there are no classes"),
    case("Returns the user ID", "getUserId", language="java", gives="String", body=GIVES, rule="a getter with a value"),
    case("Gets the window size", "get_window_size", language="c", gives="void", rule="a getter without a value"),
    case("Sets the timeout", "setTimeout", language="java", gives="void", rule="a setter"),
    case("Sets the timeout", "timeout=", takes="value", language="ruby", rule="a setter of Ruby"),
    case("Sets the timeout", "timeout", takes="value", modifiers=("setter",), rule="a setter by its decorator"),
    case("Sets whether it is enabled", "set_enabled", takes="value", rule="a setter of a state"),
    case("Reports whether the session is expired", "is_expired", owner="Session", body=ANSWERS, rule="a question about its class"),
    case("Reports whether the session is expired", "is_session_expired", body=ANSWERS, rule="a question that names its subject"),
    case("Reports whether an entry is empty", "is_empty", takes="entry", body=ANSWERS, rule="a question about its parameter"),
    case("Reports whether it is a valid name", "is_valid_name", takes="x", body=ANSWERS, rule="a question about a kind"),
    case("Reports whether it is a directory", "isDirectory", language="java", gives="boolean", rule="a question with a declared answer"),
    case("Reports whether the node has children", "hasChildren", owner="Node", language="java", gives="boolean", rule="possession"),
    case("Reports whether the job has started", "has_started", owner="Job", body=ANSWERS, rule="what has happened"),
    case("Reports whether it should retry the request", "should_retry_request", takes="a, b", body=ANSWERS, rule="what should be done"),
    case("Reports whether it can be parsed", "can_be_parsed", body=ANSWERS, rule="what can be done to it"),
    case("Reports whether the file exists", "file_exists", takes="path", body=ANSWERS, rule="existence"),
    case("Reports whether the stack is empty", "empty?", owner="Stack", language="ruby", body=ANSWERS, rule="a question mark"),
    case("Reports whether the point equals another", "equals", takes="other", owner="Point", language="java", gives="boolean", rule="equality"),
    case("Converts a node to JSON", "to_json", takes="node", body=GIVES, rule="a conversion of the parameter"),
    case("Converts the node to JSON", "to_json", owner="Node", body=GIVES, rule="a conversion of the object"),
    case("Converts a path to a string", "path_to_string", takes="p", body=GIVES, rule="a conversion named on both sides"),
    case("Returns the node as a string", "as_string", owner="Node", body=GIVES, rule="another form of the object"),
    case("Creates a token from JSON", "from_json", takes="x", owner="Token", gives="Self", language="rust", body=GIVES, rule="made from another form"),
    case("Creates a session with a token and a user", "__init__", takes="token, user", owner="Session", rule="a constructor with telling parameters"),
    case("Creates a client", "NewClient", takes="url", gives="Client", language="go", body=GIVES, rule="a constructor of Go"),
    case("Handles clicks", "on_click", takes="event", rule="a handler of events"),
    case("Handles the message received event", "onMessageReceived", takes="m", language="java", gives="void", rule="a handler of what happened"),
    case("Handles a request", "handle_request", takes="request", rule="a handler by its verb"),
    case("Tests that it returns none without a user", "test_returns_none_without_a_user", rule="a test of what is done"),
    case("Tests that an empty list is refused", "test_an_empty_list_is_refused", rule="a test that is a sentence"),
    case("Tests that it should refuse empty lists", "Should_refuse_empty_lists", modifiers=("test",), language="c-sharp", rule="a test that says should"),
    case("Tests that it rejects empty lists", "rejects empty lists", modifiers=("test",), language="elixir", rule="a test with blanks"),
    case("Tests parsing an empty string", "testParseEmptyString", language="java", gives="void", rule="a test of an action"),
    case("Tests expired token", "test_expired_token", rule="a test of a thing"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "clause"), SAID)
def test_a_name_is_read_by_its_rule(written, clause):
    assert written.clause() == clause


def silent(name: str, *, rule: str, **written: object) -> object:
    return pytest.param(Written(name, **written), id=rule)


SILENT = [
    silent("area", body=GIVES, rule="a noun"),
    silent("config_path", body=GIVES, rule="a noun phrase"),
    silent("file_name", body=GIVES, rule="file is no verb before name"),
    silent("index_path", body=GIVES, rule="index is no verb before path"),
    silent("map_key", body=GIVES, rule="map is no verb before key"),
    silent("format_string", body=GIVES, rule="format is no verb before string"),
    silent("log_level", body=GIVES, rule="log is no verb before level"),
    silent("hash_code", body=GIVES, rule="hash is no verb before code"),
    silent("group_size", body=GIVES, rule="group is no verb before size"),
    silent("order_total", body=GIVES, rule="order is no verb before total"),
    silent("record_count", body=GIVES, rule="record is no verb before count"),
    silent("read_timeout", body=GIVES, rule="a timeout of reading"),
    silent("start_time", body=GIVES, rule="the time of a start"),
    silent("parse_error", body=GIVES, rule="an error of parsing"),
    silent("retry_count", body=GIVES, rule="the count of retries"),
    silent("read_callback", body=ACTS, rule="a callback of reading"),
    silent("open_files", body=READS, rule="a list that is given back"),
    silent("use_color", body=READS, rule="a flag that is given back"),
    silent("load_factor", modifiers=("property",), body=GIVES, rule="a property"),
    silent("deployVersion", language="kotlin", modifiers=("getter",), body=GIVES, rule="a property of Kotlin"),
    silent("tag_set_size", takes="tag_set", body=GIVES, rule="a compound that is handed in"),
    silent("close", rule="a verb alone without a class"),
    silent("close", takes="x", owner="Utils", rule="a class that names no thing"),
    silent("close", owner="test_parser", rule="a function around it"),
    silent("close", owner="Mint.HTTP", language="elixir", rule="a module around it"),
    silent("parse", takes="x", owner="Parser", rule="a parameter of one letter"),
    silent("authenticate", takes="user, request", rule="two parameters that may be the object"),
    silent("close", takes="user", rule="a verb that is about no parameter"),
    silent("save", takes="path", rule="a parameter that says where"),
    silent("sort", takes="key", body=GIVES, rule="a parameter that says how"),
    silent("split", takes="separator", body=GIVES, rule="a parameter that says by what"),
    silent("enqueue", takes="connection", rule="a parameter that only helps"),
    silent("deserialize", takes="decoder", body=GIVES, rule="a parameter that is read from"),
    silent("resolve", takes="schema", body=GIVES, rule="a verb whose object is not its parameter"),
    silent("find_by_name", takes="name", body=GIVES, rule="no object at all"),
    silent("find_by_name", takes="name", gives="str", body=GIVES, rule="a type of the language is no object"),
    silent("is_expired", takes="x", body=ACTS, rule="a question without an answer"),
    silent("is_admin", language="java", gives="void", rule="a question that gives nothing"),
    silent("is_admin", language="java", gives="String", rule="a question that gives a text"),
    silent("has_name", body=SymbolFacts(returned=(Fact('"x"', 2, (), Form.TEXT),)), rule="a question answered with a text"),
    silent("should_retry_option", takes="x", body=GIVES, rule="an option is no answer"),
    silent("ssl?", language="ruby", body=ANSWERS, rule="a noun with a question mark"),
    silent("isToStringTag", takes="x", body=ANSWERS, rule="a name within a name"),
    silent("to_json", takes="writer, value", owner="Adapter", body=GIVES, rule="a conversion of one of two"),
    silent("toJson", takes="value", owner="JsonAdapter", body=GIVES, rule="a conversion by another object"),
    silent("to_the_moon", takes="x", body=GIVES, rule="to no format"),
    silent("time_to_live", body=GIVES, rule="to within a noun"),
    silent("from_json", takes="reader", owner="JsonAdapter", gives="T", language="java", body=GIVES, rule="from, by another object"),
    silent("from_date", owner="Report", body=READS, rule="from within a noun"),
    silent("on_click", takes="handler", rule="a registration of a handler"),
    silent("onError", takes="f: (Error) -> Unit", language="kotlin", rule="a registration by its type"),
    silent("__init__", owner="Session", rule="a constructor that takes nothing"),
    silent("__init__", takes="a, b", owner="Session", rule="a constructor whose parameters say nothing"),
    silent("MemTable", takes="other: MemTable", owner="MemTable", language="cpp", rule="a copy"),
    silent("operator=", takes="other", owner="Handle", language="cpp", rule="an operator"),
    silent("operator==", takes="other", owner="Handle", language="cpp", rule="a longer operator"),
    silent("~Handle", owner="Handle", language="cpp", rule="a destructor"),
    silent("__getattr__", takes="name", owner="Proxy", rule="a special method"),
    silent("initFd", takes="fd", owner="File", gives="Self", language="zig", body=GIVES, rule="what initializes makes one of its class"),
    silent("parse_declare_module", rule="a verb within a noun phrase"),
    silent("calcular_total", takes="x", rule="another language's verb"),
    silent("get_usuarioz", body=GIVES, rule="a word that nobody knows"),
    silent("parse_qzxv", rule="letters without a vowel"),
    silent("f", rule="one letter"),
    silent("a1b2", rule="a generated name"),
    silent("x_y_z", rule="letters"),
    silent("Yl", rule="a minified name"),
    silent("get_all", body=GIVES, rule="all of what is not said"),
    silent("process_one", rule="one of what is not said"),
    silent("_", rule="no word"),
    silent("", rule="no name"),
    silent("123", rule="digits"),
    silent("test", rule="a test without a name"),
]  # fmt: skip


@pytest.mark.parametrize("written", SILENT)
def test_a_name_that_says_nothing_certain_is_not_read(written):
    assert written.clause() == ""


@pytest.mark.parametrize(
    ("language", "path", "source", "clauses"),
    [
        pytest.param(
            "go", "a.go",
            "package a\ntype Store struct{}\nfunc (s *Store) AddUser(user User) error { return s.put(user) }\n"
            "func (s *Store) IsEmpty() bool { return s.count() == 0 }\n",
            {"AddUser": "Adds a user to the store", "IsEmpty": "Reports whether the store is empty"}, id="go",
        ),
        pytest.param(
            "java", "A.java",
            "class Session { boolean isExpired() { return clock.now() > end; }\n"
            "  void close() { socket.close(); }\n  String name() { return name; }\n"
            "  User findUser(String id) { return db.load(id); } }\n",
            {"isExpired": "Reports whether the session is expired", "close": "Closes the session", "name": "",
             "findUser": "Finds a user"}, id="java",
        ),
        pytest.param(
            "ruby", "a.rb",
            "class Stack\n  def empty?\n    items.none?\n  end\n  def limit=(value)\n    @limit = value\n  end\n"
            "  def push_item(item)\n    items << item\n  end\nend\n",
            {"empty?": "Reports whether the stack is empty", "limit=": "Sets the limit",
             "push_item": "Pushes an item to the stack"}, id="ruby",
        ),
        pytest.param(
            "rust", "a.rs",
            "struct Entry;\nimpl Entry {\n    fn into_path(self) -> PathBuf { self.inner.into_path() }\n"
            "    fn is_hidden(&self) -> bool { self.name().starts_with('.') }\n}\n",
            {"into_path": "Converts the entry to a path", "is_hidden": "Reports whether the entry is hidden"}, id="rust",
        ),
        pytest.param(
            "typescript", "a.ts",
            "export class Cache {\n  get size(): number { return this.count() }\n"
            "  removeEntry(entry: Entry): void { this.drop(entry) }\n  hasEntry(key: string): boolean { return this.find(key) }\n}\n",
            {"size": "", "removeEntry": "Removes an entry from the cache",
             "hasEntry": "Reports whether the cache has an entry"}, id="typescript",
        ),
        pytest.param(
            "elixir", "test/a_test.exs",
            'defmodule ATest do\n  use ExUnit.Case\n  test "rejects an empty list" do\n    assert check([])\n  end\nend\n',
            {"rejects an empty list": "Tests that it rejects an empty list"}, id="elixir",
        ),
        pytest.param(
            "kotlin", "A.kt",
            "class Queue {\n  fun addJob(job: Job) { jobs.add(job) }\n  val loadFactor: Double get() = compute()\n}\n",
            {"addJob": "Adds a job to the queue"}, id="kotlin",
        ),
        pytest.param(
            "c", "a.c",
            "static void session_destroy(struct session *s) { free_all(s); }\nint is_space(int c) { return c == 32; }\n",
            {"session_destroy": "Destroys the session"}, id="c",
        ),
    ],
)  # fmt: skip
def test_functions_of_real_sources_are_read(language, path, source, clauses):
    symbols = PARSERS[language].parse(source.encode(), path).symbols
    functions = {one.name: function_of(one) for one in symbols if one.type is SymbolType.FUNCTION}

    assert {name: clause_of_function(functions[name]) for name in clauses} == clauses


def class_clause(
    name: str, *, bases: str = "", members: str = "", head: str = "class", language: str = "python"
) -> str:
    children = tuple(
        ChildText(f"a::{name}::{one}", f"{name}::{one}", Level.FUNCTION, "", False) for one in members.split()
    )
    return clause_of_class(
        ClassInput(f"a::{name}", name, name, language, f"{head} {name}", None, tuple(bases.split()), (), (), children)
    )


@pytest.mark.parametrize(
    ("clause", "name", "written"),
    [
        pytest.param("Handles requests", "RequestHandler", {"members": "handle_request"}, id="an agent"),
        pytest.param("Parses JSON", "JsonParser", {}, id="an agent of a format"),
        pytest.param("Parses JSON", "FastJsonParser", {}, id="how it is made is left out"),
        pytest.param("Signals a parse error", "ParseError", {}, id="an error"),
        pytest.param("Signals an invalid name", "InvalidNameError", {}, id="an error of a thing"),
        pytest.param("Signals a timeout", "TimeoutException", {}, id="an error that is a mishap"),
        pytest.param("Signals that a user was not found", "UserNotFound", {"bases": "AppError"}, id="an error of what happened"),
        pytest.param("Holds the settings of the server", "ServerConfig", {}, id="settings"),
        pytest.param("Holds the options of parsing", "ParseOptions", {}, id="settings of an action"),
        pytest.param("Lists the kinds of tokens", "TokenKind", {"bases": "Enum"}, id="kinds"),
        pytest.param("Lists the states of an order", "OrderStatus", {"head": "enum", "language": "java"}, id="states"),
        pytest.param("Lists the possible colors", "Color", {"bases": "enum.Enum"}, id="an enumeration"),
        pytest.param("Tests the order service", "OrderServiceTest", {"bases": "TestCase"}, id="tests"),
        pytest.param("Tests the worker pool", "TestWorkerPool", {"members": "test_start"}, id="tests by their methods"),
        pytest.param("", "Parser", {}, id="an agent alone"),
        pytest.param("", "UserManager", {}, id="a manager"),
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
    "get set is has to from on test parse find delete user session name by in all and or file index the async x 2 ID "
    "expired valid list map url".split()
)


@given(st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=12).map("_".join)), st.lists(WORDS, max_size=3))
def test_any_name_gives_a_bounded_printable_clause(name, parameters):
    written = Written(name, takes=",".join(parameters), body=GIVES, owner="Session")
    clauses = [written.clause(), Written(name, modifiers=("test",)).clause(), class_clause(name, members=name)]

    assert all(len(one) <= MAX_CLAUSE and (one.isprintable() or not one) for one in clauses)
    assert all(not one.endswith(".") and one[:1] == one[:1].upper() for one in clauses)


def test_clauses_do_not_depend_on_the_hash_seed():
    code = (
        "from codesum_pipeline_tests.texts.summaries.extractive.test_name_clauses import SAID\n"
        "print([one.values[0].clause() for one in SAID])"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }

    assert len(said) == 1
