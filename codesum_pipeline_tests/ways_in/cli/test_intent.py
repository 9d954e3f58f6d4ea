"""Standing questions are added, listed and removed from the command line."""

import json
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.moments import utc_now
from codesum_pipeline.notifications.digests.digest_store import open_digests
from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.digest_making import match
from codesum_pipeline_tests.ways_in.cli.terminal import fork_on_a_terminal

CHANNEL = (
    '[delivery.channels.team]\nkind = "webhook"\nurl = "https://hooks.example.com/x"\nsecret_env = "HOOK_SECRET"\n'
)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a channel and two repositories, of which nothing is read."""
    monkeypatch.setenv("HOOK_SECRET", "s3cret")
    made = tmp_path / "home"
    made.mkdir()
    (made / "codesum.toml").write_text(CHANNEL)
    (made / "repos.yaml").write_text("repositories:\n  shop-web: {path: .}\n  auth: {path: .}\n")
    return made


def rows(result) -> list[dict]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_an_intent_with_every_field_is_added_and_listed(codesum, home):
    added = codesum(
        home, "intent", "add", "login", "How users log in", "--repo", "shop-*", "--repo", "auth", "--top-k", "7",
        "--every", "weekly", "--on", "friday", "--at", "18:30", "--timezone", "Europe/Berlin", "--language", "de",
        "--channel", "team", "--system", "default", "--instruction", "default", "--disabled", "--json",
    )  # fmt: skip
    listed = codesum(home, "intent", "list", "--json")

    assert (added.exit_code, listed.exit_code) == (0, 0)
    assert rows(added) == rows(listed) == [
        {
            "name": "login",
            "text": "How users log in",
            "repositories": ["shop-*", "auth"],
            "threshold": None,
            "top_k": 7,
            "schedule": {"every": "weekly", "on": "friday", "at": "18:30", "timezone": "Europe/Berlin"},
            "language": "German",
            "channels": ["team"],
            "enabled": False,
            "system": "default",
            "instruction": "default",
            "next_due": None,
            "errors": [],
            "warnings": [],
        }
    ]  # fmt: skip


def test_what_happens_next_is_said(codesum, home):
    built = codesum(home, "intent", "add", "login", "How users log in", "--repo", "shop-*", "--channel", "team")
    weekly = codesum(home, "intent", "add", "pay", "Billing", "--every", "weekly", "--timezone", "Asia/Tokyo")
    off = codesum(home, "intent", "add", "later", "Later", "--disabled", "--repo", "shp-*")

    assert built.stdout == (
        f"login: added to {home}/intents.yaml\n"
        "a digest with each build that changes something about it; it looks at 1 of 2 registered repositories, "
        "from their next builds on\nnext: codesum intent test login\n"
    )
    assert "a digest each monday at 07:00 Asia/Tokyo, first on 20" in weekly.stdout
    assert "note: has no channel: its digests are kept and sent to nobody" in weekly.stderr
    assert "it is off" in off.stdout
    assert "note: no registered repository fits 'shp-*'; the nearest is 'shop-web'" in off.stderr


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--channel", "tema"), "'x': no channel 'tema' in delivery.channels: the nearest is 'team'"),
        (("--system", "gone"), "'x': there is no template digest_system/gone; there are: default"),
        (("--instruction", "gone"), "'x': there is no template digest_instruction/gone; there are: default"),
        (("--language", "Germn"), "'x': language = 'Germn': unknown language; the nearest is 'German'"),
        (("--threshold", "1.5"), "'x': threshold = 1.5: Input should be less than or equal to 1"),
        (("--threshold", "0.5", "--top-k", "3"), "'x': threshold and top_k are both set: keep one of them"),
        (("--at", "07:00"), "'x': 'at' and 'timezone' go with daily and weekly, not with build: remove them"),
        (("--every", "daily", "--on", "monday"), "'x': 'on' goes with weekly, not with daily: remove it"),
        (("--every", "daily", "--timezone", "Berlin"), "unknown time zone; the nearest is 'Europe/Berlin'"),
        (("--repo", ""), "'x': repositories = ['']: '' is empty or occurs twice: remove it"),
    ],
)
def test_what_could_not_be_used_is_refused_and_nothing_is_written(codesum, home, options, problem):
    refused = codesum(home, "intent", "add", "x", "Anything", *options)

    assert refused.exit_code == 2
    assert problem in refused.stderr
    assert not (home / "intents.yaml").exists()


def test_a_history_template_is_refused_unless_the_intent_is_off(codesum, home):
    codesum(home, "prompts", "save", "digest_instruction", "months", "-", stdin="{intent_text} {history}")

    refused = codesum(home, "intent", "add", "x", "Anything", "--instruction", "months")
    off = codesum(home, "intent", "add", "x", "Anything", "--instruction", "months", "--disabled")

    message = "template digest_instruction/months has {history}, which only a roll-up can fill: no digest is written"
    assert (refused.exit_code, off.exit_code) == (2, 0)
    assert message in refused.stderr and message in off.stderr


def test_what_is_missing_later_is_listed_with_the_intent_and_the_others_stay_ready(codesum, home, monkeypatch):
    codesum(home, "prompts", "save", "digest_system", "ours", "-", stdin="{language}")
    codesum(home, "intent", "add", "a", "Anything", "--channel", "team", "--system", "ours")
    codesum(home, "intent", "add", "b", "Anything")
    (home / "prompts" / "digest_system" / "ours.md").unlink()
    monkeypatch.delenv("HOOK_SECRET")
    with (home / "intents.yaml").open("a") as file:
        file.write("  broken: {text: t, top_k: 0}\n")

    listed = codesum(home, "intent", "list", "--json")
    first, second, broken = rows(listed)

    assert listed.exit_code == 2
    assert first["errors"] == ["there is no template digest_system/ours; there are: default, default-history"]
    assert first["warnings"] == [
        "channel 'team' has no secret: the environment variable HOOK_SECRET is empty or not set"
    ]
    assert second["errors"] == []
    assert broken["errors"][0].startswith("intents.yaml:") and "top_k = 0" in broken["errors"][0]
    assert codesum(home, "intent", "list").stdout.splitlines()[0].split() == [
        "intent", "about", "repositories", "fits", "digest", "next", "channels", "state",
    ]  # fmt: skip


def test_a_removed_intent_is_gone_and_its_digests_are_said_to_stay(codesum, home):
    codesum(home, "intent", "add", "login", "How users log in")

    missed = codesum(home, "intent", "remove", "logn")
    removed = codesum(home, "intent", "remove", "login")
    nothing = codesum(home, "intent", "list")

    assert (missed.exit_code, "no intent 'logn'; the nearest is 'login'" in missed.stderr) == (2, True)
    assert removed.exit_code == 0
    assert "its digests are kept: `codesum digest list --intent login`" in removed.stdout
    assert (nothing.exit_code, "there are no intents: `codesum intent add NAME TEXT`" in nothing.stderr) == (0, True)


def test_what_waited_for_a_removed_intent_is_forgotten(codesum, home):
    codesum(home, "intent", "add", "login", "How users log in")
    with open_digests(home / "digests.sqlite", now=utc_now) as store:
        store.add_matches([match("one", "two", intent="login"), match("one", "two", intent="billing")])

        removed = codesum(home, "intent", "remove", "login")

        assert store.count_pending() == {"billing": 1}
    assert "forgotten: 1 change that waited for its next digest" in removed.stdout


def test_a_file_that_cannot_be_read_is_named_with_its_line(codesum, home):
    (home / "intents.yaml").write_text("intents: {a: {text: t}\n")

    for arguments in (("list",), ("add", "x", "Anything"), ("remove", "a")):
        called = codesum(home, "intent", *arguments)
        assert called.exit_code == 2
        assert "intents.yaml:2: not valid YAML" in called.stderr


def test_names_and_texts_with_escapes_reach_no_terminal(codesum, home):
    (home / "intents.yaml").write_text(
        'intents:\n  "\\e]0;owned\\a": {text: t}\n  a: {text: "b\\u202Ec", channels: ["\\e[2J"]}\n'
    )

    shown = codesum(home, "intent", "list")
    as_json = codesum(home, "intent", "list", "--json")

    assert "\x1b" not in shown.stdout + shown.stderr + as_json.stdout
    assert "\u202e" not in shown.stdout + as_json.stdout
    assert codesum(home, "intent", "remove", "\x1b[2J").stderr.count("\x1b") == 0


@pytest.mark.parametrize("width", [40, 140])
def test_intents_are_readable_on_a_terminal_of_any_width(home, width):
    fork_codesum("--home", home, "intent", "add", "login", "How users log in, and what tokens may do", cwd=home)

    shown = fork_on_a_terminal("--home", home, "intent", "list", cwd=home, width=width)

    assert shown.exit_code == 0
    assert max(map(len, shown.lines())) <= width
    words = " ".join(" ".join(shown.lines()).split())
    assert all(word in words for word in ("login", "log in", "with each build", "no channel"))


def test_a_shell_completes_the_names_of_intents_also_of_broken_ones(home):
    (home / "intents.yaml").write_text("intents:\n  login: {text: t}\n  logs: {txt: t}\n  pay: {text: t}\n")
    words = f"codesum --home {home} intent remove lo"

    completed = fork_codesum(
        cwd=home, env={"_CODESUM_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": "5"}
    )

    assert completed.stdout.split() == ["login", "logs"]
