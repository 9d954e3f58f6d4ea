"""Which tests run a function that a decorator registers with an object whose name is in lower case."""

from pathlib import Path
from time import process_time

import pytest

from codesum_pipeline.answers.agent_tools import registrar_users
from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.impact_page import ImpactPage
from codesum_pipeline.answers.agent_tools.reached_code import CodeReach
from codesum_pipeline.answers.agent_tools.registrar_users import RegistrarUsers
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline_tests.support.homes import built_once, open_home
from codesum_pipeline_tests.support.reaching import reach_in

WEB = """from outside import Flask

app = Flask(__name__)


@app.route("/pay/<int:order>")
def pay(order):
    return str(order + 1)


@app.route("/owe")
def owe():
    return "0"
"""
FILES = {
    "shop/__init__.py": "from .web import app\n",
    "shop/web.py": WEB,
    "shop/views.py": """from outside import Blueprint

views = Blueprint("views")


@views.route("/shown")
def show():
    return "1"
""",
    "shop/site.py": """from outside import Flask

from .views import views

site = Flask(__name__)
site.register_blueprint(views)
""",
    "shop/pages.py": """from shop.web import app


@app.route("/page")
def page():
    return "2"
""",
    "shop/program.py": """import click


@click.group()
def cli():
    click.echo("hello")


@cli.command()
@click.option("--name", default="x")
def greet(name):
    click.echo(name)
""",
    "tests/test_web.py": """from outside import url_for

from shop.web import app


def test_pay():
    assert app.test_client().get("/pay/3")


def test_built():
    assert app.test_client().get("/" + "pay" + "/3")


def test_named():
    assert app.test_client().get(url_for("shop.pay", order=3))


def test_page():
    assert app.test_client().get("/page")


def test_nothing_of_it():
    app = 3
    assert True
""",
    "tests/test_client.py": """import shop.web
from outside import TestClient
from shop import app

client = TestClient(app)


def test_owe():
    assert client.get("/owe")


def test_by_the_module():
    assert shop.web.app.test_client().get("/owe")


def test_without_client():
    assert True
""",
    "tests/test_site.py": """from shop.site import site


def test_shown():
    assert site.test_client().get("/shown")


def test_beside():
    assert site.test_client().get("/beside")
""",
    "tests/test_program.py": """from outside import CliRunner
from shop.program import cli


def test_default():
    assert CliRunner().invoke(cli, ["greet"])


def test_with_a_name():
    assert CliRunner().invoke(cli, ["greet", "--name", "Bob"])
""",
}


@pytest.fixture(scope="module")
def reach(tmp_path_factory: pytest.TempPathFactory) -> CodeReach:
    return reach_in(tmp_path_factory.mktemp("reach"), FILES)


@pytest.mark.parametrize(
    ("id_", "tests"),
    [
        ("shop/web.py::pay", {"test_pay", "test_built", "test_named"}),
        ("shop/web.py::owe", {"test_owe", "test_by_the_module"}),
        ("shop/views.py::show", {"test_shown"}),
        ("shop/pages.py::page", {"test_page"}),
        ("shop/program.py::greet", {"test_default", "test_with_a_name"}),
    ],
    ids=[
        "a test that writes its text, or its name as a text",
        "a client at the top of a file, an import by the package, and by the module",
        "an object that is handed to another one",
        "an object of another file",
        "a decorator of options is no registration",
    ],
)
def test_a_registered_function_is_run_by(reach: CodeReach, id_: str, tests: set[str]) -> None:
    number = reach.documents.number(id_)
    assert number is not None
    found = reach.reached({number: 0})

    assert {reach.documents[one].id.rpartition("::")[2] for one in found if reach.is_test(one)} == tests


@pytest.mark.parametrize(("most", "is_cut"), [(10_000, False), (10, True)], ids=["few lines", "many lines"])
def test_of_more_lines_than_a_limit_no_more_are_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, is_cut: bool
) -> None:
    monkeypatch.setattr(registrar_users, "MOST_SEARCHED", most)
    home = open_home(built_once(tmp_path, FILES) / "home")
    call = ToolContext(IndexCatalogue.of(home.settings), Path("/"))
    page = tools_by_name()["impact"].ask(call, {"repo": "shop", "ids": ["shop/web.py::owe"], "tokens": 50_000})
    assert isinstance(page, ImpactPage)

    assert any("was looked for in the first" in note for note in page.notes) == is_cut
    assert (not page.tests) == is_cut


def test_files_that_all_import_one_name_from_one_another_are_looked_through_once(tmp_path: Path) -> None:
    count = 40
    files = {
        f"shop/part_{one}.py": "".join(f"from shop.part_{other} import app\n" for other in range(count) if other != one)
        + f'\n\n@app.route("/pay_{one}")\ndef pay_{one}():\n    return 1\n'
        for one in range(count)
    }
    reach = reach_in(tmp_path, files)
    number = reach.documents.number("shop/part_1.py::pay_1")
    assert number is not None
    started = process_time()

    assert [*reach.reached({number: 0})] == [number]
    assert process_time() - started < 0.8


CHAIN = {
    "part_0.py": "from outside import Flask\n\napp = Flask()\none = app.one()\ntwo = one.two()\n\n\n"
    "def use():\n    return app\n\n\ndef use_two():\n    return two\n",
    **{
        f"part_{at}.py": f"from part_{at - 1} import app\n\n\n@app.route('/pay')\ndef pay():\n    return 1\n"
        for at in range(1, 5)
    },
}


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> CodeReach:
    return reach_in(tmp_path_factory.mktemp("chain"), CHAIN)


@pytest.mark.parametrize(("steps", "is_found"), [(3, True), (4, False)], ids=["three files", "four files"])
def test_a_name_is_followed_through_some_imports(chain: CodeReach, steps: int, is_found: bool) -> None:
    number, use = map(chain.documents.number, (f"part_{steps}.py::pay", "part_0.py::use"))
    assert number is not None

    assert (use in {*chain.registrars.of(number)}) is is_found


@pytest.mark.parametrize(
    ("limit", "most", "found"),
    [
        ("_MOST_NAMES", 100, {"use", "use_two"}),
        ("_MOST_NAMES", 1, {"use"}),
        ("_MOST_FILES", 1, {"use", "use_two"}),
        ("_MOST_FILES", 0, set()),
    ],
)
def test_some_names_are_followed_through_some_files(
    chain: CodeReach, monkeypatch: pytest.MonkeyPatch, limit: str, most: int, found: set[str]
) -> None:
    monkeypatch.setattr(registrar_users, limit, most)
    number = chain.documents.number("part_1.py::pay")
    assert number is not None
    users = {chain.documents[one].id.partition("::")[2] for one in RegistrarUsers(chain.held).of(number)}

    assert users & {"use", "use_two"} == found
