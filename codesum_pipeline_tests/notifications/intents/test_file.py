"""intents.yaml: what it may say, what is said of what it may not, and what changes leave alone."""

import multiprocessing
import re
from datetime import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.standing_question import (
    DEFAULT_THRESHOLD,
    Cadence,
    Intent,
    IntentSchedule,
    Weekday,
)
from codesum_pipeline.notifications.intents.intent_fields import IntentData
from codesum_pipeline.notifications.intents.intents_file import Intents

BILLING = Intent(name="billing", text="Anything that changes what a customer pays", threshold=DEFAULT_THRESHOLD)
LOGIN = Intent(
    name="login",
    text="How we authenticate\n\nTokens, too: # and sessions",
    repositories=("shop-*", "auth"),
    top_k=5,
    schedule=IntentSchedule(Cadence.WEEKLY, time(10, 30), Weekday.FRIDAY, "Europe/Berlin"),
    system_template="ours",
    instruction_template="short",
    language="Norwegian",
    channels=("team", "ops"),
    enabled=False,
)
BY_HAND = """# What we want to hear of.
intents:
    # Asked for by finance.
    billing:
        text: "Anything: what a customer pays"   # the whole of it
        system: ours
    # Asked for by nobody.
    login: {text: How we authenticate}
    last:
        text: |
          Several lines
          # and no comment
# The end.
"""


@pytest.fixture
def intents(tmp_path: Path) -> Intents:
    return Intents(tmp_path / "home" / "intents.yaml")


def write(intents: Intents, text: str | bytes) -> Intents:
    intents.file.parent.mkdir(parents=True, exist_ok=True)
    intents.file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return intents


def problems(intents: Intents) -> dict[str, str]:
    return {name: str(error) for name, error in intents.survey().problems.items()}


def test_a_missing_or_empty_file_has_no_intents(intents: Intents) -> None:
    for text in (None, "", "# nothing yet\n", "intents:\n", "intents: {}\n"):
        if text is not None:
            write(intents, text)
        assert (intents.survey().intents, intents.survey().problems) == ((), {})


def test_an_intent_comes_back_as_it_was_added(intents: Intents) -> None:
    for intent in (LOGIN, BILLING):
        assert intents.add(intent) == intent

    assert intents.survey().intents == (BILLING, LOGIN)
    assert intents.get("login") == LOGIN
    assert "threshold" not in intents.file.read_text(), "the default is followed, not frozen"


def test_all_fields_are_read_as_a_person_writes_them(intents: Intents) -> None:
    write(
        intents,
        "intents:\n  login:\n    text: |\n      How we authenticate\n\n      Tokens, too: # and sessions\n"
        "    repositories: [shop-*, auth]\n    top_k: 5\n"
        "    schedule: {every: weekly, on: friday, at: 10:30, timezone: Europe/Berlin}\n    system: ours\n"
        "    instruction: short\n    language: no\n    channels: [team, ops]\n    enabled: false\n",
    )

    assert intents.survey().intents == (LOGIN,)


