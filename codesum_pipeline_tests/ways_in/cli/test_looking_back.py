"""`codesum intent test`: what an intent would have matched."""

import json
from pathlib import Path

import pytest

from codesum_pipeline_tests.ways_in.cli.terminal import on_a_terminal


def test_a_text_is_tried_before_anybody_writes_it_down(codesum, shop: Path) -> None:
    tried = codesum(shop, "intent", "test", "--text", "anything about charging a card")

    assert tried.exit_code == 0
    lines = tried.stdout.splitlines()
    assert lines[0].split()[1:] == ["2026-01-01", "change"]
    assert any(line.endswith(" added shop/payment.py::charge_card") for line in lines[1:])
    assert lines[-1].startswith("text: ") and lines[-1].endswith(" of 1 commit of shop, threshold 0.6")
    assert not (shop / "intents.yaml").exists()


def test_an_intent_is_tried_with_its_own_threshold_or_another(codesum, own_shop: Path) -> None:
    codesum(own_shop, "intent", "add", "cards", "charging of cards", "--threshold", "0.5", "--repo", "sh*")
    own = json.loads(codesum(own_shop, "intent", "test", "cards", "--json").stdout)
    high = json.loads(codesum(own_shop, "intent", "test", "cards", "--threshold", "1", "--json").stdout)

    assert (own["intent"], own["repo"], own["threshold"], own["top_k"]) == ("cards", "shop", 0.5, None)
    (commit,) = own["commits"]
    assert all(document["score"] >= 0.5 for document in commit["matched"])
    assert all(document["score"] < 0.5 for document in commit["others"])
    assert high["threshold"] == 1 and high["commits"][0]["matched"] == []
    assert len(high["commits"][0]["others"]) == len(commit["matched"]) + len(commit["others"])


def test_what_is_asked_wrongly_is_said(codesum, shop: Path) -> None:
    def complaint(*arguments: str) -> str:
        failed = codesum(shop, "intent", "test", *arguments)
        assert failed.exit_code == 2
        return str(failed.stderr)

    assert 'give the NAME of an intent, or --text "…"' in complaint()
    assert 'give the NAME of an intent, or --text "…"' in complaint("cards", "--text", "cards")
    assert "no intent 'cards'" in complaint("cards")
    assert "threshold = 1.5" in complaint("--text", "cards", "--threshold", "1.5")
    assert "no repository 'market'" in complaint("--text", "cards", "--repo", "market")


@pytest.mark.parametrize("width", [40, 80, 140])
def test_it_is_readable_on_a_terminal(shop: Path, tmp_path: Path, width: int) -> None:
    lines = on_a_terminal("--home", shop, "intent", "test", "--text", "charging a card", cwd=tmp_path, width=width)

    assert all(len(line) <= width for line in lines)
    assert "0.6" in " ".join(lines) and "shop/payment.py::charge_card" in "".join(line.strip() for line in lines)
