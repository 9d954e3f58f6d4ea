"""Caps: any series of capped runs asks for what one run without caps asks for, and each of it once."""

import json
import random
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.document import Level
from codesum_pipeline.foundation.data_model.model_call import LedgerRow
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.model_builds import Shop, shop

# More than any one call can cost, so that no document waits for ever.
MOST_USD_A_CALL = 0.0045
STRICT = {"graph_policy": "strict"}


def function(name: str, chance: random.Random) -> str:
    """A function that is no placeholder, of one of few bodies, so that some are alike."""
    number = chance.randrange(6)
    documented = f'    """Adds {number}."""\n' if chance.random() < 0.4 else ""
    return (
        f"def {name}(value):\n{documented}    if value > {number}:\n        raise ValueError(value)\n"
        f"    return value + {number}\n"
    )


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def source(chance: random.Random) -> str:
    """A file of some functions and classes, one nested in another at times."""
    parts = [function(f"f{n}", chance) for n in range(chance.randrange(3))]
    for n in range(chance.randrange(2)):
        inner = [function(f"m{m}", chance) for m in range(chance.randrange(1, 3))]
        if chance.random() < 0.3:
            inner.append(f"class Inner:\n{indented(function('deep', chance))}")
        parts.append(f"class C{n}:\n{''.join(map(indented, inner))}")
    return "\n\n".join(parts) or function("only", chance)


def tree(chance: random.Random) -> dict[str, str]:
    """A random repository of a few files in a few folders."""
    folders = ["", "a/", "a/b/", "c/"]
    files = {f"{chance.choice(folders)}m{n}.py": source(chance) for n in range(chance.randrange(1, 4))}
    if chance.random() < 0.3:
        files["README.md"] = f"# Words\n\nMore than {chance.randrange(9)} of them stand here.\n"
    return files


def edited(files: Mapping[str, str], chance: random.Random) -> dict[str, str]:
    """The repository after an edit: another file, another body, or one file less."""
    kind = chance.randrange(3)
    if kind == 0 or len(files) == 1:
        return {**files, f"a/new{chance.randrange(3)}.py": source(chance)}
    path = chance.choice(sorted(path for path in files if path.endswith(".py")))
    if kind == 1:
        return {**files, path: source(chance)}
    return {name: text for name, text in files.items() if name != path} if len(files) > 1 else {**files}


@dataclass(frozen=True)
class Run:
    """What one run did: its requests, how many texts are left, and what it paid."""

    requests: tuple[str, ...]
    left: int
    spent: float
    texts: Mapping[str, str]


def run(found: Shop, home: str, **llm: Any) -> Run:
    found.server.seen.clear()
    workspace = found.workspace(home=home, llm=llm, **STRICT)
    reports = build(workspace, until="module_summaries")
    left = sum(reports[f"{level}_summaries"].asked.pending for level in Level)
    rows = workspace.tables.read_rows_or_empty("ledger", "shop", LedgerRow)
    spent = sum(row.cost_usd for row in rows if row.run_id == workspace.run_id)
    return Run(requests_of(found), left, spent, texts_of(workspace))


def requests_of(found: Shop) -> tuple[str, ...]:
    return tuple(json.dumps(call.body, sort_keys=True) for call in found.server.seen)


def texts_of(workspace: Workspace) -> dict[str, str]:
    """Every document's writer and words."""
    return {
        f"{level} {row['id']}": f"{row['writer']} {row['text_hash']}"
        for level in Level
        for row in workspace.tables.read(
            f"texts_{level}", workspace.key, columns=["id", "writer", "text_hash"]
        ).to_pylist()
    }


def check_caps(folder: Path, seed: int) -> None:
    """One random tree, random caps, and in every third case edits between the runs."""
    chance = random.Random(seed)
    files = tree(chance)
    edits = chance.randrange(1, 3) if seed % 3 == 0 else 0
    requests: Counter[str] = Counter()
    with shop(folder, files) as found:
        before: Run | None = None
        for _ in range(200):
            most = chance.randrange(1, 9)
            usd = MOST_USD_A_CALL * chance.uniform(1, 4) if chance.random() < 0.5 else None
            now = run(found, "home", max_summaries_per_run=most, max_cost_usd_per_run=usd)
            requests.update(now.requests)
            assert len(now.requests) <= most
            assert usd is None or now.spent <= usd
            if before is not None:
                assert now.left <= before.left
            if now.left and len(now.requests) < most:
                assert usd is not None, "work is left and allowance is left"
                assert usd - now.spent < MOST_USD_A_CALL, "one more call would have fitted"
            before = now
            if edits and chance.random() < 0.5:
                edits, before = edits - 1, None
                files = edited(files, chance)
                found.repo.commit_exactly(files)
            elif not now.left:
                break
        assert before is not None
        assert before.left == 0
        assert max(requests.values(), default=1) == 1, "paid twice for the same"
        whole = run(found, "clean")
        assert now.texts == whole.texts
        assert set(whole.requests) <= set(requests)
        if seed % 3:
            assert set(whole.requests) == set(requests)


QUICK, ALL = 2, 102


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.slow), *range(1, QUICK)])
def test_capped_runs_ask_for_what_one_whole_run_asks_for_each_of_it_once(tmp_path: Path, seed: int) -> None:
    check_caps(tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(QUICK, ALL, 20))
def test_in_a_hundred_random_cases_caps_cost_nothing_and_lose_nothing(tmp_path: Path, first: int) -> None:
    for seed in range(first, min(first + 20, ALL)):
        check_caps(tmp_path / str(seed), seed)