@pytest.mark.parametrize(
    ("schedule", "meant"),
    [
        ("build", IntentSchedule()),
        ("daily", IntentSchedule(Cadence.DAILY)),
        ("weekly", IntentSchedule(Cadence.WEEKLY)),
        ("{every: daily, at: '23:59'}", IntentSchedule(Cadence.DAILY, time(23, 59))),
        ("{every: weekly, on: sunday}", IntentSchedule(Cadence.WEEKLY, weekday=Weekday.SUNDAY)),
        ("{every: build}", IntentSchedule()),
    ],
)
def test_a_schedule_is_a_word_or_a_mapping(intents: Intents, schedule: str, meant: IntentSchedule) -> None:
    assert write(intents, f"intents: {{a: {{text: t, schedule: {schedule}}}}}").get("a").schedule == meant


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ("", "'bad': has no fields: give it a text"),
        ("[1]", "'bad': has no fields: give it a text"),
        ("{threshold: 0.5}", "'bad': lacks 'text'"),
        ("{text: ''}", "'bad': text = '': it is empty: write what you want to be told about"),
        ("{text: 1}", "'bad': text = 1: Input should be a valid string"),
        ('{text: "\\e[31mred"}', r"'bad': text = '\x1b[31mred': it has control characters: remove them"),
        ("{text: t, treshold: 1}", "'bad': unknown field 'treshold'; the nearest is 'threshold'"),
        ("{text: t, threshold: 1.5}", "'bad': threshold = 1.5: Input should be less than or equal to 1"),
        ("{text: t, threshold: -1}", "'bad': threshold = -1: Input should be greater than or equal to 0"),
        ("{text: t, threshold: .nan}", "'bad': threshold = nan: Input should be a finite number"),
        ("{text: t, threshold: high}", "'bad': threshold = 'high': Input should be a valid number"),
        ("{text: t, top_k: 0}", "'bad': top_k = 0: Input should be greater than or equal to 1"),
        ("{text: t, top_k: 2.5}", "'bad': top_k = 2.5: Input should be a valid integer"),
        ("{text: t, top_k: true}", "'bad': top_k = True: Input should be a valid integer"),
        ("{text: t, top_k: 3, threshold: 0.1}", "'bad': threshold and top_k are both set: keep one of them"),
        ("{text: t, repositories: flask}", "'bad': repositories = 'flask': Input should be a valid list"),
        ("{text: t, repositories: []}", "'bad': repositories = []: it names no repository: leave it out for all"),
        ("{text: t, channels: [a, a]}", "'bad': channels = ['a', 'a']: 'a' is empty or occurs twice: remove it"),
        ("{text: t, system: ../x}", "'bad': system = '../x': template name '../x': use up to 100 letters"),
        ("{text: t, language: Germn}", "'bad': language = 'Germn': unknown language; the nearest is 'German'"),
        ("{text: t, enabled: yes}", "'bad': enabled = 'yes': Input should be a valid boolean"),
        (
            "{text: t, schedule: hourly}",
            "'bad': schedule.every = 'hourly': Input should be 'build', 'daily' or 'weekly'",
        ),
        ("{text: t, schedule: 5}", "'bad': schedule = 5: Input should be"),
        ("{text: t, schedule: {on: monday}}", "'bad': lacks 'schedule.every'"),
        ("{text: t, schedule: {every: daily, on: monday}}", "'bad': 'on' goes with weekly, not with daily: remove it"),
        ("{text: t, schedule: {every: build, at: '07:00'}}", "'bad': 'at' and 'timezone' go with daily and weekly"),
        ("{text: t, schedule: {every: weekly, on: mon}}", "'bad': schedule.on = 'mon': Input should be 'monday', "),
        ("{text: t, schedule: {every: daily, at: 7am}}", "'bad': schedule.at = '7am': write hours and minutes"),
        ("{text: t, schedule: {every: daily, at: '24:00'}}", "'bad': schedule.at = '24:00': write hours and minutes"),
        ("{text: t, schedule: {every: daily, zone: UTC}}", "'bad': unknown field 'zone'; the nearest is 'timezone'"),
        (
            "{text: t, schedule: {every: daily, timezone: Europe/Berln}}",
            "'bad': schedule.timezone = 'Europe/Berln': unknown time zone; the nearest is 'Europe/Berlin'",
        ),
        ("{text: t, schedule: {every: daily, timezone: ../UTC}}", "'bad': schedule.timezone = '../UTC': unknown time"),
        ("{text: t, schedule: {every: daily, timezone: Europe}}", "'bad': schedule.timezone = 'Europe': unknown time"),
        ("{text: t, text: u}", "'bad': 'text' occurs twice, in lines 4 and 4: remove one"),
        ("!!python/object/apply:os.system [ls]", "'bad': cannot be read: could not determine a constructor"),
        ("{text: *a}", "'bad': not valid YAML: an alias (*a) is not read: write the value out"),
        ("{text: t", "'bad': not valid YAML: expected ',' or '}'"),
        ("{text: pay: all of it", "'bad': not valid YAML: "),
        (
            "\n    text: pay: all of it",
            "'bad': not valid YAML: mapping values are not allowed here: put the text into quotes",
        ),
        ("[" * 500, "'bad': not valid YAML: nested deeper than any intent is"),
        ("\n\ttext: t", "'bad': not valid YAML: found character '\\t' that cannot start any token"),
        ("\n    text: t\n   odd: 1", "'bad': not valid YAML: expected <block end>"),
        ('{text: "t}', "'bad': not valid YAML: found unexpected end of stream"),
        ("{text: \x1b[31m}", "'bad': not valid YAML: special characters are not allowed"),
    ],
)
def test_a_broken_entry_is_named_with_its_line_and_stops_no_other(intents: Intents, fields: str, problem: str) -> None:
    write(intents, f"intents:\n  first: {{text: a}}\n  # here\n  bad: {fields}\n  last:\n    text: b\n")

    assert [intent.name for intent in intents.survey().intents] == ["first", "last"]
    assert list(problems(intents)) == ["bad"]
    assert f": {problem}" in problems(intents)["bad"]
    assert problems(intents)["bad"].startswith(("intents.yaml:4: ", "intents.yaml:5: ", "intents.yaml:6: "))
    with pytest.raises(ConfigurationError, match="intents.yaml:"):
        intents.get("bad")


