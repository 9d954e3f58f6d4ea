"""`plan`, `status` and `doctor`: looking without changing."""

import hashlib
import json
import shutil
import sqlite3
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchmarks.many_indexes import copy_index
from codesum_pipeline.builds.reports.planner_record import PlannedBuild, keep_planned
from codesum_pipeline.foundation.data_model.moments import moment_at
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.layout import HomeLayout
from codesum_pipeline.foundation.store.lease import hold_lease
from codesum_pipeline.source.repositories.registry import Registry


def fingerprint(folder: Path) -> dict[str, str]:
    """Every path with what it holds."""
    return {
        str(path.relative_to(folder)): str(path.readlink())
        if path.is_symlink()
        else hashlib.sha256(path.read_bytes()).hexdigest()
        if path.is_file()
        else "folder"
        for path in sorted(folder.rglob("*"))
    }


@pytest.fixture
def edited(shop_template, own_shop, tmp_path):
    """A home whose repository, a copy of its own, has one commit more than the index."""
    from codesum_pipeline_tests.support.repositories import GitRepo

    repository = GitRepo(Path(shutil.copytree(shop_template / "repository", tmp_path / "repository")))
    file = own_shop / "repos.yaml"
    file.write_text(file.read_text().replace(str(shop_template / "repository"), str(repository.path)))
    orders = (repository.path / "shop/orders.py").read_text()
    repository.commit({"shop/orders.py": orders.replace("net = 0", "net = 0.0")})
    return own_shop


def test_a_plan_changes_nothing(codesum, edited):
    before = fingerprint(edited)

    assert codesum(edited, "plan", "shop").exit_code == 0
    assert fingerprint(edited) == before


def test_a_plan_says_what_is_rewritten_and_why(codesum, edited):
    planned = codesum(edited, "plan", "shop").stdout.splitlines()

    assert planned[2].split() == ["function", "1", "0", "3", "0", "1", "content"]
    heads = ["what", "level", "cause", "document", "caused", "by"]
    documents = planned[[line.split() for line in planned].index(heads) + 1 :]
    assert documents[0].split() == ["rewritten", "function", "content", "shop/orders.py::total_price"]
    assert documents[1].split() == ["perhaps", "file", "child", "shop/orders.py", "shop/orders.py::total_price"]


def test_a_plan_for_programs_lists_every_document(codesum, shop):
    planned = json.loads(codesum(shop, "plan", "shop", "--json").stdout)

    assert planned["repo"] == "shop"
    assert {row["action"] for row in planned["documents"]} == {"keep"}
    assert len(planned["documents"]) == 11


def test_a_plan_of_an_unchanged_repository_is_empty(codesum, shop):
    assert codesum(shop, "plan", "shop").stdout.endswith("nothing would be rewritten\n")


def test_a_repository_that_is_not_registered_can_be_planned(codesum, git_repo, tmp_path):
    repository = git_repo({"a.py": "def f():\n    return 1\n"})
    home = tmp_path / "home"

    planned = codesum(home, "plan", repository.path)

    assert "a.py::f" in planned.stdout
    assert "new" in planned.stdout
    assert not home.exists()


def state(codesum, home, *arguments):
    return json.loads(codesum(home, "status", *arguments, "--json").stdout)


def test_a_fresh_index_is_up_to_date(codesum, shop):
    found = state(codesum, shop)

    assert (found["repo"], found["state"], found["why"]) == ("shop", "up to date", None)
    assert found["commit"] == found["head"]
    assert found["documents"] == 11


def test_a_new_commit_leaves_the_index_behind(codesum, edited):
    assert state(codesum, edited, "shop")["state"] == "behind"


def test_a_changed_setting_is_seen_and_named(codesum, own_shop):
    (own_shop / "codesum.toml").write_text("top_k_callers = 2\n[filter]\nmin_lines = 4\n")

    found = state(codesum, own_shop)

    assert (found["state"], found["why"]) == ("settings changed", "changed: filter.min_lines, top_k_callers")
    assert "changed: filter.min_lines, top_k_callers" in codesum(own_shop, "status").stdout


def test_a_model_that_is_switched_on_is_one_changed_setting(codesum, own_shop):
    (own_shop / "codesum.toml").write_text('[llm]\nenabled = true\nmodel = "openai/some"\n')

    assert state(codesum, own_shop)["why"] == "changed: llm.enabled"


def test_a_changed_field_of_an_entry_is_named(codesum, own_shop):
    registry = Registry(own_shop / "repos.yaml")
    registry.add(replace(registry.get("shop"), exclude=("docs/",)))

    found = state(codesum, own_shop)

    assert (found["state"], found["why"]) == ("settings changed", "changed: exclude of its entry")


def test_another_compilers_index_is_seen(codesum, own_shop):
    (own_shop / "mirrors" / "shop.scip").write_bytes(b"index")

    assert state(codesum, own_shop)["state"] == "compilers' indexes changed"


