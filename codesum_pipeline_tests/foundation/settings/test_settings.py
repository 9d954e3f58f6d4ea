from pathlib import Path

import pytest

from codesum_pipeline.builds.codesum_home.home_folders import record_home
from codesum_pipeline.builds.codesum_home.settings_loading import find_home, load_settings
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.foundation.settings.marks import SettingsGroup, marked_settings
from codesum_pipeline.foundation.settings.operation_settings import CheckSettings
from codesum_pipeline.foundation.settings.stage_settings import STEPS_PER_BYTE, FilterSettings
from codesum_pipeline.foundation.store.workspace import hashes_of_entry, hashes_of_settings
from codesum_pipeline_tests.support.settings import DEFAULTS, changed


def test_flags_outrank_the_environment_which_outranks_the_file_which_outranks_defaults(tmp_path: Path) -> None:
    (tmp_path / "codesum.toml").write_text(
        "top_k_callers = 1\ntop_k_callees = 1\nmax_file_size_mb = 9\n[filter]\nmin_lines = 7\n"
    )
    environ = {"CODESUM_TOP_K_CALLERS": "2", "CODESUM_TOP_K_CALLEES": "2", "CODESUM_FILTER__MIN_COMPLEXITY": "4"}

    found = load_settings({"home": tmp_path, "top_k_callers": 3}, environ=environ)

    assert (found.top_k_callers, found.top_k_callees, found.max_file_size_mb) == (3, 2, 9)
    assert found.filter == FilterSettings(min_lines=7, min_complexity=4)


def test_the_defaults_are_those_of_the_specification(tmp_path: Path) -> None:
    found = load_settings({"home": tmp_path}, environ={})

    assert found.summary_embed_max_tokens == 512
    assert found.top_k_callers == 5
    assert found.filter == FilterSettings(min_lines=3, min_complexity=2, skip_patterns=("^get_", "^set_", "^__.*__$"))


@pytest.mark.parametrize(
    ("file", "environ", "message"),
    [
        (
            "tok_k_callers = 1",
            {},
            "codesum.toml: unknown setting 'tok_k_callers'; the nearest known key is 'top_k_callers'",
        ),
        (
            "[filter]\nmin_line = 1",
            {},
            "unknown setting 'filter.min_line'; the nearest known key is 'filter.min_lines'",
        ),
        (
            "",
            {"CODESUM_EMBEDER": "x"},
            "the environment: unknown setting 'embeder'; the nearest known key is 'embedder'",
        ),
        ("top_k_callers = 'many'", {}, "setting 'top_k_callers' = 'many': Input should be a valid integer"),
        ("", {"CODESUM_LLM__BACKEND": "replay"}, "backend = 'replay' needs a folder: set llm.recording"),
        ("", {"CODESUM_FILTER__SKIP_PATTERNS": '["("]'}, r"'\(' is not a regular expression"),
        ('[checks]\nbehind_hours_of = {"pay ments" = 1}', {}, "'pay ments' is no pattern of repositories' keys"),
        ('[checks]\nbehind_hours_of = {"!shop" = 1}', {}, "every pattern excludes"),
        ('[checks]\nbehind_hours_of = {"shop" = 0}', {}, "should be greater than 0"),
        ('[metrics]\nexporters = ["statsd"]', {}, "Input should be 'prometheus' or 'otlp'"),
        ("", {"CODESUM_METRICS__EXPORTERS": "prometheus"}, "CODESUM_METRICS__EXPORTERS"),
        (
            "[serving]\ntrusted_proxies = ['here']\n",
            {},
            r"trusted_proxies\.0' .*by CODESUM_SERVING__TRUSTED_PROXIES or",
        ),
        ("top_k_callers = ", {}, "codesum.toml: not valid TOML"),
        ("home = '/x'", {}, "'home' cannot be set in a file inside the home"),
    ],
    ids=[
        "typo",
        "nested typo",
        "typo in the environment",
        "type",
        "recording",
        "regular expression",
        "target of no pattern",
        "target that excludes",
        "target of no time",
        "exporter",
        "exporter without brackets",
        "an element of a list",
        "not TOML",
        "home",
    ],
)
def test_a_wrong_setting_names_key_value_and_way_out(
    tmp_path: Path, file: str, environ: dict[str, str], message: str
) -> None:
    (tmp_path / "codesum.toml").write_text(file)

    with pytest.raises(ConfigurationError, match=message):
        load_settings({"home": tmp_path}, environ=environ)