def test_the_line_is_that_of_the_field(intents: Intents) -> None:
    write(intents, "intents:\n  a:\n    text: t\n    channels: []\n    top_k: 0\n  b:\n    text: t\n    txt: u\n")

    assert problems(intents) == {
        "a": "intents.yaml:5: 'a': top_k = 0: Input should be greater than or equal to 1",
        "b": "intents.yaml:8: 'b': unknown field 'txt'; the nearest is 'text'",
    }


def test_an_endless_text_is_shown_short_and_stops_no_other(intents: Intents) -> None:
    write(intents, f"intents:\n  long:\n    text: {'x' * 300_000}\n  short:\n    text: t\n")

    assert [intent.name for intent in intents.survey().intents] == ["short"]
    assert "it has 300,000 characters; at most 4,000: shorten it" in problems(intents)["long"]
    assert len(problems(intents)["long"]) < 300


def test_two_intents_of_one_name_are_named_with_both_lines_and_neither_is_used(intents: Intents) -> None:
    write(intents, "intents:\n  a: {text: one}\n  b: {text: two}\n  a: {text: three}\n")

    assert [intent.name for intent in intents.survey().intents] == ["b"]
    assert problems(intents) == {"a": "intents.yaml:2: 'a': occurs twice, in lines 2 and 4: rename or remove one"}


@pytest.mark.parametrize("name", ['"\\e]0;title\\a"', "'a b'", "-a", '""', "a/b", "x" * 61, "[a, b]", "ä"])
def test_a_name_that_cannot_be_is_named_and_stops_no_other(intents: Intents, name: str) -> None:
    write(intents, f"intents:\n  ? {name}\n  : {{text: t}}\n  good: {{text: t}}\n")

    assert [intent.name for intent in intents.survey().intents] == ["good"]
    assert [
        message for message in problems(intents).values() if "intents.yaml:2: " in message and "\x1b" not in message
    ]


def test_a_name_of_digits_is_a_name(intents: Intents) -> None:
    assert write(intents, "intents:\n  404: {text: t}\n  on: {text: t}\n").get("404").text == "t"
    assert intents.get("on").name == "on"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n", r"intents.yaml:1: expected a mapping with the key 'intents'"),
        ("intents: [a]\n", r"intents.yaml:1: 'intents' is a mapping of names to intents"),
        ("intents: {a: {text: t}\n", r"intents.yaml:2: not valid YAML: "),
        (b"intents: {\xff: 1}\n", r"not valid YAML: it is not UTF-8"),
        ("a: b: c\n", r"intents.yaml:1: not valid YAML: mapping values are not allowed"),
    ],
)
def test_a_file_of_which_nothing_can_be_read_is_an_error(intents: Intents, text: str | bytes, message: str) -> None:
    write(intents, text)

    with pytest.raises(ConfigurationError, match=message):
        intents.survey()


