"""Secrets in a repository: they are in nothing that is composed, stored, tokenised or printed of it."""

import random
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.symbols.parsing import parsers
from codesum_pipeline.symbols.parsing.masks import masked_file
from codesum_pipeline.ways_in.cli.cli_app import app
from codesum_pipeline_tests.builds.hostile.building import built
from codesum_pipeline_tests.support.planted_secrets import TOKENS
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.secret_shop import PASSWORD, SecretShop

TOKEN = TOKENS["github-token"](random.Random(8))


class Indexed:
    """A shop with secrets that `codesum index` has indexed, commits with secrets in their subjects among it."""

    def __init__(self, folder: Path) -> None:
        self.shop, self.home = SecretShop(), folder / "home"
        self.repo = GitRepo.create(folder / "shop", self.shop.files)
        self.repo.commit({"more.py": "x = 1\n"}, message=f"Second commit about {self.shop.token()} of shops")
        self.call("index", self.repo.path)

    def call(self, *arguments: object) -> Any:
        result = CliRunner().invoke(app, ["--home", str(self.home), *map(str, arguments)], prog_name="codesum")
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    return Indexed(tmp_path_factory.mktemp("secrets"))


def test_nothing_that_a_home_keeps_of_a_repository_has_a_secret(indexed: Indexed) -> None:
    """Tables, published files and vocabularies, Dagster's storage, notes of builds."""
    assert indexed.shop.kept_in(indexed.home) == {}


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "charge the shop", "--json"), ("search", "run with token"), ("search", "hunter2"),
        ("show", "keys/server.pem"), ("show", "app/pay.py::Client::charge", "--json"), ("show", "README.md"),
        ("overview", "--json"), ("status", "--json"), ("sql", "--json", "SELECT * FROM documents"),
        ("sql", "--json", "SELECT * FROM symbols"), ("sql", "--json", "SELECT * FROM snapshot"), ("doctor",),
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_is_composed_is_printed_without_secrets(indexed: Indexed, arguments: tuple[str, ...]) -> None:
    shown = indexed.call(*arguments)

    assert indexed.shop.found_in(shown.stdout + shown.stderr) == []


def test_source_lines_are_shown_as_their_author_wrote_them(indexed: Indexed) -> None:
    found = indexed.call("search", "client charge", "--excerpt", "12", "--path", "app/pay.py")

    assert f'password="{PASSWORD}"' in found.stdout


def test_files_that_are_nothing_but_keys_are_skipped_for_that_reason(indexed: Indexed) -> None:
    rows = indexed.call("sql", "--json", "SELECT path FROM files WHERE reason = 'keys' ORDER BY path").stdout

    assert "keys/server.pem" in rows
    assert "keys/master.key" in rows
    assert rows.count("path") == 2


def test_definitions_whose_names_differ_in_their_secrets_alone_stay_two(indexed: Indexed) -> None:
    query = "SELECT id FROM documents WHERE id LIKE 'pay_test.exs::%uses%' ORDER BY id"
    found = indexed.call("sql", "--json", query).stdout

    assert "uses «masked github-token»" in found
    assert "uses «masked github-token 2»" in found


@pytest.mark.parametrize("few", [0, 1000], ids=["many secrets", "few secrets"])
def test_a_file_with_many_secrets_is_masked_as_one_with_few(few: int) -> None:
    rng = random.Random(1)
    tokens = [TOKENS["github-token"](rng) for _ in range(60)]
    source = "\n".join(
        f'def f{n}(token="{one}"):\n    """Uses {one}."""\n    return send("{one}")\n' for n, one in enumerate(tokens)
    )
    parsed = parsers.parse_file("a.py", "python", source.encode(), blob="", hash_policy=HashPolicy.CANONICAL)

    masked, _ = masked_file(parsed, few=few)
    assert [one for one in tokens if one in repr(masked)] == []
    assert [symbol.content_hash for symbol in masked.symbols] == [symbol.content_hash for symbol in parsed.symbols]


@pytest.mark.slow
def test_a_file_of_tens_of_thousands_of_secrets_is_masked(tmp_path: Path) -> None:
    rng = random.Random(1)
    files = {"many.txt": "".join(f"password: {rng.getrandbits(40):x}!a\n" for _ in range(40_000))}
    made = built(GitRepo.create(tmp_path / "repository", files).path, tmp_path / "home")

    source = made.home.tables.read("file_facts", "project")["source"][0].as_py()
    assert source.count("«masked assigned-password»") > 39_000
