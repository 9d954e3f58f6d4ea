"""Which tests run a function, where no edge of the graph says so: each rule by a small example."""

from pathlib import Path
from time import process_time

import pytest

from codesum_pipeline.answers.agent_tools import mentioned_names, reached_code
from codesum_pipeline.answers.agent_tools.reached_code import CodeReach
from codesum_pipeline.answers.agent_tools.reached_documents import way_to
from codesum_pipeline_tests.support.reaching import reach_in

FILES = {
    "app/__init__.py": "",
    "app/fields.py": """def to_iso(value):
    return value.isoformat()


def to_number(value):
    return value.timestamp()


class Field:
    def write(self, value):
        return self.encode(value)

    def encode(self, value):
        raise NotImplementedError


class DateField(Field):
    WRITERS = {
        "iso": to_iso,
        "number": to_number,
    }

    def encode(self, value):
        return self.WRITERS["iso"](value)


class TextField(Field):
    def encode(self, value):
        return str(value)

    @property
    def length(self):
        return 1

    def __eq__(self, other):
        return True


def read_table(name):
    return TABLE[name]("x")


def shout(text):
    return text.upper()


def cry(text):
    return text * 2


def read_lower(name):
    return lower_table[name]("x")


TABLE = {"shout": shout}
lower_table: dict[
    str, object
] = {"cry": cry}


def sing(text):
    return text * 3


def call_hooks():
    return [hook("x") for hook in hooks]


hooks = []
hooks.append(sing)


def whisper(text):
    return text.lower()
""",
    "app/commands.py": '''import click

from app.fields import whisper


@click.group()
def tool():
    """Commands."""


@tool.command()
def say():
    return whisper("Hello")
''',
    "app/started.py": """def prepare():
    return 1


PREPARED = prepare()


def use():
    return 2
""",
    "app/painting.py": """class Brush:
    def paint(self):
        return "red"


def paint_all(tools):
    return [tool.paint() for tool in tools]
""",
    "tests/test_painting.py": """from app.painting import Brush, paint_all


def test_all_is_painted():
    assert paint_all([Brush()])


def test_nothing_is_painted():
    assert not paint_all([])
""",
    "tests/conftest.py": """import pytest

from app.fields import DateField, TextField


@pytest.fixture
def text_field():
    return TextField()


@pytest.fixture(name="date")
def make_date():
    return DateField()
""",
    "tests/test_fields.py": """from app.fields import call_hooks, read_lower, read_table


def test_text(text_field):
    assert text_field.encode(1) == "1"


def test_length(text_field):
    assert text_field.length == 1


def test_equal(text_field):
    assert text_field == 1


def test_date(date):
    assert date.write(2)


def test_table():
    assert read_table("shout")


def test_hooks():
    assert call_hooks()


def test_lower_table():
    assert read_lower("cry")


def test_other():
    assert True
""",
    "tests/test_commands.py": """import unittest

from click.testing import CliRunner

from app.commands import tool


class TestTool(unittest.TestCase):
    def setUp(self):
        self.result = CliRunner().invoke(tool, ["say"])

    def test_it_says(self):
        assert self.result


class TestOther(unittest.TestCase):
    def test_other(self):
        assert True
""",
    "tests/test_started.py": """from app.started import use


def test_it_starts():
    assert use()
""",
}


TEST_OF_TABLE = "from a import use\n\n\ndef test_use():\n    assert use()\n"


@pytest.fixture(scope="module")
def reach(tmp_path_factory: pytest.TempPathFactory) -> CodeReach:
    return reach_in(tmp_path_factory.mktemp("reach"), FILES)


def test_a_file_is_read_once_for_all_that_it_keeps(tmp_path: Path) -> None:
    """A table of fifteen thousand lines took half a minute where each line was looked for among all before it."""
    functions = "".join(f"def f{at}():\n    return {at}\n\n\nkept{at} = [f{at}]\n\n\n" for at in range(500))
    table = "table = [\n" + "    f0,\n" * 15_000 + "]\n\n\ndef use():\n    return table[0]()\n"
    made = reach_in(tmp_path, {"a.py": functions + table, "test_a.py": TEST_OF_TABLE})
    begin = process_time()
    numbers = [made.documents.number(f"a.py::f{at}") for at in range(500)]
    users = [made.users(number) for number in numbers if number is not None]

    assert process_time() - begin < 4
    assert [len(users), reached_tests(made, "a.py::f0"), reached_tests(made, "a.py::f1")] == [500, {"test_use"}, set()]