def test_what_stands_beside_the_intents_is_named_and_stops_none(intents: Intents) -> None:
    write(intents, "intnts:\n  a: {text: t}\nintents:\n  b: {text: t}\nintents:\n  c: {text: t}\n")

    assert [intent.name for intent in intents.survey().intents] == ["b", "c"]
    assert problems(intents) == {
        "intnts": "intents.yaml:1: unknown key 'intnts'; the only one is 'intents'",
        "intents": "intents.yaml:5: 'intents' is in line 3 already: put all intents below one",
    }


def test_a_folder_in_its_place_is_named(intents: Intents) -> None:
    intents.file.mkdir(parents=True)

    with pytest.raises(ConfigurationError, match="is no file"):
        intents.survey()


def test_a_name_that_is_taken_is_refused_with_its_line(intents: Intents) -> None:
    write(intents, BY_HAND)

    with pytest.raises(ConfigurationError, match="intents.yaml:4: 'billing' is an intent already"):
        intents.add(BILLING)
    assert intents.file.read_text() == BY_HAND


def test_what_cannot_be_used_is_not_added(intents: Intents) -> None:
    def refuse(intent: Intent) -> None:
        raise ConfigurationError(f"no channel for {intent.name}")

    with pytest.raises(ConfigurationError, match=r"'billing': threshold = 3: Input should be less than"):
        intents.add(replace(BILLING, threshold=3))
    with pytest.raises(ConfigurationError, match="no channel for billing"):
        intents.add(BILLING, check=refuse)
    assert not intents.file.exists()


def test_adding_and_removing_leave_what_a_person_wrote(intents: Intents) -> None:
    write(intents, BY_HAND)

    intents.add(replace(BILLING, name="new"))
    assert intents.file.read_text() == BY_HAND + "    new:\n      text: Anything that changes what a customer pays\n"

    intents.remove("new")
    assert intents.file.read_text() == BY_HAND
    for name in ("last", "login"):
        intents.remove(name)
    assert intents.file.read_text() == BY_HAND.partition("    login")[0] + "# The end.\n"

    intents.remove("billing")
    assert (intents.survey().intents, intents.file.read_text().count("#")) == ((), 4)
    intents.add(BILLING)
    assert intents.survey().intents == (BILLING,)


@pytest.mark.parametrize(
    "text",
    ["intents: {a: {text: t}}\n", "intents:\n  a: {text: t}\n...\n", "---\nintents: {a: {text: t}, b: {text: u}}\n"],
    ids=["braces", "an end mark", "several in braces"],
)
def test_a_file_of_another_form_is_written_anew_and_loses_no_intent(intents: Intents, text: str) -> None:
    before = write(intents, text).survey().intents

    intents.add(BILLING)
    assert intents.survey().intents == (*before, BILLING)
    intents.remove("a")
    assert intents.survey().intents == (*before[1:], BILLING)


def test_windows_line_ends_and_a_missing_last_one_are_kept(intents: Intents) -> None:
    write(intents, b"# ours\r\nintents:\r\n  a:\r\n    text: t\r\n    system: x\r\n  b:\r\n    text: u")

    intents.rename_template("system", "x", "y")
    intents.add(BILLING)
    intents.remove("b")

    assert [intent.name for intent in intents.survey().intents] == ["a", "billing"]
    assert intents.file.read_bytes().startswith(b"# ours\r\nintents:\r\n  a:\r\n    text: t\r\n    system: y\r\n")


def test_a_broken_file_is_not_changed(intents: Intents) -> None:
    broken = "intents:\n  a: {text: t\n  b: {text: u}\n"
    write(intents, broken)

    with pytest.raises(
        ConfigurationError, match="intents.yaml is not changed while it is broken: line 3: not valid YAML"
    ):
        intents.add(BILLING)
    with pytest.raises(ConfigurationError, match="not changed while it is broken"):
        intents.remove("b")
    assert intents.file.read_text() == broken


