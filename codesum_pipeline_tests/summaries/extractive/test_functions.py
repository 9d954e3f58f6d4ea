"""Whole texts of functions, from sources that show one thing each."""

import pytest

from codesum_pipeline.model.documents import Citation, InputSpec, PurposeSource, Returns, WrittenText
from codesum_pipeline.summaries.extractive import Written, write_function
from codesum_pipeline_tests.summaries.extractive.shown_inputs import function_in, summary_of

AUTHENTICATE = """
class LoginHandler(BaseHandler):
    def authenticate(self, username: str, password: str) -> Token:
        user = self.db.query_user(username)
        if user is None:
            raise AuthError(f"unknown user {username}")
        self.sessions[user.id] = user
        return create_token(user)
"""

READ_ROWS = '''
def read_rows(path, *, limit=10, strict=False):
    """Read the rows of a CSV file, e.g. an export.

    Used by the nightly import. See also :func:`write_rows`.

    Args:
        path (Path): Where the file
            lies.
        limit: How many rows at most.

    Returns:
        list[Row]: The rows in file order.
    """
    assert limit > 0, "a limit must be positive"
    if not path:
        raise ValueError("no path")
    with open(path) as file:
        return list(csv.reader(file))
'''


def test_without_a_docstring_the_name_and_the_body_tell_the_story():
    assert write_function(function_in(AUTHENTICATE)) == Written(
        WrittenText(
            summary=(
                "Authenticates the username for the login handler, given password. Queries the user via the DB and "
                "creates a token; updates its sessions; raises an auth error (“unknown user …”); returns a token."
            ),
            business_intent="Part of what the login handler offers in login in auth.",
            keywords=(
                "authenticate",
                "username",
                "password",
                "login",
                "handler",
                "sessions",
                "db",
                "auth",
                "query",
                "user",
            ),
            returns=Returns("Token", "gives a token", "Returns a token. Its type is Token."),
            inputs=(
                InputSpec("username", "str", "The username: a string."),
                InputSpec("password", "str", "The password: a string."),
            ),
            side_effects=("mutates its sessions", "raises AuthError: unknown user …"),
            invariants=("raises AuthError if user is None: unknown user …",),
            citations=(
                Citation("summary", 1, 1),
                Citation("returns", 6, 6),
                Citation("side_effects", 5, 5),
                Citation("side_effects", 4, 4),
                Citation("invariants", 3, 3),
            ),
        ),
        PurposeSource.NAME,
    )


def test_a_docstring_gives_purpose_intent_parameters_and_result():
    assert write_function(function_in(READ_ROWS)) == Written(
        WrittenText(
            summary=(
                "Read the rows of a CSV file, e.g. an export. Part of login; opens a file; "
                "raises a value error (“no path”); returns a list."
            ),
            business_intent="Used by the nightly import. Part of login in auth.",
            keywords=("rows", "nightly", "csv", "read", "limit", "strict", "path", "export", "write", "file"),
            returns=Returns("list", "gives a list", "The rows in file order."),
            inputs=(
                InputSpec("path", "", "Where the file lies."),
                InputSpec("limit", "", "How many rows at most."),
                InputSpec("strict", "", "Switches strict: true or false; off by default."),
            ),
            side_effects=("reads: opens a file", "reads CSV rows", "raises ValueError: no path"),
            invariants=("limit > 0 must hold: a limit must be positive", "raises ValueError if not path: no path"),
            citations=(
                Citation("summary", 1, 13),
                Citation("returns", 18, 18),
                Citation("side_effects", 17, 17),
                Citation("side_effects", 18, 18),
                Citation("side_effects", 16, 16),
                Citation("invariants", 14, 14),
                Citation("invariants", 15, 15),
            ),
        ),
        PurposeSource.DOCSTRING,
    )