def test_a_registered_repository_is_not_indexed_yet(codesum, own_shop, git_repo):
    Registry(own_shop / "repos.yaml").add(RepositoryEntry("second", str(git_repo({"a.py": "x = 1\n"}).path)))

    assert state(codesum, own_shop, "second")["state"] == "never indexed"


def test_a_removed_repository_is_disabled(codesum, own_shop):
    Registry(own_shop / "repos.yaml").remove("shop")

    assert state(codesum, own_shop)["state"] == "disabled"


def test_a_repository_that_is_gone_says_so(codesum, own_shop, tmp_path):
    file = own_shop / "repos.yaml"
    shutil.copytree(own_shop, tmp_path / "moved")
    file.write_text(file.read_text().replace("repository", "nowhere"))

    found = state(codesum, own_shop)

    assert found["state"] == "cannot tell"
    assert "nowhere" in found["why"]


def test_who_builds_is_named(codesum, own_shop):
    with hold_lease(HomeLayout(own_shop).state("shop"), key="shop", run_id="other-run"):
        found = state(codesum, own_shop)

    assert found["state"] == "being built"
    assert "other-run" in found["lease"]


def test_status_is_readable(codesum, shop):
    overview = codesum(shop, "status").stdout.splitlines()
    details = codesum(shop, "status", "shop").stdout

    assert overview[0].split() == ["repository", "state", "indexed", "head", "documents", "placeholders", "published"]
    assert overview[1].startswith("shop        up to date")
    assert "11 (4 function, 1 class, 4 file, 2 module), of them 0 placeholders" in details


def test_a_sound_home_is_in_order(codesum, shop):
    result = codesum(shop, "doctor")

    assert (result.stdout, result.exit_code) == ("1 repository in order: shop\n", 0)


def test_damage_is_found_with_its_way_out(codesum, own_shop):
    published = HomeLayout(own_shop).published("shop").resolve()
    (published / "summary.jsonl").write_bytes(b"")

    result = codesum(own_shop, "doctor", "shop")

    assert result.exit_code == 1
    assert "summary.jsonl" in result.stdout
    assert "way out: codesum index shop --force" in result.stdout


def test_findings_can_be_read_by_programs(codesum, own_shop):
    (HomeLayout(own_shop).published("shop").resolve() / "summary.jsonl").unlink()

    finding = json.loads(codesum(own_shop, "doctor", "--json").stdout.splitlines()[0])

    assert finding["repo"] == "shop"
    assert finding["way_out"] == "codesum index shop --force"


def test_what_waits_for_its_first_build_is_no_problem(codesum, own_shop, git_repo):
    Registry(own_shop / "repos.yaml").add(RepositoryEntry("new", str(git_repo({"a.py": "x = 1\n"}).path)))

    found = codesum(own_shop, "doctor")
    for_programs = codesum(own_shop, "doctor", "new", "--json")

    what = "it waits for its first build; `codesum index new` builds it now"
    assert (found.exit_code, found.stdout) == (0, f"new\n  {what}\n2 repositories in order: new, shop\n")
    assert (for_programs.exit_code, json.loads(for_programs.stdout)) == (
        0,
        {"repo": "new", "what": what, "way_out": None},
    )


def test_the_doctor_names_what_the_fleet_waits_for_and_ends_with_1_only_for_what_needs_a_person(
    codesum, own_shop, git_repo
):
    entries, now, builds = Registry(own_shop / "repos.yaml"), time.time(), {}
    long_ago, just_now = "2026-01-31T09:30:00.000Z", moment_at(now)
    for key, decision, facts in (
        ("away", "unreadable", {"complaint": "nobody answers"}),
        ("behind", "to build", {"behind_since": just_now}),
        ("failed", "failed too often", {"failures": 3, "failure": "a broken table"}),
        ("late", "to build", {"behind_since": long_ago}),
    ):
        if key != "away":
            copy_index(HomeLayout(own_shop), "shop", key)
        entries.add(RepositoryEntry(key, f"https://code.example/{key}.git"))
        builds[key] = PlannedBuild(decision=decision, at=now, head="1" * 40, **facts)
    keep_planned(HomeLayout(own_shop), builds, registered=builds, every_s=60, version="")

    def told(*keys):
        done = [codesum(own_shop, "doctor", key, "--json") for key in keys]
        lines = [json.loads(line) for each in done for line in each.stdout.splitlines()]
        return [each.exit_code for each in done], lines

    passing, passing_told = told("away")
    lasting, lasting_told = told("failed", "late")
    _, in_time = told("behind")

    assert any("nobody answers" in each["what"] and each["way_out"] is None for each in passing_told)
    assert any(each["what"] == "1 repository is behind, and will be built: behind" for each in in_time)
    assert any("failed 3 times, last: a broken table" in each["what"] and each["way_out"] for each in lasting_told)
    assert any("h of checks.behind_hours" in each["what"] for each in lasting_told)
    assert (passing, lasting) == ([0], [1, 1])


