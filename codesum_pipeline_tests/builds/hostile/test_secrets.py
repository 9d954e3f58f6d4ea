"""Secrets in a repository: they are in nothing that is composed, stored, tokenised or printed of it."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from codesum_pipeline.builds.codesum_home import wiring
from codesum_pipeline.builds.maintenance.stored_secrets import SecretsOfHome
from codesum_pipeline.foundation.data_model.document import WrittenText
from codesum_pipeline.foundation.data_model.hashing import HashPolicy
from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.source.files import content
from codesum_pipeline.source.masking.secrets import MaskedText
from codesum_pipeline.symbols.parsing import batches, parsers, text
from codesum_pipeline.symbols.parsing.masks import masked_file
from codesum_pipeline.texts.llm.text_cache import AnswerCache, KeptText
from codesum_pipeline.ways_in.cli.cli_app import app
from codesum_pipeline_tests.builds.hostile.building import built
from codesum_pipeline_tests.support.homes import open_home
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


def _of_an_earlier_version(patch: pytest.MonkeyPatch) -> None:
    """Nothing is masked, no file is skipped as a key, and what is stored names another version."""
    patch.setattr(batches, "masked_file", lambda parsed, compiled=None: (parsed, compiled))
    patch.setattr(content, "is_only_keys", lambda *_: False)
    for module in (parsers, text):
        patch.setattr(module, "SECRETS_VERSION", "")
    patch.setattr(wiring, "PARSER_VERSION", "earlier")
    patch.setattr(wiring, "RULES_VERSION", "earlier")
    for module in (
        "source.files.snapshot",
        "source.git.commit_history",
        "search.overviews.overview_inputs",
        "search.overviews.overview",
    ):
        patch.setattr(f"codesum_pipeline.{module}.mask_secrets", lambda shown: MaskedText(shown, {}))


@pytest.fixture
def earlier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Indexed:
    """A home as an earlier version left it: two published versions, Dagster's records, a model's text in the cache."""
    with monkeypatch.context() as patch:
        _of_an_earlier_version(patch)
        made = Indexed(tmp_path)
        made.repo.commit({"more.py": "def more(x):\n    return x + 1\n"})
        made.call("index", "shop")
    kept = KeptText("exact", None, WrittenText(f"Uses {TOKEN}.", "", ()), None, "m", "p", 0.0, "2026-01-01T00:00:00")
    AnswerCache(made.home / "cache", now=utc_now).put_many([kept])
    made.shop.secrets.append(TOKEN)
    return made


@pytest.mark.slow
def test_doctor_finds_what_an_earlier_version_stored_and_its_commands_remove_it(earlier: Indexed) -> None:
    kept = earlier.shop.kept_in(earlier.home)
    tops = {place.partition("/")[0] for place in kept}
    assert {"warehouse", "index_root", "dagster", "cache", "state"} <= tops

    home = open_home(earlier.home)
    whole, short = SecretsOfHome(home, most_chars=None), SecretsOfHome(home, most_chars=10)
    every, newest = (sum(sum(each.kinds.values()) for each in one.find()) for one in (whole, short))
    assert (whole.is_cut, short.is_cut) == (False, True)
    assert newest < every

    found = earlier.call("doctor")
    assert found.exit_code == 1
    assert earlier.shop.found_in(found.stdout + found.stderr) == []
    for place in ("tables: ", "published version: ", "versions kept besides the published one: "):
        assert place in found.stdout
    for place in ("Dagster's storage: ", "models' texts in the cache: ", "notes of builds: "):
        assert place in found.stdout
    assert "way out: codesum index shop" in found.stdout
    assert "way out: codesum maintain --secrets" in found.stdout

    assert earlier.call("index", "shop").exit_code == 0
    assert earlier.call("maintain", "--secrets").exit_code == 0

    assert earlier.shop.kept_in(earlier.home) == {}
    assert earlier.call("doctor").exit_code == 0
    assert earlier.call("search", "charge the shop").exit_code == 0
    assert earlier.call("index", "shop").exit_code == 0
    assert earlier.call("doctor").exit_code == 0


@pytest.mark.slow
def test_a_key_with_a_token_in_it_is_named_without_it_and_removed(tmp_path: Path) -> None:
    """`add` once made keys of whole addresses."""
    made = Indexed(tmp_path)
    secret = "Zq8s3kLw02"
    key = f"host.invalid-x.git-token-{secret}"
    registry = made.home / "repos.yaml"
    registry.write_text(
        f"{registry.read_text()}  {key}:\n    url: https://host.invalid/x.git?token={secret}\n    enabled: true\n"
    )
    with closing(sqlite3.connect(made.home / "dagster" / "history" / "runs.db")) as connection:
        connection.execute("UPDATE run_tags SET value = ? WHERE key = 'dagster/partition'", (key,))
        connection.commit()
    made.shop.secrets.append(secret)

    found = made.call("doctor")
    assert made.shop.found_in(found.stdout + found.stderr) == []
    assert "codesum remove 'host.invalid-x.git-token-*' --purge" in found.stdout
    assert "Dagster's storage: 1 key or location" in found.stdout

    removed = made.call("remove", "host.invalid-x.git-token-*", "--purge")
    assert removed.exit_code == 0, removed.stderr
    assert made.call("maintain", "--secrets").exit_code == 0
    assert made.shop.kept_in(made.home) == {}
    assert made.call("doctor").exit_code == 0


@pytest.mark.parametrize("start", ["x*", "s*"], ids=["none", "several"])
def test_a_beginning_of_no_or_of_several_keys_removes_nothing(start: str, tmp_path: Path) -> None:
    home, runner = tmp_path / "home", CliRunner()
    for name in ("shop", "second"):
        repo = GitRepo.create(tmp_path / name, {"a.py": "x = 1\n"})
        assert runner.invoke(app, ["--home", str(home), "add", str(repo.path)]).exit_code == 0

    refused = runner.invoke(app, ["--home", str(home), "remove", start, "--purge"], prog_name="codesum")
    assert refused.exit_code != 0
    assert "begin so: name one of them" in str(refused.exception) + refused.stderr
    assert (home / "repos.yaml").read_text().count("path:") == 2
