"""`repos.yaml` and `codesum.toml` as nobody meant them: the wrong entry is named, the others go on."""

import json
from pathlib import Path

import pytest

from codesum_pipeline_tests.builds.hostile.building import SOUND

BAD_ENTRIES = {
    "no fields": ("bad: null", "'bad': has no fields"),
    "a list": ("bad: [1, 2]", "'bad': has no fields"),
    "an unknown field": ("bad: {pathh: x}", "unknown field 'pathh'; the nearest is 'path'"),
    "neither path nor url": ("bad: {ref: main}", "give either a path or a url"),
    "a number for a path": ("bad: {path: 7}", "path = 7: Input should be a valid string (put it in quotes)"),
    "a value of a megabyte": ("bad: {path: [%s]}" % ("x" * 1_000_000), "Input should be a valid string"),
    "a helper": ("bad: {url: 'ext::sh -c x'}", "remote helpers are not used"),
    "an option": ("bad: {path: --upload-pack=x}", "not starting with '-'"),
    "a folder outside": ("bad: {path: ., subdir: ../x}", "is not a folder below the git root"),
    "a key with a slash": ("../bad: {path: .}", "repository key '../bad'"),
    "a key that is a number": ("7: {path: .}", "key 7 is not text: put it in quotes"),
    "a key that differs in case": ("Sound: {path: .}", "differs from 'sound' in case alone"),
    "terminal escapes": ('bad: {path: "\\e[31mred\\u202e"}', "give a path or a git URL"),
    "a password": ("bad: {url: 'http://u:hunter2secret@h/a'}", "http is not encrypted"),
}
BAD_FILES = {
    "billion laughs": (
        "a: &a [x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(50)) + "repositories: {}\n",
        "an alias (*a) is not read",
    ),
    "an alias to itself": ("repositories: &r {x: *r}\n", "an alias (*r) is not read"),
    "a Python tag": ("repositories: !!python/object/apply:os.system ['touch marker']\n", "not valid YAML"),
    "a key twice": ("repositories: {a: {path: .}, a: {path: /}}\n", "the key 'a' occurs twice"),
    "10,000 brackets": ("repositories: " + "[" * 10_000, "nested deeper than any registry is"),
    "a date that is none": ("repositories: {a: {path: 2026-13-45}}\n", "not valid YAML"),
    "not UTF-8": (b"repositories: {\xff\xfe: 1}\n", "not valid YAML"),
    "NULs": (b"\0\0\0", "not valid YAML"),
    "UTF-16": ("repositories: {}\n".encode("utf-16"), "not valid YAML"),
    "a list of entries": ("- path: .\n", "expected a mapping with the key 'repositories'"),
    "a tab": ("repositories:\n\tx: 1\n", "not valid YAML"),
    "20 MB": ("#" * 20_000_000, "larger than 16 MB"),
}
BAD_SETTINGS = {
    "10,000 brackets": ("x = " + "[" * 10_000, "nested deeper than any setting is"),
    "a number of 5,000 digits": ("keep_versions = " + "9" * 5_000, "codesum.toml: not valid TOML"),
    "endless": ("max_file_size_mb = inf", "setting 'max_file_size_mb' = inf"),
    "not a number": ("git_timeout_s = nan", "setting 'git_timeout_s' = nan"),
    "a key twice": ("offline = true\noffline = false", "codesum.toml: not valid TOML"),
    "a broken pattern": ("[filter]\nskip_patterns = ['(']", "'(' is not a regular expression"),
    "an unknown key": ("embeder = 'x'", "unknown setting 'embeder'; the nearest known key is 'embedder'"),
    "a home of its own": ("home = '/etc'", "'home' cannot be set in a file inside the home"),
    "not UTF-8": (b"offline = '\xff'", "codesum.toml: not valid TOML"),
    "terminal escapes": ('lang_allowlist = ["\\u001b[31mred"]', "unknown language"),
}


