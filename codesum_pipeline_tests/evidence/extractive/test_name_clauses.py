"""A function's name is read as one clause."""

import pytest

from codesum_pipeline.foundation.data_model.symbol import Fact, Form, SymbolFacts
from codesum_pipeline_tests.evidence.extractive.written_names import ANSWERS, GIVES, READS, Written

MARKUP = SymbolFacts(returned=(Fact("<h1>{title}</h1>", 2),))
MIGRATES = SymbolFacts(calls=(Fact("add_index(a)", 2, ("add_index",), Form.CALL),))
ITSELF = SymbolFacts(returned=(Fact("$this", 2, ("$this",), Form.NAME),))


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
    case(
        "Copies bytes from the buffer to the file", "copy_bytes_from_buffer_to_file", rule="prepositions in their order"
    ),
    case("Sorts rows by name", "sort_rows_by_name", body=GIVES, rule="by has no article"),
    case("Writes to a stream", "write_to", takes="stream", rule="the parameter follows a last preposition"),
    case(
        "Finds a user by name",
        "find_by_name",
        takes="name",
        gives="User",
        body=GIVES,
        rule="the object is the type that comes back",
    ),
    case(
        "Finds users by name",
        "find_by_name",
        takes="name",
        gives="list[User]",
        body=GIVES,
        rule="many of them come back",
    ),
    case("Closes the connection", "close", owner="Connection", rule="a verb alone is about its class"),
    case("Closes the connection", "close", owner="AbstractConnection", rule="a class without words about its kind"),
    case("Validates an order", "validate", takes="order", owner="Checker", rule="a verb alone is about its parameter"),
    case(
        "Validates an order",
        "validate",
        takes="o: Order",
        language="java",
        gives="void",
        rule="a parameter that only its type names",
    ),
    case("Tries to acquire the lock", "try_acquire_lock", body=GIVES, rule="an attempt"),
    case("Flushes the cache, if needed", "maybe_flush_cache", rule="what may be done"),
    case("Loads the manifest", "load_manifest_async", rule="async is dropped"),
    case("Parses the manifest", "_do_parse_manifest", body=GIVES, rule="do is dropped"),
    case(
        "Opens the stream",
        "curl_easy_open_stream",
        prefix=("curl", "easy"),
        language="c",
        gives="void",
        rule="a library's prefix is dropped",
    ),
    case(
        "Destroys the session",
        "session_destroy",
        language="c",
        gives="void",
        rule="the noun first where there are no classes",
    ),
    case("Returns the user ID", "getUserId", language="java", gives="String", body=GIVES, rule="a getter with a value"),
    case("Gets the window size", "get_window_size", language="c", gives="void", rule="a getter without a value"),
    case("Sets the timeout", "setTimeout", language="java", gives="void", rule="a setter"),
    case("Sets the timeout", "timeout=", takes="value", language="ruby", rule="a setter of Ruby"),
    case("Sets the timeout", "timeout", takes="value", modifiers=("setter",), rule="a setter by its decorator"),
    case(
        "Reports whether the session is expired",
        "is_expired",
        owner="Session",
        body=ANSWERS,
        rule="a question about its class",
    ),
    case(
        "Reports whether the session is expired",
        "is_session_expired",
        body=ANSWERS,
        rule="a question that names its subject",
    ),
    case(
        "Reports whether an entry is empty",
        "is_empty",
        takes="entry",
        body=ANSWERS,
        rule="a question about its parameter",
    ),
    case(
        "Reports whether it is a valid name", "is_valid_name", takes="x", body=ANSWERS, rule="a question about a kind"
    ),
    case(
        "Reports whether it is a directory",
        "isDirectory",
        language="java",
        gives="boolean",
        rule="a question with a declared answer",
    ),
    case(
        "Reports whether the node has children",
        "hasChildren",
        owner="Node",
        language="java",
        gives="boolean",
        rule="possession",
    ),
    case(
        "Reports whether it should retry the request",
        "should_retry_request",
        takes="a, b",
        body=ANSWERS,
        rule="what should be done",
    ),
    case("Reports whether the file exists", "file_exists", takes="path", body=ANSWERS, rule="existence"),
    case(
        "Reports whether the stack is empty",
        "empty?",
        owner="Stack",
        language="ruby",
        body=ANSWERS,
        rule="a question mark",
    ),
    case(
        "Reports whether the point equals another",
        "equals",
        takes="other",
        owner="Point",
        language="java",
        gives="boolean",
        rule="equality",
    ),
    case("Converts a node to JSON", "to_json", takes="node", body=GIVES, rule="a conversion of the parameter"),
    case("Converts the node to JSON", "to_json", owner="Node", body=GIVES, rule="a conversion of the object"),
    case(
        "Converts a path to a string", "path_to_string", takes="p", body=GIVES, rule="a conversion named on both sides"
    ),
    case("Returns the node as a string", "as_string", owner="Node", body=GIVES, rule="another form of the object"),
    case(
        "Creates a token from JSON",
        "from_json",
        takes="x",
        owner="Token",
        gives="Self",
        language="rust",
        body=GIVES,
        rule="made from another form",
    ),
    case(
        "Creates a session with a token and a user",
        "__init__",
        takes="token, user",
        owner="Session",
        rule="a constructor with telling parameters",
    ),
    case(
        "Creates a client",
        "NewClient",
        takes="url",
        gives="Client",
        language="go",
        body=GIVES,
        rule="a constructor of Go",
    ),
    case("Handles clicks", "on_click", takes="event", rule="a handler of events"),
    case(
        "Handles the message received event",
        "onMessageReceived",
        takes="m",
        language="java",
        gives="void",
        rule="a handler of what happened",
    ),
    case("Handles a request", "handle_request", takes="request", rule="a handler by its verb"),
    case(
        "Tests that it returns none without a user", "test_returns_none_without_a_user", rule="a test of what is done"
    ),
    case("Tests that an empty list is refused", "test_an_empty_list_is_refused", rule="a test that is a sentence"),
    case(
        "Tests that it should refuse empty lists",
        "Should_refuse_empty_lists",
        modifiers=("test",),
        language="c-sharp",
        rule="a test that says should",
    ),
    case(
        "Tests that it rejects empty lists",
        "rejects empty lists",
        modifiers=("test",),
        language="elixir",
        rule="a test with blanks",
    ),
    case(
        "Tests parsing an empty string",
        "testParseEmptyString",
        language="java",
        gives="void",
        rule="a test of an action",
    ),
    case("Tests expired token", "test_expired_token", rule="a test of a thing"),
    case(
        "Reports whether the pair equals another", "__eq__", takes="other", owner="Pair", rule="a name of the language"
    ),
    case("Runs the program", "main", language="go", rule="where a program begins"),
    case("Sets up each test of the player", "setUp", owner="PlayerTest", rule="what runs before tests"),
    case(
        "Lists users",
        "index",
        takes="conn, params",
        owner="App.UserController",
        language="elixir",
        rule="an action of a controller",
    ),
    case("Shows the form for a new user", "new", owner="UsersController", language="ruby", rule="a form for a thing"),
    case(
        "Stores a value in the cache",
        "put",
        takes="key, value",
        owner="Cache",
        language="java",
        gives="void",
        rule="what a container does with a value",
    ),
    case(
        "Returns the size of the document",
        "size",
        owner="Document",
        language="java",
        gives="int",
        rule="a noun is what comes back",
    ),
    case(
        "Returns the path of an account",
        "account_path",
        takes="account",
        body=GIVES,
        rule="a noun of a parameter",
    ),
    case(
        "Returns the unit price for an order",
        "unit_price",
        takes="order",
        body=GIVES,
        rule="a noun for what is handed in",
    ),
    case("Provides the output path", "output_path", modifiers=("fixture",), body=READS, rule="a fixture"),
    case("Renders the page header", "PageHeader", takes="props", language="tsx", body=MARKUP, rule="a component"),
    case("Returns the name of the user", "get_name", owner="User", body=GIVES, rule="a getter is about its class"),
    case(
        "Sets the name of the user",
        "setName",
        takes="name",
        owner="User",
        language="java",
        gives="void",
        rule="a setter is about its class",
    ),
    case("Deletes a user by ID", "delete_user", takes="user_id", rule="by the key that is handed in"),
    case("Loads the config from a file", "load_config", takes="file", body=GIVES, rule="from where"),
    case("Lists user webhooks", "ListUserWebhooks", takes="ctx", language="go", rule="list is a verb before many"),
    case(
        "Handles deleting the webhook",
        "handleDeleteWebhook",
        language="typescript",
        rule="an action is handled",
    ),
    case("Fetches playlists", "fetch_playlists", rule="a word that is built as words are"),
    case("Converts a speed to a string", "speed2string", takes="speed", body=GIVES, rule="two is written for to"),
    case("Creates a session", "__init__", owner="Session", rule="a constructor that takes nothing"),
    case(
        "Tests that it lists all entries on index",
        "lists all entries on index",
        modifiers=("test",),
        language="elixir",
        rule="a verb that may be a noun in the plural",
    ),
    case("Tests that it works", "it works", language="javascript", rule="a sentence of two words"),
    case("Tests what happens when it fails", "test_when_it_fails", rule="a test of a condition"),
    case("Tests the case without a token", "test_without_a_token", rule="a test of a case"),
    case("Tests that rendering list keeps order", "test_render_list_keeps_order", rule="what is done is the subject"),
    case("Returns the error message", "error_message", language="ruby", body=GIVES, rule="an error before a noun"),
]


@pytest.mark.parametrize(("written", "clause"), SAID)
def test_a_name_is_read_by_its_rule(written, clause):
    assert written.clause() == clause
