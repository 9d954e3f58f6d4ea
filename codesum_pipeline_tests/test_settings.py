from pathlib import Path

import pytest

from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.model.options import FilterOptions
from codesum_pipeline.settings import find_home, load_settings


def test_flags_outrank_the_environment_which_outranks_the_file_which_outranks_defaults(tmp_path: Path) -> None:
    (tmp_path / "codesum.toml").write_text(
        "top_k_callers = 1\ntop_k_callees = 1\nmax_file_size_mb = 9\n[filter]\nmin_lines = 7\n"
    )
    environ = {"CODESUM_TOP_K_CALLERS": "2", "CODESUM_TOP_K_CALLEES": "2", "CODESUM_FILTER__MIN_COMPLEXITY": "4"}

    found = load_settings({"home": tmp_path, "top_k_callers": 3}, environ=environ)

    assert (found.top_k_callers, found.top_k_callees, found.max_file_size_mb) == (3, 2, 9)
    assert found.options.filter == FilterOptions(min_lines=7, min_complexity=4)


def test_the_defaults_are_those_of_the_specification(tmp_path: Path) -> None:
    found = load_settings({"home": tmp_path}, environ={})

    assert found.summary_embed_max_tokens == 512
    assert found.top_k_callers == 5
    assert found.options.filter == FilterOptions(3, 2, ("^get_", "^set_", "^__.*__$"))


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
        ("", {"CODESUM_FILTER__SKIP_PATTERNS": '["("]'}, r"'\(' is not a regular expression"),
        ("top_k_callers = ", {}, "codesum.toml: not valid TOML"),
        ("home = '/x'", {}, "'home' cannot be set in a file inside the home"),
    ],
    ids=["typo", "nested typo", "typo in the environment", "type", "regular expression", "not TOML", "home"],
)
def test_a_wrong_setting_names_key_value_and_way_out(
    tmp_path: Path, file: str, environ: dict[str, str], message: str
) -> None:
    (tmp_path / "codesum.toml").write_text(file)

    with pytest.raises(ConfigurationError, match=message):
        load_settings({"home": tmp_path}, environ=environ)


def test_the_home_is_the_nearest_folder_of_that_name_upward(tmp_path: Path) -> None:
    (tmp_path / ".codesum").mkdir()
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)

    assert find_home(below) == tmp_path / ".codesum"


def test_the_environment_names_the_home_and_the_settings_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("offline = true")
    environ = {"CODESUM_HOME": str(tmp_path / "home"), "CODESUM_SETTINGS_FILE": str(tmp_path / "mine.toml")}

    found = load_settings({}, environ=environ)

    assert (found.home, found.offline) == (tmp_path / "home", True)