def test_a_setting_that_does_not_say_whether_an_index_depends_on_it_is_an_error() -> None:
    class Forgetful(SettingsGroup):
        depth: int = 3

    with pytest.raises(TypeError, match=r"Forgetful\.depth has no mark"):
        list(marked_settings(Forgetful()))


def test_a_fingerprint_covers_what_shapes_an_index(tmp_path: Path) -> None:
    shaping = Settings(home=tmp_path).shaping()
    by_model = changed(DEFAULTS, llm={"enabled": True}).shaping()

    assert shaping == {
        "hash_policy": "canonical",
        "scan": {
            "offline": False, "lang_allowlist": (), "skip_patterns": (), "encodings": (), "max_file_size_mb": 1.0,
            "max_steps_per_byte": STEPS_PER_BYTE,
        },
        "graph": {"top_k_callers": 5, "top_k_callees": 5},
        "filter": {"min_lines": 3, "min_complexity": 2, "skip_patterns": ("^get_", "^set_", "^__.*__$")},
        "index": {
            "embedder": "static", "embedder_api_base": None, "summary_embed_max_tokens": 512,
        },
    }  # fmt: skip
    assert by_model == shaping | {
        "graph": shaping["graph"] | {"policy": "threshold", "similarity_threshold": 0.8, "max_new_callers": 5},
        "llm": {
            "enabled": True, "model": "", "fallback_models": (), "max_attempts": 3, "max_tokens": 2048, "form": "auto",
            "trust": "off", "tests": False, "documented": False, "language": "English",
        },
    }  # fmt: skip


def test_no_hash_of_where_something_is_travels_with_an_index() -> None:
    entry = RepositoryEntry("shop", "https://git.internal/shop.git", exclude=("docs/",))
    names = {*hashes_of_settings(changed(DEFAULTS, llm={"enabled": True})), *hashes_of_entry(entry)}

    assert {"top_k_callers", "llm.model", "exclude of its entry"} <= names
    assert not [name for name in names if "location" in name or "api_base" in name]


def test_paths_of_the_settings_begin_at_the_home(tmp_path: Path) -> None:
    values = {"repos_file": "/elsewhere/repos.yaml", "llm": {"recording": "answers"}}
    found = load_settings({"home": tmp_path, **values}, environ={"HOME": "/unused"})

    assert (found.repos_file, found.llm.recording) == (Path("/elsewhere/repos.yaml"), tmp_path / "answers")
    assert (found.prompts_dir, found.digests.intents_file) == (tmp_path / "prompts", tmp_path / "intents.yaml")


def test_the_home_is_the_nearest_folder_of_that_name_upward(tmp_path: Path) -> None:
    (tmp_path / ".codesum").mkdir()
    record_home(tmp_path / ".codesum")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)

    assert find_home(below) == tmp_path / ".codesum"


def test_the_environment_names_the_home_and_the_settings_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("offline = true")
    environ = {"CODESUM_HOME": str(tmp_path / "home"), "CODESUM_SETTINGS_FILE": str(tmp_path / "mine.toml")}

    found = load_settings({}, environ=environ)

    assert (found.home, found.offline) == (tmp_path / "home", True)


