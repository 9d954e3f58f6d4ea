"""Nothing that a token or a person's groups do not open can be learned: every answer equals that of a home that never
had it.

All is asked twice: with a token of the file, and by a person of the provider whose group opens the same. Routes, tools
and their arguments are taken from the code: a new one without a question here fails.
"""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.tool_registry import TOOLS, Tool
from codesum_pipeline.foundation.data_model.errors import CodesumError
from codesum_pipeline.foundation.data_model.repository import JointScope, RepositoryScope
from codesum_pipeline.ways_in.http_serving.audit_log import Auditor
from codesum_pipeline.ways_in.http_serving.gate import Holder
from codesum_pipeline.ways_in.http_serving.people import Person
from codesum_pipeline.ways_in.mcp.mcp_people import BearerPeople
from codesum_pipeline.ways_in.metrics.server_metrics import PATH as METRICS
from codesum_pipeline.ways_in.web.web_app import pages_of
from codesum_pipeline_tests.support.collected_metrics import labelled, read_exposition, started
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.small_provider import SmallProvider, small_provider
from codesum_pipeline_tests.ways_in.access.asking import (
    HEADERS,
    Session,
    all_of,
    browser_people,
    catalogue_of,
    identity_settings,
    leaked,
    mcp,
    pages,
    signed_in,
    tokens_of_a,
    without_chance,
)
from codesum_pipeline_tests.ways_in.access.homes import KEY_OF_B, Homes

# Of each tool a call that answers about A.
CALLS: dict[str, dict[str, Any]] = {
    "search": {"query": "charge a card"},
    "grep": {"pattern": "charge|check"},
    "read": {"ids": ["till/pay.py::charge"]},
    "graph": {"id": "till/pay.py::charge"},
    "impact": {"range": "HEAD~1..HEAD"},
    "overview": {},
    "status": {},
    "get_codebase_overview": {},
    "get_framework_analysis": {},
    "get_semantic_neighborhoods": {},
    "search_symbols": {"name": "charge"},
    "get_symbol_info": {"id": "till/pay.py::charge"},
    "get_dependencies": {"path": "till/pay.py"},
    "get_file_analysis": {"path": "till/pay.py"},
    "watch_changes": {},
}
# What somebody puts in the place of an argument: B by its names, ids, places, and by what only looks like them.
HOSTILE = (
    KEY_OF_B,
    "TILL-QUOKKA",
    "till-quokk",
    "../till-quokka",
    "till\u2010quokka",
    "\uff54ill-quokka",
    "numbatpath/pay.py::wombatname",
    "wombatname",
    "Charge a bilbydoc dingotext",
    "*",
    "numbatpath/pay.py:1-9",
)
TARGETS = {
    "/": ("/", "/?q=charge", "/?q=wombatname&repo={b}", "/?q=charge&repo=till&repo={b}", "/?q=charge&repo=till,{b}"),
    "/hits": (
        "/hits?q=dingotext&mode=text",
        "/hits?q=charge|wombat&mode=pattern",
        "/hits?q=charge&mode=text&repo={b}",
        "/hits?q=(&mode=pattern",
        "/hits?q=bilbydoc",
        "/hits?q=charge&repo={b}",
        "/hits?q=charge&paths=numbatpath/",
        "/hits",
    ),
    "/document": (
        "/document?repo=till&id=till/pay.py",
        "/document?repo={b}&id=numbatpath/pay.py",
        "/document?id=numbatpath/pay.py::wombatname",
        "/document?repo=TILL-QUOKKA&id=.",
        "/document?repo=../{b}&id=.",
        "/document?repo=till&id=../../{b}",
        "/document?repo=till%00&id=.",
    ),
    "/related": (
        "/related?repo=till&id=till/pay.py::charge&relation=callers",
        "/related?repo={b}&id=.&relation=members",
    ),
    "/repository": (
        "/repository?repo=till",
        "/repository?repo={b}",
        "/repository?repo=",
        "/repository?repo=till/../{b}",
        "/repository?repo=%74ill%2Dquokka",
        "/repository?repo={b}%0a",
        "/repository?repo=\uff54ill-quokka",
        "/repository?repo={b}\u200b",
        "/repository/?repo={b}",
        "//repository?repo={b}",
        "/REPOSITORY?repo={b}",
    ),
    "/fleet": ("/fleet", "/fleet?q={b}", "/fleet?sort={b}", "/fleet?state={b}", "/fleet?from={b}", "/fleet?q=quokka"),
    "/ask": ("/ask", "/ask?repo={b}", "/ask?conversation={conversation}", "/ask?before=9999"),
    "/earlier": ("/earlier?id={turn_b}", "/earlier?id={turn_a}", "/earlier?id=' OR 1=1 --"),
    "/static": ("/static/page.css", "/static/../../repos.yaml", "/static/%2e%2e/%2e%2e/repos.yaml", "/static/"),
}
METHODS = ("GET", "HEAD", "OPTIONS", "POST", "TRACE")


