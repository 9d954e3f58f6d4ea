"""`codesum` as a process: what it imports, how it ends, what it prints where."""

import json
import os
import subprocess
import sys

import pytest

from codesum_pipeline_tests.support.commands import COMMAND, environment, fork_codesum, run_codesum
from codesum_pipeline_tests.ways_in.cli.terminal import fork_on_a_terminal

HEAVY = {
    "dagster", "torch", "litellm", "sentence_transformers", "duckdb", "pyarrow", "tree_sitter", "matplotlib", "scipy",
    "networkx",
}  # fmt: skip
REPORT_IMPORTS = """
import json, sys
from codesum_pipeline.ways_in.cli.cli_app import main
heavy, *calls = json.loads(sys.argv[1])
found = {}
for call in calls:
    sys.argv[1:] = call
    try:
        main()
    except SystemExit as ended:
        assert not ended.code, call
    found[" ".join(call[2:])] = sorted(set(heavy) & {name.partition(".")[0] for name in sys.modules})
sys.stderr.write(json.dumps(found))
"""


def heavy_imports(home, *calls, heavy, cwd):
    """What of these packages is loaded after each of these calls, made one after the other in one process."""
    arguments = json.dumps([sorted(heavy), *[["--home", str(home), *call] for call in calls]])
    done = subprocess.run(
        [sys.executable, "-c", REPORT_IMPORTS, arguments],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return json.loads(done.stderr.splitlines()[-1])


def test_what_only_reads_the_published_index_imports_nothing_heavy(shop, tmp_path):
    calls = (
        ("search", "order", "--json"),
        ("search", "order"),
        ("show", "shop/orders.py"),
        ("repos",),
        ("--help",),
        ("search", "--help"),
    )

    loaded = heavy_imports(shop, *calls, heavy=HEAVY, cwd=tmp_path)

    assert loaded == {" ".join(call): [] for call in calls}


def test_looking_does_not_wait_for_dagster(shop, tmp_path):
    calls = (("status",), ("plan", "shop"), ("explain", "shop"), ("sql", "SELECT 1"))
    heavy = {"dagster", "torch", "litellm", "sentence_transformers", "matplotlib"}

    loaded = heavy_imports(shop, *calls, heavy=heavy, cwd=tmp_path)

    assert loaded == {" ".join(call): [] for call in calls}


def test_an_error_is_one_line_without_a_traceback(shop, tmp_path):
    done = run_codesum("--home", shop, "show", "nowhere.py", cwd=tmp_path)

    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("codesum: no document 'nowhere.py' in shop")
    assert done.stderr.count("\n") == 1


def test_ctrl_c_while_modules_are_imported_ends_without_a_traceback(shop, tmp_path):
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    path = os.pathsep.join([str(tmp_path), environment()["PYTHONPATH"]])
    done = run_codesum("--home", shop, "search", "x", cwd=tmp_path, env={"PYTHONPATH": path})

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_debug_shows_where_an_error_comes_from(shop, tmp_path):
    done = fork_codesum("--home", shop, "--debug", "show", "nowhere.py", cwd=tmp_path)

    assert "Traceback" in done.stderr
    assert "ConfigurationError" in done.stderr


def test_a_setting_that_does_not_exist_is_named_with_its_nearest(shop, tmp_path):
    done = fork_codesum("--home", shop, "status", cwd=tmp_path, env={"CODESUM_TOP_K_CALLER": "3"})

    assert done.returncode == 2
    assert "'top_k_caller'" in done.stderr
    assert "'top_k_callers'" in done.stderr


def test_a_broken_index_ends_with_its_own_exit_code(own_shop, tmp_path):
    (own_shop / "index_root/summary_index_function_level/shop").resolve().joinpath("manifest.json").write_text("{}")

    done = fork_codesum("--home", own_shop, "search", "order", "--repo", "shop", cwd=tmp_path)

    assert done.returncode == 4
    assert done.stderr.count("\n") == 1


def test_where_no_index_can_be_read_the_way_out_is_said(own_shop, tmp_path):
    (own_shop / "index_root/summary_index_function_level/shop").resolve().joinpath("manifest.json").write_text("{}")

    done = fork_codesum("--home", own_shop, "search", "order", cwd=tmp_path)

    assert done.returncode == 4
    assert done.stderr.splitlines()[-1].endswith("can be read: run `codesum index`, or `codesum doctor`")


def test_a_build_that_another_keeps_waiting_asks_to_try_later(own_shop, tmp_path):
    from codesum_pipeline.foundation.store.layout import HomeLayout
    from codesum_pipeline.foundation.store.lease import hold_lease

    with hold_lease(HomeLayout(own_shop).state("shop"), key="shop", run_id="other"):
        env = {"CODESUM_LEASE_WAIT_S": "0"}
        done = fork_codesum("--home", own_shop, "index", "shop", "--force", cwd=tmp_path, env=env)

    assert done.returncode == 3
    assert "is being built by process" in done.stderr


def test_another_build_under_way_asks_to_try_later(own_shop, tmp_path):
    from codesum_pipeline.foundation.store.layout import HomeLayout
    from codesum_pipeline.foundation.store.lease import hold_lease

    with hold_lease(HomeLayout(own_shop).state("shop"), key="shop", run_id="other"):
        done = fork_codesum("--home", own_shop, "remove", "shop", "--purge", cwd=tmp_path)

    assert done.returncode == 3
    assert "run other" in done.stderr


def test_what_is_piped_is_plain_and_whole(shop, tmp_path):
    done = fork_codesum(
        "--home", shop, "sql", "SELECT repeat('word ', 200) AS text", cwd=tmp_path, env={"COLUMNS": "40"}
    )

    assert done.stdout.splitlines()[1] == " ".join(["word"] * 200)
    assert "\x1b" not in done.stdout


def test_a_reader_that_stops_reading_is_no_error(shop, tmp_path):
    with subprocess.Popen(
        [*COMMAND, "--home", shop, "sql", "SELECT repeat('x', 200) FROM range(100000)", "--csv"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        complaints = process.stderr.read()

    assert complaints == b""


def test_a_terminal_gets_colours_and_lines_that_fit(shop, tmp_path):
    sent = fork_on_a_terminal("--home", shop, "search", "order", cwd=tmp_path, width=60).raw

    assert b"\x1b[1;36m" in sent
    assert b"\x1b[31m" not in sent


def test_no_color_is_respected(shop, tmp_path):
    sent = fork_on_a_terminal("--home", shop, "search", "order", cwd=tmp_path, width=60, env={"NO_COLOR": "1"}).raw

    assert b"36m" not in sent
    assert b"shop/orders.py" in sent


def test_csv_on_a_terminal_shows_escapes_as_letters_and_gives_others_the_bytes(shop, tmp_path):
    query = "SELECT 'a' || chr(27) || ']0;owned' || chr(7) || chr(8238) || 'ü' AS text"
    call = ("--home", shop, "sql", query, "--csv")

    assert fork_on_a_terminal(*call, cwd=tmp_path, width=60).raw.decode().splitlines() == [
        "text",
        "a\\u001b]0;owned\\u0007\\u202eü",
    ]
    assert fork_codesum(*call, cwd=tmp_path).stdout == "text\na\x1b]0;owned\x07\u202eü\n"


def test_the_version_is_printed(tmp_path):
    assert run_codesum("--version", cwd=tmp_path).stdout.startswith("codesum ")


def test_shell_completion_knows_commands_and_their_options(tmp_path):
    def complete(words, place):
        env = {"_CODESUM_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(place)}
        return fork_codesum(cwd=tmp_path, env=env).stdout.split()

    assert set(complete("codesum s", 1)) == {"search", "show", "sql", "status"}
    assert "--batch" in complete("codesum search --b", 2)


@pytest.mark.parametrize(
    "closed",
    ["<&- >&- 2>&-", pytest.param(">&-", marks=pytest.mark.slow), pytest.param("2>&-", marks=pytest.mark.slow)],
)
def test_a_build_whose_caller_has_closed_a_standard_stream_builds_as_any(closed, own_shop, tmp_path):
    command = [*COMMAND, "--home", str(own_shop), "index", "shop", "--force"]

    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *command],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_where_no_process_can_be_started_that_is_said_in_one_line(own_shop, tmp_path):
    program = "import sys; sys.executable = '/nowhere/python'; from codesum_pipeline.cli import main; main()"

    done = subprocess.run(
        [sys.executable, "-c", program, "--home", own_shop, "index", "shop", "--force"],
        cwd=tmp_path, env=environment(), capture_output=True, text=True,
    )  # fmt: skip

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "codesum: /nowhere/python: No such file or directory"
    assert "Traceback" not in done.stderr
