"""What people know by a route, a command or a test's words is found by these, in a real index."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from codesum_pipeline.ways_in.cli.cli_app import app
from codesum_pipeline_tests.support.homes import built_once

FILES = {
    "src/app.js": """\
const { listOrders } = require('./orders');

/** Gives one user. */
app.get('/users/:id', async (req, res) => {
  const user = await find(req.params.id);
  res.json(user);
});
app.get('/orders', listOrders);
app.get('/ping', (req, res) => res.send('pong'));
""",
    "src/orders.js": "exports.listOrders = function (req, res) {\n  res.json(all());\n};\n",
    "src/cart.test.js": """\
describe('Cart', () => {
  it('adds an item to the cart', () => {
    const cart = new Cart();
    cart.add('apple');
  });
});
""",
    "cmd/login.go": """\
package cmd

var loginCmd = &cobra.Command{
\tUse: "signin [flags]",
\tRunE: func(cmd *cobra.Command, args []string) error {
\t\treturn store(args)
\t},
}

func store(args []string) error { return nil }
""",
    "api/routes.py": """\
PROMPT = \"\"\"
You are a helpful assistant that
answers questions about fish.
\"\"\"
QUERY = "SELECT name FROM customers WHERE city = 'Paris'"


@router.get("/items/{item_id}")
def read_item(item_id):
    return load(item_id)


@router.delete("/items/{item_id}")
def remove_item(item_id):
    return drop(item_id)


HANDLERS = {"export-all": read_everything}


def read_everything(rows):
    return [row for row in rows]
""",
    "templates/mail.jinja": "Dear {{ name }},\n\nyour parcel has left our warehouse in Rotterdam.\n",
    "db/report.sql": "SELECT region, SUM(amount)\nFROM ledger_entries\nGROUP BY region;\n",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_once(tmp_path_factory.mktemp("named"), FILES) / "home"


def run(home: Path, *arguments: str) -> Any:
    done = CliRunner().invoke(app, ["--home", str(home), *arguments, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def first(home: Path, question: str) -> dict[str, Any]:
    found: dict[str, Any] = run(home, "search", question)["hits"][0]
    return found


FOUND = {
    "a route of a function without a name": ("/users/:id", "src/app.js::GET /users/:id"),
    "a method and a path": ("GET /users/{userId}", "src/app.js::GET /users/:id"),
    "a path that was tried": ("/users/42", "src/app.js::GET /users/:id"),
    "a route of a handler in another file": ("GET /orders", "src/orders.js::listOrders"),
    "a decorated function": ("DELETE /items/<id>", "api/routes.py::remove_item"),
    "a command": ("signin", "cmd/login.go::loginCmd::RunE"),
    "a command in words": ("login command", "cmd/login.go::loginCmd::RunE"),
    "the words of a test": ("adds an item to the cart", "src/cart.test.js::Cart::adds an item to the cart"),
    "a key of a table": ("export-all", "api/routes.py::read_everything"),
    "a route of one line": ("GET /ping", "src/app.js::GET /ping"),
}


@pytest.mark.parametrize(("question", "expected"), FOUND.values(), ids=FOUND)
def test_code_is_found_by_its_other_names(home: Path, question: str, expected: str) -> None:
    assert first(home, question)["id"] == expected


PROSE = {
    "a prompt": ("You are a helpful assistant that", "api/routes.py", 2),
    "a part of a prompt": ("answers questions about fish", "api/routes.py", 3),
    "SQL in a constant": ("SELECT name FROM customers WHERE city", "api/routes.py", 5),
    "a template": ("your parcel has left our warehouse", "templates/mail.jinja", 3),
    "a file of SQL": ("SELECT region, SUM(amount)", "db/report.sql", 1),
}


@pytest.mark.parametrize(("words", "path", "line"), PROSE.values(), ids=PROSE)
def test_prose_in_code_and_templates_is_found_with_its_line(home: Path, words: str, path: str, line: int) -> None:
    hit = first(home, words)

    assert hit["id"] == path
    assert f"line {line}" in json.dumps(hit["why"])


@pytest.mark.parametrize("name", ["GET /users/:id", "/users/{id}", "signin"])
def test_one_document_is_shown_by_another_name(home: Path, name: str) -> None:
    shown = run(home, "show", name)

    assert shown["id"] in ("src/app.js::GET /users/:id", "cmd/login.go::loginCmd::RunE")


def test_of_several_documents_with_a_name_each_is_said(home: Path) -> None:
    done = CliRunner().invoke(app, ["--home", str(home), "show", "/items/{id}"])

    assert done.exit_code != 0
    assert "api/routes.py::read_item" in done.output
    assert "api/routes.py::remove_item" in done.output