def write(file: Path, content: str | bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


@pytest.mark.parametrize(("entry", "message"), BAD_ENTRIES.values(), ids=BAD_ENTRIES)
def test_a_bad_entry_is_named_and_the_others_are_listed(
    git_repo, codesum, tmp_path: Path, entry: str, message: str
) -> None:
    path = git_repo({"a.py": SOUND}).path
    write(tmp_path / "home/repos.yaml", f"repositories:\n  sound: {{path: {path}}}\n  {entry}\n")

    listed = codesum(tmp_path / "home", "repos", "--json")

    assert [json.loads(line)["key"] for line in listed.stdout.splitlines()] == ["sound"]
    assert listed.stderr.startswith("codesum: left out: repos.yaml: ") and message in listed.stderr
    assert listed.stderr.strip().isprintable() and len(listed.stderr) < 400
    assert "hunter2secret" not in listed.stderr


@pytest.mark.slow
def test_a_bad_entry_stops_no_other_command(git_repo, codesum, tmp_path: Path) -> None:
    home, path = tmp_path / "home", git_repo({"a.py": SOUND}).path
    write(home / "repos.yaml", f"repositories:\n  bad: {{pathh: x}}\n  sound: {{path: {path}}}\n")

    indexed, searched, status, doctor, shown = (
        codesum(home, *call)
        for call in [("index",), ("search", "order total"), ("status",), ("doctor",), ("show", "a.py")]
    )

    assert (indexed.exit_code, searched.exit_code, status.exit_code, doctor.exit_code, shown.exit_code) == (
        1,
        0,
        0,
        1,
        0,
    )
    assert "sound" in indexed.stdout and "left out: repos.yaml: 'bad': unknown field 'pathh'" in indexed.stderr
    assert "a.py::order_total" in searched.stdout
    assert "correct the entry in" in doctor.stdout
    assert "1 repository in order: sound" in doctor.stdout


def test_a_bad_entry_stays_as_it_is_when_others_are_added(git_repo, codesum, tmp_path: Path) -> None:
    home, path = tmp_path / "home", git_repo({"a.py": SOUND}).path
    write(home / "repos.yaml", "repositories:\n  bad: {pathh: x}\n")

    added = codesum(home, "add", path, "--key", "sound")
    status = codesum(home, "status", "bad")

    assert added.exit_code == 0
    assert (home / "repos.yaml").read_text().count("pathh: x") == 1
    assert status.exit_code == 2 and "'bad': unknown field 'pathh'" in status.stderr


@pytest.mark.parametrize(("content", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_registry_that_cannot_be_read_is_an_error(
    codesum, tmp_path: Path, content: str | bytes, message: str
) -> None:
    file = write(tmp_path / "home/repos.yaml", content)

    refused = codesum(tmp_path / "home", "repos")

    assert refused.exit_code == 2
    assert refused.stderr.startswith(f"codesum: {file}: ") and message in refused.stderr
    assert refused.stderr.strip().isprintable()
    assert not (tmp_path / "marker").exists()


@pytest.mark.parametrize(("content", "message"), BAD_SETTINGS.values(), ids=BAD_SETTINGS)
def test_settings_that_cannot_be_are_an_error(
    git_repo, codesum, tmp_path: Path, content: str | bytes, message: str
) -> None:
    path = git_repo({"a.py": SOUND}).path
    write(tmp_path / "home/repos.yaml", f"repositories:\n  sound: {{path: {path}}}\n")
    write(tmp_path / "home/codesum.toml", content)

    refused = codesum(tmp_path / "home", "plan", "sound")

    assert refused.exit_code == 2
    # On a busy machine, what is being done is said before it.
    *_, last_line = refused.stderr.splitlines()
    assert message in last_line
    assert refused.stderr.replace("\n", "").isprintable()


@pytest.mark.parametrize("name", ["repos.yaml", "codesum.toml"])
def test_a_folder_in_the_place_of_a_file_is_named(codesum, tmp_path: Path, name: str) -> None:
    (tmp_path / "home" / name).mkdir(parents=True)

    refused = codesum(tmp_path / "home", "repos")

    assert refused.exit_code in (1, 2)
    assert name in refused.stderr and refused.stderr.count("\n") == 1