WHO = ("token", "person")


@pytest.fixture(scope="module")
def provider() -> Iterator[SmallProvider]:
    with small_provider() as found:
        yield found


@pytest.fixture(scope="module", params=WHO)
def sites(request: pytest.FixtureRequest, homes: Homes, provider: SmallProvider) -> Iterator[tuple[TestClient, ...]]:
    """The pages of the home without B and of that with it, for the holder of A's token, or for who has signed in."""
    with ExitStack() as stack:
        found = []
        for home in (homes.alone, homes.both):
            people = browser_people(provider) if request.param == "person" else None
            site = stack.enter_context(pages(home, people=people))
            if people:
                assert signed_in(site).status_code == 200
            else:
                site.headers.update(HEADERS)
            found.append(site)
        yield tuple(found)


def check_both_answers(sites: tuple[TestClient, ...], homes: Homes, path: str, method: str, **more: Any) -> None:
    target = path.format(b=KEY_OF_B, conversation=homes.conversation_of_b, turn_b=homes.turns[0], turn_a=homes.turns[1])
    alone, both = (all_of(site.request(method, target, **more)) for site in sites)

    assert not leaked(both, [target, more]), both
    # Where the home is on disk is what differs between two homes.
    assert both.replace(str(homes.both), "") == alone.replace(str(homes.alone), "")


def test_every_route_is_asked(homes: Homes) -> None:
    site = pages_of(catalogue_of(homes.alone), Path("/"), Auditor(None, "web"), metrics=started())
    routes = {route.path for route in site.routes}  # type: ignore[attr-defined]

    # What a process counts is not the same in two homes: its page has tests of its own.
    assert routes == {*TARGETS, METRICS}


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("server", ["pages", "tools"])
def test_series_are_of_what_is_open_alone(homes: Homes, provider: SmallProvider, who: str, server: str) -> None:
    metrics, settings, headers = started(), identity_settings(provider), HEADERS
    with ExitStack() as stack:
        if server == "tools":
            people = BearerPeople.of(settings) if who == "person" else None
            asked = stack.enter_context(mcp(homes.both, people=people, metrics=metrics))
            if who == "person":
                headers = {"Authorization": f"Bearer {provider.token(settings.mcp_url or '', groups=['tills'])}"}
        else:
            browsers = browser_people(provider) if who == "person" else None
            asked = stack.enter_context(pages(homes.both, people=browsers, metrics=metrics))
            if browsers:
                assert signed_in(asked).status_code == 200
                headers = {}
        for target in (f"/repository?repo={KEY_OF_B}", f"/hits?q=dingotext&repo={KEY_OF_B}", METRICS):
            asked.get(target, headers=headers)
        answer = asked.get(METRICS, headers=headers)

    found = read_exposition(answer.text)
    assert answer.status_code == 200 and not leaked(answer.text, [])
    # Nor is anything counted over all.
    assert {dict(labels).get("repository") for series in found.values() for labels in series} == {"till"}