def reached_tests(reach: CodeReach, id_: str) -> set[str]:
    number = reach.documents.number(id_)
    assert number is not None
    found = reach.reached({number: 0})
    return {reach.documents[one].id.rpartition("::")[2] for one in found if reach.is_test(one)}


@pytest.mark.parametrize(
    ("id_", "tests"),
    [
        ("app/fields.py::TextField::encode", {"test_text"}),
        ("app/fields.py::TextField::length", {"test_length"}),
        ("app/fields.py::DateField::encode", {"test_date"}),
        ("app/fields.py::to_iso", {"test_date"}),
        ("app/fields.py::shout", {"test_table"}),
        ("app/fields.py::cry", {"test_lower_table"}),
        ("app/fields.py::sing", {"test_hooks"}),
        ("app/fields.py::whisper", {"test_it_says"}),
        ("app/started.py::prepare", {"test_it_starts"}),
        ("tests/conftest.py::make_date", {"test_date"}),
        ("tests/test_commands.py::TestTool::setUp", {"test_it_says"}),
    ],
    ids=[
        "a method that is called by its name on a fixture",
        "a property that is read on a fixture",
        "a method that is called as one of its base",
        "a value that a class keeps under a name",
        "a value that a file keeps under a name",
        "a value that a file keeps under a name in small letters",
        "a value that is added to a list of the file",
        "a function that a decorator registers",
        "a function that is called when its file is imported",
        "a fixture with a name of its own",
        "a set-up",
    ],
)
def test_a_test_is_reached_by(reach: CodeReach, id_: str, tests: set[str]) -> None:
    assert reached_tests(reach, id_) == tests


# The file of the test is the second by its definitions. Without its names, whoever makes such an object counts.
@pytest.mark.parametrize(("most", "tests"), [(2, {"test_text"}), (1, {"test_text", "test_length", "test_equal"})])
def test_so_many_files_are_read_for_names(
    reach: CodeReach, monkeypatch: pytest.MonkeyPatch, most: int, tests: set[str]
) -> None:
    monkeypatch.setattr(mentioned_names, "MOST_FILES_READ", most)
    anew = CodeReach.of(reach.documents, reach.names.sources)

    assert reached_tests(anew, "app/fields.py::TextField::encode") == tests


def test_an_operator_is_reached_by_who_has_objects_of_the_class(reach: CodeReach) -> None:
    assert reached_tests(reach, "app/fields.py::TextField::__eq__") == {"test_text", "test_length", "test_equal"}


@pytest.mark.parametrize(
    ("most", "tests"), [(1, {"test_all_is_painted"}), (0, set())], ids=["of few functions", "of too many"]
)
def test_a_name_that_is_called_on_what_was_handed_over_is_telling(
    reach: CodeReach, most: int, tests: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reached_code, "MOST_BY_NAME", most)
    another = CodeReach(reach.documents, reach.fixtures, reach.names, reach.constants)

    assert reached_tests(another, "app/painting.py::Brush::paint") == tests


def test_the_way_to_a_test_begins_at_the_change(reach: CodeReach) -> None:
    start, end = (reach.documents.number(id_) for id_ in ("app/fields.py::shout", "tests/test_fields.py::test_table"))
    assert start is not None and end is not None
    way = way_to(reach.reached({start: 0}), end)

    assert [reach.documents[one].id.rpartition("::")[2] for one in way] == ["shout", "read_table", "test_table"]


def test_no_more_is_reached_than_a_limit(reach: CodeReach, monkeypatch: pytest.MonkeyPatch) -> None:
    number = reach.documents.number("app/started.py::prepare")
    assert number is not None
    monkeypatch.setattr(reached_code, "MOST_REACHED", 2)

    assert len(reach.reached({number: 0})) == 2
