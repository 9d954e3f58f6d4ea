"""Secrets that an earlier version stored are masked, and no text of a model is paid for again because of that."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from codesum_pipeline.builds.codesum_home import wiring
from codesum_pipeline.symbols.parsing import batches, parsers, text
from codesum_pipeline_tests.support.comparing import table_rows
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.model_builds import Shop, shop
from codesum_pipeline_tests.support.planted_secrets import planted

TOKEN = next(one.secret for one in planted(seed=3, each=1) if one.kind == "github-token")
# Functions that their author documented are left to the free writer, the others and all above them to the model.
FILES = {
    "till/charge.py": f'''
API = "{TOKEN}"

def charge(amount, token="{TOKEN}"):
    """Charge the amount with {TOKEN} at once."""
    if amount < 0:
        raise ValueError(amount)
    return send(amount, token)


def refund(amount):
    if amount < 0:
        raise ValueError("refused")
    return send(-amount, "{TOKEN}")


class Terminal:
    token = "{TOKEN}"

    def connect(self, password="{TOKEN}"):
        if not password:
            raise ValueError("closed")
        return open_line(password)

    def close(self):
        """Close the line of {TOKEN} in a hurry."""
        if self.line:
            self.line.close("{TOKEN}")
''',
    "till/inner/notes.txt": f"Notes\n=====\n\nThe till is opened with {TOKEN} by hand.\n",
    "till/inner/more.py": "def more(amount):\n    for one in range(amount):\n        yield one * amount\n",
}
LLM = {"documented": False}


def _as_it_was(patch: pytest.MonkeyPatch) -> None:
    """What is parsed is stored as it is, by parsers of an earlier version."""
    patch.setattr(batches, "masked_file", lambda parsed, compiled=None: (parsed, compiled))
    for module in (parsers, text):
        patch.setattr(module, "SECRETS_VERSION", "")
    patch.setattr(wiring, "PARSER_VERSION", "earlier")


@pytest.fixture
def till(tmp_path: Path) -> Iterator[Shop]:
    """A shop with a home of the version before, all of whose texts are written."""
    with shop(tmp_path, FILES) as made:
        with pytest.MonkeyPatch.context() as patch:
            _as_it_was(patch)
            build(made.workspace(llm=LLM))
        assert TOKEN in str(_kept(made))
        assert made.server.seen
        made.server.seen.clear()
        yield made


def _kept(made: Shop, home: str = "home") -> dict[str, list[dict[str, object]]]:
    workspace = made.workspace(home=home, llm=LLM)
    names = ("symbols", "file_facts", "documents", "texts_function", "texts_class", "texts_file", "texts_module")
    return {name: workspace.tables.read(name, "shop").to_pylist() for name in names}


def _by_model(made: Shop) -> dict[str, object]:
    return {row["id"]: row["summary"] for row in _kept(made)["documents"] if row["written_by"] == "llm"}


@pytest.mark.slow
def test_what_an_earlier_version_stored_is_masked_without_a_call(till: Shop) -> None:
    before, free = _by_model(till), [row for row in _kept(till)["documents"] if row["written_by"] == "extractive"]
    assert {"till/charge.py::refund", "till/charge.py::Terminal", "till/charge.py", "till", "till/inner", "."} <= set(
        before
    )
    assert any(TOKEN in str(row["summary"]) for row in free)

    build(till.workspace(llm=LLM))

    assert till.server.seen == []
    assert TOKEN not in str(_kept(till))
    assert _by_model(till) == before


@pytest.mark.slow
def test_the_next_build_finds_nothing_to_do_and_a_clean_one_the_same_texts(till: Shop) -> None:
    build(till.workspace(llm=LLM))
    reports = build(till.workspace(llm=LLM))
    assert [reports[f"{level}_summaries"].written for level in ("function", "class", "file", "module")] == [0, 0, 0, 0]

    shutil.copytree(till.folder / "home" / "cache", till.folder / "clean" / "cache")
    build(till.workspace(home="clean", llm=LLM))
    assert till.server.seen == []
    first, second = (table_rows(till.workspace(home=home, llm=LLM)) for home in ("home", "clean"))
    assert first == second


@pytest.mark.slow
def test_code_that_changed_along_with_the_version_is_written_again(till: Shop) -> None:
    changed = FILES["till/charge.py"].replace("return send(-amount", "return send(-2 * amount")
    till.repo.commit({"till/charge.py": changed})

    build(till.workspace(llm=LLM))

    assert len(till.server.seen) == 4, "the function, its file, and the two folders above"


@pytest.mark.slow
def test_a_model_that_may_not_be_called_keeps_its_texts(till: Shop) -> None:
    before = _by_model(till)

    build(till.workspace(llm={**LLM, "max_summaries_per_run": 0}, offline=True))

    assert till.server.seen == []
    assert _by_model(till) == before