PURPOSES = {
    "a verb is conjugated": ("def parse_header(line): pass", "Parses a header, given line."),
    "a predicate tells whether": ("def is_empty(queue): return not queue", "Tells whether the queue is empty."),
    "has takes an object": ("def has_child(node): return node.c", "Tells whether the node has a child."),
    "a conversion is one": ("def to_json(rows): return dumps(rows)", "Converts the rows to JSON."),
    "an event is handled": ("def on_close(event): stop()", "Handles the close event."),
    "a test checks that": ("def test_an_empty_file_is_skipped(): pass", "Checks that an empty file is skipped"),
    "a test of a noun tests": ("def test_unicode(): pass", "Tests Unicode"),
    "a test of what it does says it": ("def test_creates_curl_errors(): pass", "Tests that it creates curl errors"),
    "a test of what should be says so": ("def test_should_keep_order(): pass", "Tests that it should keep order"),
    "a test of a plural states": ("def test_reads_are_counted(): pass", "Checks that reads are counted"),
    "a test of a base form tests it": ("def test_create_errors(): pass", "Tests creating errors"),
    "a noun gives": ("def header_length(line): return 3", "Gives the header length for the line."),
    "two verbs are joined": ("def load_and_check(path): pass", "Loads and checks the path."),
    "an acronym keeps its capitals": ("def read_json_url(x): return 1", "Reads the JSON URL."),
}


@pytest.mark.parametrize(("source", "purpose"), PURPOSES.values(), ids=PURPOSES.keys())
def test_a_name_becomes_a_sentence(source, purpose):
    assert summary_of(source).startswith(purpose)


METHODS = {
    "a constructor": ("def __init__(self, db): self.db = db", "Sets up a new job queue, given DB. Stores the DB."),
    "a property": ("@property\n    def size(self): return self.n", "The size of the job queue."),
    "a special method": ("def __len__(self): return self.count()", "Counts what the job queue holds."),
    "a verb alone acts on its object": ("def close(self): self.db.close()", "Closes the job queue. Closes the DB."),
    "something is added to its object": ("def add(self, job): self.jobs.append(job)", "Adds the job to the job queue."),
    "a builder": ("@classmethod\n    def from_rows(cls, rows): return cls(rows)", "Builds a job queue from rows."),
    "a setter": ("@size.setter\n    def size(self, value): self.n = value", "Sets the size of the job queue"),
}


@pytest.mark.parametrize(("body", "summary"), METHODS.values(), ids=METHODS.keys())
def test_a_method_speaks_of_its_class(body, summary):
    assert summary_of(f"class JobQueue:\n    {body}\n").startswith(summary)


def test_decorated_functions_say_what_they_are():
    fixture = "@pytest.fixture\ndef client(app):\n    return app.test_client()\n"
    manager = "@contextmanager\ndef open_session(url):\n    yield url\n"
    command = "@app.command()\ndef sync(path):\n    run(path)\n"

    assert summary_of(fixture).startswith("Provides the client to tests, given app.")
    assert summary_of(manager).startswith("Opens a session, for the time of a with block, given URL.")
    assert summary_of(command).startswith("Syncs the path, as a command of the program.")


def test_callees_stand_in_a_summary_only_as_words():
    source = "def go(a):\n    x_y.do_it_now(a)\n    self.db.query_user_rows(a)\n    UserSession(a)\n    loadAll(a)\n"

    summary = summary_of(source)

    assert summary == "Goes. Part of login; queries user rows via the DB, builds a user session and loads all."


def test_overloads_differ_by_their_types():
    source = "@overload\ndef to_list(x: int) -> list[int]: ...\n"

    assert summary_of(source).endswith("takes x as an integer; gives a list of integers.")
    assert summary_of(source) != summary_of(source.replace("int", "bytes"))


def test_different_bodies_under_one_name_read_differently():
    first = "def visit(node):\n    return '%s RENAME TO %s' % (node.a, node.b)\n"
    second = "def visit(node):\n    return 'EXEC sp_rename %s' % node.a\n"

    assert summary_of(first) != summary_of(second)
    assert summary_of(first) != summary_of(first, path="src/auth/tokens.py")


def test_the_place_of_a_function_is_the_only_thing_its_id_adds():
    here, there = (write_function(function_in(AUTHENTICATE, path=path)).text for path in ("a/login.py", "b/login.py"))

    assert here.summary == there.summary
    assert here.business_intent != there.business_intent