def test_an_entry_that_cannot_be_used_is_kept_by_others_and_can_be_removed(intents: Intents) -> None:
    write(intents, "intents:\n  bad: {txt: t}\n")

    intents.add(BILLING)
    assert list(problems(intents)) == ["bad"]
    intents.remove("bad")
    assert (intents.survey().intents, problems(intents)) == ((BILLING,), {})


def test_an_unknown_name_names_the_nearest(intents: Intents) -> None:
    with pytest.raises(ConfigurationError, match=r"no intent 'billing'; `codesum intent add` adds one"):
        intents.remove("billing")
    intents.add(BILLING)

    for call in (intents.get, intents.remove):
        with pytest.raises(ConfigurationError, match="no intent 'Biling'; the nearest is 'billing'"):
            call("Biling")
        with pytest.raises(ConfigurationError, match="no intent 'quux'; `codesum intent list` lists them"):
            call("quux")


def test_renaming_a_template_changes_those_who_use_it_and_nothing_else(intents: Intents) -> None:
    write(intents, BY_HAND + "    off: {text: t, system: 'ours', enabled: false}\n    bad: {txt: t, system: ours}\n")

    assert intents.rename_template("system", "ours", "theirs") == ["bad", "billing", "off"]

    assert intents.file.read_text() == (
        BY_HAND.replace("system: ours", "system: theirs")
        + "    off: {text: t, system: theirs, enabled: false}\n    bad: {txt: t, system: theirs}\n"
    )
    assert intents.rename_template("system", "ours", "others") == []


def test_an_intent_that_names_no_template_uses_the_default_one(intents: Intents) -> None:
    write(intents, BY_HAND)

    assert intents.rename_template("instruction", "default", "ours") == ["billing", "last", "login"]

    assert {intent.instruction_template for intent in intents.survey().intents} == {"ours"}
    assert intents.file.read_text().count("#") == BY_HAND.count("#")
    assert "login: {instruction: ours, text: How we authenticate}" in intents.file.read_text()


def test_a_file_behind_a_link_is_changed_and_the_link_stays(intents: Intents, tmp_path: Path) -> None:
    intents.file.parent.mkdir()
    (tmp_path / "kept.yaml").write_text(BY_HAND)
    intents.file.symlink_to(tmp_path / "kept.yaml")

    intents.remove("login")

    assert intents.file.is_symlink()
    assert "login" not in (tmp_path / "kept.yaml").read_text()


def _add_many(file: Path, first: int) -> None:
    for number in range(first, first + 10):
        Intents(file).add(replace(BILLING, name=f"i{number}"))


def test_processes_that_add_at_once_lose_nothing(intents: Intents) -> None:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_add_many, args=(intents.file, first)) for first in (100, 200, 300)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)

    assert [process.exitcode for process in processes] == [0, 0, 0]
    names = [f"i{first + number}" for first in (100, 200, 300) for number in range(10)]
    assert [intent.name for intent in intents.survey().intents] == names


def test_globs_are_over_repository_keys() -> None:
    intent = replace(BILLING, repositories=("shop-*", "auth", "Gone"))

    assert [key for key in ("shop-web", "shop", "auth", "authz", "gone") if intent.covers(key)] == ["shop-web", "auth"]


def test_the_page_for_users_shows_a_file_that_is_read_and_lists_every_key(intents: Intents) -> None:
    page = (Path(__file__).parents[3] / "docs" / "intents.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```yaml\n(.*?)```", page, re.S)

    survey = write(intents, example).survey()
    listed = {key for line in re.findall(r"^\| (`.*?) \|", page, re.M) for key in re.findall(r"`(\w+)`", line)}

    assert ([intent.name for intent in survey.intents], survey.problems) == (["billing"], {})
    assert listed == set(IntentData.model_fields)
    assert f"| `threshold` | `{DEFAULT_THRESHOLD}` |" in page