@pytest.mark.parametrize("server", ["pages", "tools"])
def test_who_may_read_everything_gets_every_series_and_who_has_no_token_none(homes: Homes, server: str) -> None:
    serve, metrics = (pages, started()) if server == "pages" else (mcp, started())
    with serve(homes.both, tokens_of_a("*"), metrics=metrics) as asked:
        refused = asked.get(METRICS)
        # A monitor reaches each container by an address of its own.
        first = asked.get(METRICS, headers={**HEADERS, "Host": "10.1.2.3:7777"})
        second = asked.get(METRICS, headers=HEADERS)

    assert refused.status_code == 401 and "codesum_" not in refused.text
    assert first.status_code == 200
    found = read_exposition(second.text)
    assert labelled(found["codesum_index_state"], "repository") == {"till": 1.0, KEY_OF_B: 1.0}
    assert "codesum_repositories" in found


@pytest.mark.parametrize("route", TARGETS)
def test_no_page_says_anything_of_a_repository_that_a_token_does_not_open(
    sites: tuple[TestClient, ...], homes: Homes, route: str
) -> None:
    for target in TARGETS[route]:
        for method in METHODS:
            check_both_answers(sites, homes, target, method)


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Original-URL": f"/repository?repo={KEY_OF_B}", "X-Rewrite-URL": f"/repository?repo={KEY_OF_B}"},
        {"X-HTTP-Method-Override": "POST", "X-Forwarded-Host": KEY_OF_B},
        {"X-Forwarded-User": "boss", "X-Codesum-Token": "boss"},
        {"If-None-Match": "*", "If-Modified-Since": "Thu, 01 Jan 2099 00:00:00 GMT", "Range": "bytes=0-9"},
        {"Upgrade": "websocket", "Connection": "Upgrade", "Accept": "application/x-ndjson"},
    ],
    ids=["another address", "another method", "another user", "conditions", "streams"],
)
def test_no_header_opens_more(sites: tuple[TestClient, ...], homes: Homes, headers: dict[str, str]) -> None:
    for target in ("/", "/hits?q=charge+wombatname", "/repository?repo={b}", "/static/page.css"):
        check_both_answers(sites, homes, target, "GET", headers=headers)


@pytest.mark.parametrize("repo", ["", "till", KEY_OF_B, "TILL-QUOKKA", "nowhere"])
@pytest.mark.parametrize("conversation", ["", "latest", "{conversation}"])
def test_a_question_is_answered_of_what_a_token_opens(
    sites: tuple[TestClient, ...], homes: Homes, repo: str, conversation: str
) -> None:
    fields = {"question": "How is wombatname charged?", "repo": repo}
    fields["conversation"] = conversation.format(conversation=homes.conversation_of_b)
    answers = []
    for site in sites:
        form = site.get("/ask").text
        token = form.partition('name="token" value="')[2].partition('"')[0]
        for accept in ("text/html", "application/x-ndjson"):
            answer = site.post("/ask", data={**fields, "token": token}, headers={"Accept": accept})
            answers.append(all_of(answer))
            assert not leaked(answers[-1], fields), answers[-1]

    assert answers[:2] == answers[2:]


def test_every_tool_is_asked() -> None:
    assert {tool.name for tool in TOOLS} == {*CALLS}


def arguments_of(tool: Tool) -> Iterator[dict[str, Any]]:
    """Calls with each argument alone in the place of what is asked of A, and beside a name of A."""
    yield CALLS[tool.name]
    for name in tool.arguments.model_fields:
        for hostile in HOSTILE:
            yield {**CALLS[tool.name], name: hostile}
        yield {**CALLS[tool.name], name: ["till", KEY_OF_B]}
    if tool.name == "impact":
        yield {"ids": ["till/pay.py::charge"]}
        for hostile in HOSTILE:
            yield {"ids": [hostile]}
            yield {"ids": ["charge", hostile], "repo": "till"}


