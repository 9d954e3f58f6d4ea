"""What the registry is to say of an organisation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from codesum_pipeline.foundation.data_model.repository import RepositoryEntry, Retirement
from codesum_pipeline.source.code_hosts.registry_changes import SyncPlan, SyncRules, plan_sync
from codesum_pipeline.source.repositories.organisations import HostKind, ListedRepository, Organisation

ACME = Organisation("github:acme", HostKind.GITHUB, "acme", "https://github.com")
RULES = SyncRules("2026-11-24T00:00:00Z", 0.2)


def listed(number: int, path: str, *, archived: bool = False, fork: bool = False) -> ListedRepository:
    return ListedRepository(
        f"github.com/{number}", path, f"https://github.com/{path}.git", f"git@github.com:{path}.git", archived, fork
    )


def entry(key: str, number: int, path: str = "") -> RepositoryEntry:
    location = f"https://github.com/{path or f'acme/{key}'}.git"
    return RepositoryEntry(key, location, organisation=ACME.name, host_id=f"github.com/{number}")


def plan(
    on_host: list[ListedRepository],
    entries: list[RepositoryEntry] | None = None,
    *,
    organisation: Organisation = ACME,
    rules: SyncRules = RULES,
) -> SyncPlan:
    known = entries or []
    return plan_sync(organisation, on_host, known, {each.key.lower() for each in known}, rules)


def retired(one: RepositoryEntry, why: str) -> RepositoryEntry:
    return replace(one, enabled=False, retired=Retirement(RULES.at, why))


def test_what_is_new_is_registered_under_its_name() -> None:
    found = plan([listed(1, "acme/shop"), listed(2, "acme/Web.Site")])

    assert found == SyncPlan(added=(entry("Web.Site", 2), entry("shop", 1)))


def test_archived_repositories_forks_and_what_is_not_asked_for_are_left_out_and_counted() -> None:
    on_host = [
        listed(1, "acme/svc-shop"),
        listed(2, "acme/svc-old-archive"),
        listed(3, "acme/website"),
        listed(4, "acme/svc-a", archived=True),
        listed(5, "acme/svc-b", fork=True),
    ]
    some = replace(ACME, include=("SVC-*",), exclude=("*-archive",))

    found = plan(on_host, organisation=some)

    assert [each.key for each in found.added] == ["svc-shop"]
    assert found.left_out == (("archived", 1), ("excluded", 1), ("fork", 1), ("not included", 1))
    everything = plan(on_host, organisation=replace(ACME, archived=True, forks=True))
    assert len(everything.added) == 5


def test_a_glob_with_a_slash_is_for_the_path_below_the_account() -> None:
    groups = Organisation("gitlab:acme", HostKind.GITLAB, "acme", "https://gitlab.com", include=("backend/*",))

    found = plan([listed(1, "acme/backend/api"), listed(2, "acme/web/api")], organisation=groups)

    assert [each.key for each in found.added] == ["api"]


def test_names_that_two_repositories_have_become_paths_whatever_their_order() -> None:
    on_host = [listed(1, "acme/backend/api"), listed(2, "acme/web/api"), listed(3, "acme/shop")]
    taken = [RepositoryEntry("SHOP", "https://example.org/another/shop")]

    keys = {one.key for one in plan(on_host, taken).added}

    assert keys == {"acme-backend-api", "acme-web-api", "acme-shop"}
    assert plan(on_host[::-1], taken) == plan(on_host, taken)


def test_what_is_registered_by_hand_stays_as_it_is() -> None:
    by_hand = [
        RepositoryEntry("mine", "git@github.com:ACME/shop", ref="release"),
        RepositoryEntry("web-api", "https://github.com/acme/web", subdir="api", enabled=False),
    ]

    assert plan([listed(1, "acme/shop"), listed(2, "acme/web")], by_hand) == SyncPlan()


def test_a_renamed_or_transferred_repository_keeps_its_key() -> None:
    found = plan([listed(1, "acme/store")], [entry("shop", 1)])

    assert found == SyncPlan(moved=(entry("shop", 1, "acme/store"),))


def test_one_that_went_to_another_organisation_keeps_its_key_there_too() -> None:
    other = replace(ACME, name="github:other", owner="other")
    gone = plan([listed(2, "acme/web")], [entry("shop", 1), entry("web", 2)]).retired

    back = plan([listed(1, "other/shop")], [*gone, entry("web", 2)], organisation=other)

    assert back.returned == (replace(entry("shop", 1, "other/shop"), organisation="github:other"),)


def test_what_disappears_is_retired_and_says_why_and_comes_back() -> None:
    both = [entry("shop", 1), entry("web", 2)]

    gone = plan([listed(2, "acme/web")], both)
    archived = plan([listed(1, "acme/shop", archived=True), listed(2, "acme/web")], both)
    excluded = plan(
        [listed(1, "acme/shop"), listed(2, "acme/web")], both, organisation=replace(ACME, exclude=("shop",))
    )

    assert gone == SyncPlan(retired=(retired(both[0], "no longer listed by github:acme"),), kept=1)
    assert archived.retired == (retired(both[0], "archived"),)
    assert excluded.retired == (retired(both[0], "excluded"),)
    back = plan([listed(1, "acme/shop"), listed(2, "acme/web")], [gone.retired[0], both[1]])
    assert back == SyncPlan(returned=(both[0],), kept=1)


def test_what_a_person_disabled_is_neither_put_back_nor_retired() -> None:
    off = replace(entry("shop", 1), enabled=False)

    assert plan([listed(1, "acme/shop")], [off]) == SyncPlan(kept=1)
    assert plan([listed(2, "acme/web")], [off, entry("web", 2)]) == SyncPlan(kept=1)


def test_an_empty_list_retires_nothing_unless_that_is_confirmed() -> None:
    one = [entry("shop", 1)]

    found = plan([], one)

    assert (found.retired, found.why_held) == ((), "the host lists no repository at all")
    assert [each.key for each in found.held] == ["shop"]
    assert plan([], one, rules=replace(RULES, is_confirmed=True)).retired == found.held


def test_more_than_a_share_is_not_retired_at_once_and_the_rest_goes_on() -> None:
    ten = [entry(f"svc-{number}", number) for number in range(10)]
    still = [listed(number, f"acme/svc-{number}") for number in range(7)]

    found = plan([*still, listed(99, "acme/new")], ten)

    assert found.why_held == "3 of 10 would be retired, more than 20%"
    assert ([each.key for each in found.added], found.retired, len(found.held)) == (["new"], (), 3)
    assert len(plan([*still, listed(7, "acme/svc-7")], ten).retired) == 2
    assert len(plan(still, ten, rules=replace(RULES, is_confirmed=True)).retired) == 3


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc",
        "/etc",
        "-upload-pack=x",
        "ext::sh -c x",
        "https://me:secret@github.com/a/b",
        "http://a.b/c",
        "",
        "a\nb:c",
    ],
)
def test_a_host_cannot_name_a_folder_a_command_or_a_password(url: str) -> None:
    bad = replace(listed(1, "acme/shop"), https_url=url)

    found = plan([bad, listed(2, "acme/web")])

    assert [each.key for each in found.added] == ["web"]
    assert len(found.unusable) == 1
    assert found.unusable[0].startswith("acme/shop: ")
    assert "secret" not in found.unusable[0]


def test_what_cannot_be_registered_any_more_is_not_retired_for_that() -> None:
    bad = replace(listed(1, "acme/shop"), https_url="file:///etc")

    assert plan([bad], [entry("shop", 1)]).retired == ()


NUMBERS = st.sets(st.integers(0, 9))


@given(first=NUMBERS, then=NUMBERS)
def test_a_sync_after_a_sync_changes_nothing_and_keys_never_change(first: set[int], then: set[int]) -> None:
    sure = replace(RULES, is_confirmed=True)
    registry: dict[str, RepositoryEntry] = {}
    keys: dict[str | None, str] = {}
    for numbers in (first, then, then):
        on_host = [listed(number, f"acme/{'ab'[number % 2]}/svc") for number in sorted(numbers)]
        found = plan(on_host, list(registry.values()), rules=sure)
        registry |= {each.key: each for each in found.written}
        for each in registry.values():
            assert keys.setdefault(each.host_id, each.key) == each.key

    assert not found.written
    assert {each.host_id for each in registry.values() if each.enabled} == {f"github.com/{number}" for number in then}
    assert all(each.retired for each in registry.values() if not each.enabled)


def test_what_the_owner_set_of_compilers_indexes_stays_and_nothing_of_a_host_sets_it() -> None:
    ours = replace(entry("shop", 1), scip=("/srv/shop.scip",), scip_command="scip-python index .")

    found = plan([listed(1, "acme/renamed"), listed(2, "acme/new")], [ours])

    assert found.moved == (replace(ours, location="https://github.com/acme/renamed.git"),)
    assert [(one.scip, one.scip_command) for one in found.added] == [((), "")]


def test_an_address_over_http_is_taken_where_the_settings_name_its_host() -> None:
    one = replace(listed(1, "acme/svc"), https_url="http://git.example.org:3000/acme/svc.git")
    allowed = replace(RULES, over_http=("git.example.org:3000",))

    refused, taken = (plan_sync(ACME, [one], [], set(), rules) for rules in (RULES, allowed))

    assert (refused.added, [entry.location for entry in taken.added]) == ((), [one.https_url])
    assert "http is not encrypted" in refused.unusable[0]
