"""What the texts of functions say, from sources that show one thing each."""

import pytest

from codesum_pipeline.model.documents import PurposeSource
from codesum_pipeline.summaries.extractive import write_function
from codesum_pipeline_tests.summaries.extractive.shown_inputs import function_in, says, summary_of

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


def test_without_a_docstring_the_name_and_the_body_tell_the_facts():
    written = write_function(function_in(AUTHENTICATE))
    text = written.text

    assert written.purpose_source is PurposeSource.NAME
    assert text.summary.startswith("Authenticates the username")
    assert says(text.summary, "auth error", "unknown user", "sessions", "token")
    assert says(text.business_intent, "login handler")
    assert {"authenticate", "username", "password", "login", "handler", "user"} <= {*text.keywords}
    assert text.returns and (text.returns.type, says(text.returns.details, "token")) == ("Token", True)
    assert [(one.name, one.type) for one in text.inputs] == [("username", "str"), ("password", "str")]
    assert all(says(one.description, one.name, "string") for one in text.inputs)
    assert [says(effect, *facts) for effect, facts in zip(text.side_effects, EFFECTS, strict=True)] == [True, True]
    (invariant,) = text.invariants
    assert says(invariant, "AuthError", "user is None", "unknown user")
    assert {(one.field, one.start_line) for one in text.citations} >= {
        ("returns", 6), ("side_effects", 5), ("side_effects", 4), ("invariants", 3)
    }  # fmt: skip


EFFECTS = (("mutates", "sessions"), ("raises", "AuthError", "unknown user"))


def test_a_docstring_gives_purpose_intent_parameters_and_result():
    written = write_function(function_in(READ_ROWS))
    text = written.text

    assert written.purpose_source is PurposeSource.DOCSTRING
    assert text.summary.startswith("Read the rows of a CSV file, e.g. an export.")
    assert says(text.summary, "value error", "no path")
    assert text.business_intent.startswith("Used by the nightly import.")
    assert {"rows", "csv", "read", "limit", "export"} <= {*text.keywords}
    assert text.returns and (text.returns.type, text.returns.details) == ("list", "The rows in file order.")
    path, limit, strict = text.inputs
    assert (path.description, limit.description) == ("Where the file lies.", "How many rows at most.")
    assert strict.name == "strict" and says(strict.description, "off by default")
    assert [effect.partition(" ")[0].strip(":") for effect in text.side_effects] == ["reads", "reads", "raises"]
    assert says(" ".join(text.side_effects), "opens a file", "CSV", "ValueError", "no path")
    holds, raises = text.invariants
    assert says(holds, "limit > 0", "a limit must be positive") and says(raises, "ValueError", "no path")
    assert {(one.field, one.start_line) for one in text.citations} >= {
        ("returns", 18), ("side_effects", 17), ("side_effects", 16), ("invariants", 14), ("invariants", 15)
    }  # fmt: skip


PURPOSES = {
    "a verb is conjugated": ("def parse_header(line): pass", "Parses a header"),
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
    "a noun gives": ("def header_length(line): return 3", "Gives the header length"),
    "two verbs are joined": ("def load_and_check(path): pass", "Loads and checks the path."),
    "an acronym keeps its capitals": ("def read_json_url(x): return 1", "Reads the JSON URL."),
}


@pytest.mark.parametrize(("source", "purpose"), PURPOSES.values(), ids=PURPOSES.keys())
def test_a_name_becomes_a_sentence(source, purpose):
    assert summary_of(source).startswith(purpose)


METHODS = {
    "a constructor": ("def __init__(self, db): self.db = db", "Sets up a new job queue"),
    "a property": ("@property\n    def size(self): return self.n", "The size of the job queue."),
    "a special method": ("def __len__(self): return self.count()", "Counts what the job queue holds."),
    "a verb alone acts on its object": ("def close(self): self.db.close()", "Closes the job queue."),
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

    assert summary_of(fixture).startswith("Provides the client to tests")
    assert summary_of(manager).startswith("Opens a session")
    assert summary_of(command).startswith("Syncs the path")


def test_callees_stand_in_a_summary_only_as_words():
    source = "def go(a):\n    x_y.do_it_now(a)\n    self.db.query_user_rows(a)\n    UserSession(a)\n    loadAll(a)\n"

    summary = summary_of(source)

    assert says(summary, "queries user rows", "user session")
    assert not [name for name in ("do_it_now", "query_user_rows", "UserSession", "loadAll") if name in summary]


def test_overloads_differ_by_their_types():
    source = "@overload\ndef to_list(x: int) -> list[int]: ...\n"

    assert says(summary_of(source), "integer", "a list of integers")
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