# An index that is open stays open, as in a server.
opened = cache(catalogue_of)


def holder_of(who: str) -> Holder:
    if who == "token":
        (token,) = tokens_of_a().tokens
        return token
    scopes = JointScope((RepositoryScope(("till",)), RepositoryScope(("nothing-*", "!till*"))))
    return Person("https://login.example.org", "alice", "Alice Example", scopes)


def answer_of(home: Path, tool: Tool, arguments: dict[str, Any], who: str = "token") -> str:
    holder = holder_of(who)
    call = ToolContext(opened(home).held_by(holder.holder, holder.scope), Path("/"))
    try:
        page = tool.ask(call, arguments)
    except CodesumError as error:
        return f"{type(error).__name__}: {error}"
    return without_chance(f"{page.text()}\n{page.model_dump_json()}")


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_no_tool_says_anything_of_a_repository_that_a_token_does_not_open(homes: Homes, tool: Tool, who: str) -> None:
    for arguments in arguments_of(tool):
        alone, both = (answer_of(home, tool, arguments, who) for home in (homes.alone, homes.both))

        assert not leaked(both, arguments), both
        assert both.replace(str(homes.both), "") == alone.replace(str(homes.alone), "")


@pytest.mark.parametrize("who", WHO)
def test_a_change_reaches_other_repositories_only_for_who_may_read_them(homes: Homes, who: str) -> None:
    (tool,) = (tool for tool in TOOLS if tool.name == "impact")
    arguments = {**CALLS["impact"], "repo": "till"}
    for_all = tool.ask(ToolContext(opened(homes.both), Path("/")), arguments).text()

    assert "wombatname_client" in for_all
    assert "till/use.py" in answer_of(homes.both, tool, arguments, who)
    assert not leaked(answer_of(homes.both, tool, arguments, who), arguments)
    asked = {"repo": "till", "ids": ["till/pay.py::check"]}
    assert "wombatname_client" in tool.ask(ToolContext(opened(homes.both), Path("/")), asked).text()
    assert not leaked(answer_of(homes.both, tool, asked, who), asked)
    a = homes.both.parent / "a"
    other = GitRepo(a).git("commit-tree", "HEAD^{tree}", "-m", "on no branch").strip()
    assert "has no commit " in answer_of(homes.both, tool, {**arguments, "range": f"{other}..HEAD"}, who)


@pytest.mark.parametrize("who", WHO)
def test_unknown_and_forbidden_are_one_answer(homes: Homes, who: str) -> None:
    for tool in TOOLS:
        for name in {"repo", "repos"} & {*tool.arguments.model_fields}:
            forbidden = answer_of(homes.both, tool, {**CALLS[tool.name], name: KEY_OF_B}, who)
            unknown = answer_of(homes.both, tool, {**CALLS[tool.name], name: "till-nothing"}, who)

            assert forbidden.replace(KEY_OF_B, "") == unknown.replace("till-nothing", "")


