"""A function's name is read as one clause."""

import pytest

from codesum_pipeline_tests.texts.summaries.extractive.written_names import ANSWERS, GIVES, Written


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
    case(
        "Finds a user by email",
        "find_by_email",
        takes="email",
        owner="UserRepository",
        body=GIVES,
        rule="the object is what a repository holds",
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
    case("Adds a job to the queue", "add", takes="job", owner="Queue", rule="into a container"),
    case("Removes a job from the queue", "remove_job", takes="job", owner="Queue", rule="out of a container"),
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
    case("Sets whether it is enabled", "set_enabled", takes="value", rule="a setter of a state"),
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
    case("Reports whether the job has started", "has_started", owner="Job", body=ANSWERS, rule="what has happened"),
    case(
        "Reports whether it should retry the request",
        "should_retry_request",
        takes="a, b",
        body=ANSWERS,
        rule="what should be done",
    ),
    case("Reports whether it can be parsed", "can_be_parsed", body=ANSWERS, rule="what can be done to it"),
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
]


@pytest.mark.parametrize(("written", "clause"), SAID)
def test_a_name_is_read_by_its_rule(written, clause):
    assert written.clause() == clause