@pytest.mark.parametrize(
    ("variable", "text", "key", "value"),
    [
        ("CODESUM_LLM__FALLBACK_MODELS", '["a/b", "c"]', "llm.fallback_models", ("a/b", "c")),
        ("CODESUM_SKIP_PATTERNS", ' ["x*", "y\\u00e9"]\n', "skip_patterns", ("x*", "y\u00e9")),
        ("CODESUM_SKIP_PATTERNS", "[]", "skip_patterns", ()),
        ("CODESUM_SKIP_PATTERNS", "['x', 'y',]", "skip_patterns", ("x", "y")),
        ("CODESUM_LLM__ECHOED_NAMES", '{"own.1": "openai/own"}', "llm.echoed_names", {"own.1": "openai/own"}),
        ("CODESUM_FILTER", '{"min_lines": 9}', "filter.min_lines", 9),
        ("CODESUM_LLM__LANGUAGE", "[Latin]", "llm.language", "[Latin]"),
    ],
    ids=["a list", "spaces and escapes", "an empty list", "a list in TOML", "a table", "a group", "a text"],
)  # fmt: skip
def test_an_environment_variable_takes_a_list_or_table_as_json(
    tmp_path: Path, variable: str, text: str, key: str, value: object
) -> None:
    found: object = load_settings({"home": tmp_path}, environ={variable: text})
    for part in key.split("."):
        found = getattr(found, part)

    assert found == value


def test_prices_of_models_are_given_in_the_environment(tmp_path: Path) -> None:
    environ = {"CODESUM_LLM__PRICES": '[{"model": "openai/own", "input": 0.5, "output": 1}]'}

    (price,) = load_settings({"home": tmp_path}, environ=environ).llm.prices

    assert (price.model, price.input, price.output, price.cached_input) == ("openai/own", 0.5, 1.0, None)


def test_one_key_of_a_group_outranks_the_group_given_whole(tmp_path: Path) -> None:
    environ = {"CODESUM_FILTER": '{"min_lines": 9, "min_complexity": 4}', "CODESUM_FILTER__MIN_LINES": "7"}

    found = load_settings({"home": tmp_path}, environ=environ)

    assert (found.filter.min_lines, found.filter.min_complexity) == (7, 4)


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        (
            {"CODESUM_LLM__FALLBACK_MODELS": '["sk-secret" "b"]'},
            r"^CODESUM_LLM__FALLBACK_MODELS: begins like a list and is not valid JSON: Expecting ',' delimiter: line 1",
        ),
        ({"CODESUM_LLM__ECHOED_NAMES": '{"sk-secret"}'}, "CODESUM_LLM__ECHOED_NAMES: begins like a table and is not"),
        ({"CODESUM_SKIP_PATTERNS": "[" * 100_000}, "CODESUM_SKIP_PATTERNS: begins like a list .* nested deeper"),
        ({"CODESUM_SKIP_PATTERNS": "x"}, "a list or table, in CODESUM_SKIP_PATTERNS as JSON"),
        ({"CODESUM_FILTER": '{"min_line": 9}'}, "unknown setting 'filter.min_line'; the nearest known key is"),
        (
            {"CODESUM_FILTER": "9", "CODESUM_FILTER__MIN_LINES": "7"},
            "CODESUM_FILTER is also set, and not to a table: remove one of the two",
        ),
    ],
    ids=["list", "table", "depth", "no JSON", "unknown key", "two kinds"],
)
def test_broken_json_in_the_environment_names_the_variable_and_the_fault_and_not_the_value(
    tmp_path: Path, environ: dict[str, str], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message) as raised:
        load_settings({"home": tmp_path}, environ=environ)

    assert "sk-secret" not in str(raised.value)


def test_the_first_pattern_that_fits_says_how_long_an_index_may_be_behind() -> None:
    checks = CheckSettings(behind_hours=24.0, behind_hours_of={"pay-web": 8.0, "pay-*": 1.0, "acme/*": 72.0})

    asked = (("pay-web", None), ("pay-api", "acme/pay"), ("shop", "acme/shop"), ("shop", None))
    found = [checks.hours_behind(*names) for names in asked]

    assert found == [8.0, 1.0, 72.0, 24.0]