def test_what_was_removed_before_it_was_indexed_is_nobodys_concern_until_one_asks(codesum, own_shop, git_repo):
    registry = Registry(own_shop / "repos.yaml")
    registry.add(RepositoryEntry("new", str(git_repo({"a.py": "x = 1\n"}).path)))
    registry.remove("new")

    overview, examined = codesum(own_shop, "doctor"), codesum(own_shop, "doctor", "new")

    assert (overview.exit_code, overview.stdout) == (0, "1 repository in order: shop\n")
    assert (examined.exit_code, examined.stdout) == (
        1,
        "new\n  it is removed, and has no index\n  way out: codesum add new\n\n",
    )


def test_the_lease_of_a_killed_build_is_found_and_can_be_released(codesum, own_shop):
    state_file = HomeLayout(own_shop).state("shop")
    with hold_lease(state_file, key="shop", run_id="killed"):
        held = sqlite3.connect(state_file)
        held.execute("UPDATE lease SET process_started = 1, acquired_at = 1, pid = 1")
        held.commit()
        held.close()

    found = codesum(own_shop, "doctor")
    released = codesum(own_shop, "doctor", "shop", "--release-lease")

    assert found.exit_code == 1
    assert "the last build was killed" in found.stdout
    assert "codesum index shop" in found.stdout
    assert "killed" in released.stderr
    assert released.exit_code == 0


def test_releasing_a_lease_needs_a_key(codesum, shop):
    assert codesum(shop, "doctor", "--release-lease").exit_code == 2


def test_a_damaged_table_is_found_and_silences_nothing(codesum, own_shop, git_repo):
    Registry(own_shop / "repos.yaml").add(RepositoryEntry("new", str(git_repo({"a.py": "x = 1\n"}).path)))
    for table in ("documents", "snapshot"):
        path = own_shop / f"warehouse/{table}/repo=shop/part-0.parquet"
        path.write_bytes(path.read_bytes()[:100])

    checked, states = codesum(own_shop, "doctor"), codesum(own_shop, "status", "--json")

    assert "table 'snapshot' of repository 'shop' is damaged" in checked.stdout
    assert "way out: codesum index shop --rebuild" in checked.stdout
    assert [json.loads(line)["state"] for line in states.stdout.splitlines()] == ["never indexed", "broken"]


def test_what_is_kept_of_a_repository_that_left_the_registry_is_named_with_the_command_that_deletes_it(
    codesum, own_shop
):
    (own_shop / "repos.yaml").write_text("repositories: {}\n")

    found = codesum(own_shop, "doctor")
    deleted = codesum(own_shop, "remove", "shop", "--purge")

    what = "it is not in repos.yaml, but its data are kept"
    assert (found.exit_code, found.stdout) == (1, f"shop\n  {what}\n  way out: codesum remove shop --purge\n\n")
    assert (deleted.exit_code, deleted.stdout) == (0, "shop: deleted\n")
    assert [str(path) for path in own_shop.rglob("*") if "shop" in path.name] == []
    assert codesum(own_shop, "doctor").exit_code == 0


@pytest.mark.slow
def test_broken_records_of_dagster_are_one_line_and_the_doctor_mends_them(codesum, own_shop):
    published = (HomeLayout(own_shop).published("shop")).readlink()
    runs = own_shop / "dagster" / "history" / "runs.db"
    if not runs.exists():
        assert codesum(own_shop, "index", "shop", "--force").exit_code == 0
    (own_shop / "dagster" / "history" / "runs" / "index.db").write_bytes(b"half a copy" * 1000)
    with sqlite3.connect(runs) as connection:
        connection.execute("DELETE FROM alembic_version")

    failed = codesum(own_shop, "index", "shop", "--force")
    mended = codesum(own_shop, "doctor")

    # The build goes on beside Dagster, which says at some moment that it cannot record it.
    (said,) = [line for line in failed.stderr.splitlines() if line.startswith("codesum:")]
    assert failed.exit_code == 4 and failed.stderr.endswith(f"{said}\n")
    assert "run storage" in said and "run `codesum doctor`, which mends it" in said
    assert mended.exit_code == 0
    report = " ".join(mended.stdout.split())
    assert "runs.db was broken (without the revision of its tables): it is whole again, nothing is lost" in report
    assert "a new one made; the history of materialisations and checks is lost" in report
    assert "the indexes are not touched, and Dagster knows all repositories again" in report
    assert HomeLayout(own_shop).published("shop").readlink() == published
    assert codesum(own_shop, "doctor").stdout.startswith("1 repository in order")
    assert codesum(own_shop, "index", "shop", "--force").exit_code == 0