@pytest.mark.parametrize("who", WHO)
def test_over_mcp_nothing_is_listed_or_given_of_others(homes: Homes, who: str, provider: SmallProvider) -> None:
    requests: list[tuple[str, dict[str, Any]]] = [
        *((method, {}) for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list")),
        *(("tools/call", {"name": name, "arguments": arguments}) for name, arguments in CALLS.items()),
        *(
            ("resources/read", {"uri": f"codesum://{repo}/{id_}"})
            for repo in ("till", KEY_OF_B, "TILL-QUOKKA", "..", "")
            for id_ in (".", "till/pay.py", "numbatpath/pay.py::wombatname", f"../{KEY_OF_B}")
        ),
        ("resources/subscribe", {"uri": f"codesum://{KEY_OF_B}/."}),
        (
            "completion/complete",
            {
                "ref": {"type": "ref/resource", "uri": "codesum://{repo}/{+id}"},
                "argument": {"name": "repo", "value": "t"},
            },
        ),
        ("logging/setLevel", {"level": "debug"}),
        ("nothing/like/this", {}),
    ]
    settings = identity_settings(provider)
    headers = {"Authorization": f"Bearer {provider.token(settings.mcp_url or '')}"} if who == "person" else HEADERS
    with (
        mcp(homes.alone, people=BearerPeople.of(settings)) as alone,
        mcp(homes.both, people=BearerPeople.of(settings)) as both,
    ):
        sessions = Session(alone, headers), Session(both, headers)
        for method, params in requests:
            first, second = (all_of(session.ask(method, params)) for session in sessions)

            assert not leaked(second, params), second
            assert second.replace(str(homes.both), "") == first.replace(str(homes.alone), "")


@pytest.mark.parametrize("who", WHO)
def test_an_entry_or_registry_that_cannot_be_read_shows_nothing_of_others(
    homes: Homes, tmp_path: Path, who: str
) -> None:
    home = Path(shutil.copytree(homes.both, tmp_path / "home", symlinks=True))
    registry, registered = home / "repos.yaml", (home / "repos.yaml").read_text()
    for content in (
        registered.replace(f"{KEY_OF_B}:", "Till:"),
        registered.replace("ref: taipanbranch", "refs: taipanbranch"),
        f"{registered}\n  quokka: [taipanbranch",
        "quokka: 1\n",
    ):
        registry.write_text(content)
        for tool in TOOLS:
            answer = answer_of(home, tool, CALLS[tool.name], who)
            assert not leaked(answer, ""), answer


# Of who is at the provider and has no session here yet, or whose token opens nothing.
OUTSIDE = (
    {},
    {"Cookie": "codesum-session=x; __Host-codesum-session=y"},
    {"Authorization": "Bearer a.b.c"},
    {"Authorization": "Basic YTpi"},
)


@pytest.mark.parametrize("groups", [None, [], ["others"], ["TILLS", "till", KEY_OF_B]], ids=repr)
def test_who_may_read_nothing_learns_nothing(homes: Homes, provider: SmallProvider, groups: list[str] | None) -> None:
    settings = identity_settings(provider)
    token = provider.token(settings.mcp_url or "", groups=groups)
    everybody = [*OUTSIDE, {"Authorization": f"Bearer {token}"}]
    answers = []
    for home in (homes.alone, homes.both):
        with pages(home, people=browser_people(provider)) as site, mcp(home, people=BearerPeople.of(settings)) as tools:
            found = [
                all_of(site.get(target.format(b=KEY_OF_B, conversation="x", turn_a="x", turn_b="x"), headers=headers))
                for headers in everybody
                for target in (*TARGETS["/repository"], *TARGETS["/hits"], *TARGETS["/ask"], "/sign-out", "/signed-in")
            ]
            calls = [
                {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
                for name, arguments in CALLS.items()
            ]
            found += [all_of(tools.post("/mcp", json=call, headers=headers)) for headers in everybody for call in calls]
            answers.append(found)

    assert answers[0] == answers[1]
    assert not {answer.partition("\n")[0] for answer in answers[1]} & {"200", "404", "500"}


def test_what_anybody_may_read_names_no_repository(homes: Homes, provider: SmallProvider) -> None:
    settings = identity_settings(provider)
    with (
        pages(homes.both, people=browser_people(provider)) as site,
        mcp(homes.both, people=BearerPeople.of(settings)) as tools,
    ):
        public = [
            tools.get("/.well-known/oauth-protected-resource/mcp").text,
            site.get("/static/page.js").text,
            site.get(f"/sign-in?to=/repository?repo={KEY_OF_B}").headers["location"],
            site.post("/sign-out").text,
        ]

    assert not [text for text in public if leaked(text, "")]
