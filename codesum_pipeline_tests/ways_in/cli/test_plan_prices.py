"""What a plan says of money, on terminals of several widths and as JSON: each price is an expected one or a highest
one, and the words say which."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline_tests.support.llm_server import Answers, Behaviour, ModelRequest, ScriptedServer
from codesum_pipeline_tests.support.model_builds import MODEL
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.till import BY_MODEL, TAX, TILL
from codesum_pipeline_tests.ways_in.cli.terminal import on_a_terminal

KEY_ENV = "PLANNED_PROVIDER_KEY"
_PRICE = re.compile(r"\$[0-9]")
_KIND = re.compile(r"(?:expected|at most) \$[0-9]")
# Of one price stands first how it comes about: it is predicted for one call each.
_KINDS = ("expected_usd", "at_most_usd", "predicted_usd")


def repaired_once(request: ModelRequest) -> Behaviour:
    """Every first answer is unusable, every second one is good."""
    return Answers("{}") if request.attempt == 1 else Answers()


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with pytest.MonkeyPatch.context() as patch, ScriptedServer(repaired_once) as running:
        patch.setenv(KEY_ENV, "sk-loopback-0123456789abcdef")
        yield running


@pytest.fixture
def home(tmp_path: Path, server: ScriptedServer) -> Path:
    """A home that lets a model write; its repository is beside it, in `till`."""
    GitRepo.create(tmp_path / "till", TILL)
    (tmp_path / "home").mkdir()
    lines = {"model": MODEL, "api_base": server.base, "api_key_env": KEY_ENV}
    text = "".join(f"{name} = {json.dumps(value)}\n" for name, value in lines.items())
    settings = f"[llm]\nenabled = true\nmax_summaries_per_run = 1000\ndocumented = true\ntests = true\n{text}"
    (tmp_path / "home/codesum.toml").write_text(settings)
    return tmp_path / "home"


def set_more(home: Path, line: str) -> None:
    with (home / "codesum.toml").open("a") as settings:
        settings.write(f"{line}\n")


def keys_of_prices(value: Any) -> Iterator[str]:
    """The names of all numbers of dollars in a JSON value."""
    if isinstance(value, dict):
        for name, part in value.items():
            if "usd" in name:
                yield name
            yield from keys_of_prices(part)
    elif isinstance(value, list):
        for part in value:
            yield from keys_of_prices(part)


@pytest.mark.parametrize("width", [40, 80, 140])
@pytest.mark.parametrize("arguments", [("--llm",), ()], ids=["with the table", "in a line"])
def test_each_price_says_whether_it_is_expected_or_the_most(home: Path, width: int, arguments: tuple[str, ...]) -> None:
    set_more(home, "max_cost_usd_per_run = 0.5")

    lines = on_a_terminal("--home", home, "plan", home.parent / "till", "--limit", 0, *arguments, cwd=home, width=width)

    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    told = text.partition("the caps (")[0]
    assert len(_PRICE.findall(told)) == len(_KIND.findall(told)) >= 2
    assert "expected $0.0" in text and "at most $0.5000 (llm.max_cost_usd_per_run = 0.5)" in text


def test_the_same_prices_are_in_the_json_under_names_that_say_which(codesum: Any, home: Path) -> None:
    planned = codesum(home, "plan", home.parent / "till", "--llm", "--json")

    found = json.loads(planned.stdout)
    names = set(keys_of_prices(found))
    assert names == {*_KINDS, "predicted_usd_with_cache"}
    assert found["embedding"]["expected_usd"] == 0.0
    llm = found["llm"]
    assert llm["measured"] == {
        "scope": "nowhere", "texts": 0, "repairs": 0, "repair_share": 0.1, "factor": 1.1,
    }  # fmt: skip
    for level in (*llm["levels"].values(), llm["all"]):
        assert level["asked"]["predicted_usd"] < level["asked"]["expected_usd"] < level["asked"]["at_most_usd"]
    for name in _KINDS:
        levels = sum(level["asked"][name] for level in llm["levels"].values())
        assert levels == pytest.approx(llm["all"]["asked"][name]) == pytest.approx(llm[name])


def test_after_a_build_a_plan_says_on_how_many_texts_its_prices_were_measured(codesum: Any, home: Path) -> None:
    repo = GitRepo(home.parent / "till")
    before = codesum(home, "plan", repo.path, "--llm").stdout
    done = codesum(home, "index", repo.path, "--json")
    repo.commit({"till/tax.py": TAX.replace("19", "21").replace("// 100", "// 101")})

    after = codesum(home, "plan", "till", "--llm").stdout
    llm = json.loads(codesum(home, "plan", "till", "--llm", "--json").stdout)["llm"]
    index = json.loads(codesum(home, "index", "till", "--json").stdout.splitlines()[-1])["llm"]

    assert done.exit_code == 0, done.stderr
    assert "expected: a guess that 10% of the texts take a second call" in before
    assert (
        f"expected: measured on the last {BY_MODEL} texts by this model in this repository: {BY_MODEL} repairs" in after
    )
    assert (llm["measured"]["scope"], llm["measured"]["texts"], llm["measured"]["repairs"]) == (
        "repository",
        BY_MODEL,
        BY_MODEL,
    )
    assert index["texts"] == llm["calls"]
    assert index["cost_usd"] == pytest.approx(llm["expected_usd"], rel=0.25)
    assert index["cost_usd"] < llm["at_most_usd"]


def test_a_fallback_model_counts_in_the_most_and_is_said(codesum: Any, home: Path) -> None:
    alone = json.loads(codesum(home, "plan", home.parent / "till", "--llm", "--json").stdout)["llm"]
    set_more(home, 'fallback_models = ["openai/gpt-4o"]')
    both = json.loads(codesum(home, "plan", home.parent / "till", "--llm", "--json").stdout)["llm"]
    text = codesum(home, "plan", home.parent / "till", "--llm").stdout

    assert both["expected_usd"] == alone["expected_usd"]
    assert both["at_most_usd"] > 10 * alone["at_most_usd"], "the other one costs that much more"
    assert " of each of 2 models, each asked for 5 times (llm.max_retries)" in text
