"""What makes an agent use the tools: offered, written with --yes, and taken away without a trace."""

import json
import stat
import tomllib

import pytest

from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.ways_in.mcp.agent_profiles import WHEN, Agent, AgentOffer, Places
from codesum_pipeline.ways_in.mcp.edited_files import BEGIN, END
from codesum_pipeline.ways_in.mcp.installing import Installer

COMMAND = ["/opt/codesum", "mcp"]
OFFER = AgentOffer(["search", "read", "status"], ["search", "read"], "hint || true")


@pytest.fixture
def installer(tmp_path):
    return Installer(Places(tmp_path / "project", tmp_path / "home"), state=tmp_path / "state")


@pytest.fixture
def installer_of_user(tmp_path):
    return Installer(Places(tmp_path / "project", tmp_path / "home", is_user=True), state=tmp_path / "state")


def planned(installer, agent, *, command=COMMAND, offer=OFFER):
    places = installer.places
    return installer.plan_install(agent, [*places.server_parts(agent, command), *places.offered_parts(agent, offer)])


def made(installer, changes):
    """The problems of changes that could not be made; the others are."""
    for change in changes:
        if not change.problem:
            installer.make(change)
    return [change.problem for change in changes if change.problem]


def files_in(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "mcp_installed.json"
    }


@pytest.mark.parametrize("is_user", [False, True], ids=["project", "user"])
@pytest.mark.parametrize("agent", Agent)
def test_all_that_is_written_for_an_agent_goes_again_and_twice_is_once(tmp_path, agent, is_user):
    installer = Installer(Places(tmp_path / "project", tmp_path / "home", is_user=is_user), state=tmp_path / "state")

    assert made(installer, planned(installer, agent)) == []
    once = files_in(tmp_path)
    again = planned(installer, agent)
    assert not any(change.is_one for change in again)
    assert made(installer, again) == []
    assert files_in(tmp_path) == once
    assert once
    assert made(installer, installer.plan_uninstall(agent)) == []
    assert files_in(tmp_path) == {}
    assert not (tmp_path / "project").exists()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "# Ours\n\nRun the tests.\n",
        "no end of line",
        "# Windows\r\n\r\nRun the tests.\r\n",
        "\ufeff# A mark before\n",
        "<!-- other: begin -->\nkept\n<!-- other: end -->\n",
    ],
    ids=["empty", "text", "no end of line", "CRLF", "byte order mark", "other marks"],
)
def test_instructions_keep_every_byte_around_the_lines_of_ours(installer, content):
    file = installer.places.folder / "CLAUDE.md"
    file.parent.mkdir()
    file.write_bytes(content.encode())

    made(installer, planned(installer, Agent.CLAUDE))
    after = file.read_bytes().decode()
    assert after.startswith(content)
    lines = after[len(content) :].strip().splitlines()
    assert (lines[0], lines[-1]) == (BEGIN, END)
    assert len(lines) - 2 == 1 + len(OFFER.tools)
    assert ("\r\n" in after) == ("\r\n" in content)
    assert "\r\n" not in content or "\n" not in after.replace("\r\n", "")
    made(installer, installer.plan_uninstall(Agent.CLAUDE))
    assert file.read_bytes().decode() == content


@pytest.mark.parametrize(
    "content",
    [
        "{}",
        '{"permissions": {"allow": ["Bash(ls)"], "deny": []}}',
        '{\n  // mine\n  "permissions": {\n    "allow": [\n      "Bash(ls)", // kept\n    ],\n  },\n}\n',
        '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": []}]}, "model": "x"}\n',
        '{\r\n  "model": "x"\r\n}\r\n',
        '\ufeff{"model": "x"}',
    ],
    ids=["empty", "permissions", "comments", "hooks", "CRLF", "byte order mark"],
)
def test_settings_keep_every_byte_around_what_is_ours(installer, content):
    file = installer.places.folder / ".claude" / "settings.local.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(content.encode())

    assert made(installer, planned(installer, Agent.CLAUDE)) == []
    after = file.read_bytes().decode()
    assert after.count("mcp__codesum__search") == after.count("hint || true") == 1
    assert "\r\n" not in content or "\n" not in after.replace("\r\n", "")
    made(installer, installer.plan_uninstall(Agent.CLAUDE))
    assert file.read_bytes().decode() == content


def test_what_claude_is_given(installer):
    made(installer, planned(installer, Agent.CLAUDE))

    settings = json.loads((installer.places.folder / ".claude" / "settings.local.json").read_text())
    assert settings == {
        "permissions": {"allow": ["mcp__codesum__search", "mcp__codesum__read"]},
        "enabledMcpjsonServers": ["codesum"],
        "hooks": {
            "PreToolUse": [
                {
                    "matcher": "Grep|Bash",
                    "hooks": [{"type": "command", "command": "hint || true", "timeout": 5}],
                }
            ]
        },
    }


def test_where_questions_are_sent_away_no_tool_is_permitted(installer, installer_of_user):
    offer = AgentOffer(OFFER.tools, [], OFFER.hint)
    for agent in Agent:
        made(installer, planned(installer, agent, offer=offer))
        made(installer_of_user, planned(installer_of_user, agent, offer=offer))

    folder = installer.places.folder.parent
    contents = b"".join(content for name, content in files_in(folder).items() if not name.endswith(".md"))
    assert b'"codesum"' in contents
    for permission in (b"mcp__codesum", b"Mcp(", b"approval_mode", b"trust"):
        assert permission not in contents


def test_codex_may_call_each_tool_that_is_permitted(installer):
    made(installer, planned(installer, Agent.CODEX))

    server = tomllib.loads((installer.places.home / ".codex" / "config.toml").read_text())["mcp_servers"]["codesum"]
    assert server == {
        "command": "/opt/codesum",
        "args": ["mcp"],
        "tools": {"search": {"approval_mode": "approve"}, "read": {"approval_mode": "approve"}},
    }


def test_settings_that_a_client_wrote_anew_lose_ours_and_keep_what_was_added(installer):
    made(installer, planned(installer, Agent.CLAUDE))
    file = installer.places.folder / ".claude" / "settings.local.json"
    content = json.loads(file.read_text())
    content["permissions"]["allow"] = ["Bash(ls)", *content["permissions"]["allow"]]
    file.write_text(json.dumps(content))

    assert made(installer, installer.plan_uninstall(Agent.CLAUDE)) == []
    assert json.loads(file.read_text()) == {
        "permissions": {"allow": ["Bash(ls)"]},
        "enabledMcpjsonServers": [],
        "hooks": {"PreToolUse": []},
    }


def test_another_command_takes_the_place_of_the_first(installer):
    made(installer, planned(installer, Agent.CLAUDE))
    made(installer, planned(installer, Agent.CLAUDE, command=["/opt/codesum", "mcp", "--repo", "x"]))

    servers = json.loads((installer.places.folder / ".mcp.json").read_text())["mcpServers"]
    assert servers == {"codesum": {"command": "/opt/codesum", "args": ["mcp", "--repo", "x"]}}
    made(installer, installer.plan_uninstall(Agent.CLAUDE))
    assert not (installer.places.folder / ".mcp.json").exists()


def test_what_was_taken_out_by_hand_is_written_again(installer):
    made(installer, planned(installer, Agent.CLAUDE))
    before = files_in(installer.places.folder)
    (installer.places.folder / "CLAUDE.md").write_text("")
    (installer.places.folder / ".mcp.json").unlink()

    made(installer, planned(installer, Agent.CLAUDE))
    assert files_in(installer.places.folder) == before


def test_lines_that_two_agents_read_stay_until_both_are_gone(installer):
    for agent in (Agent.CURSOR, Agent.CODEX):
        made(installer, planned(installer, agent))
    file = installer.places.folder / "AGENTS.md"
    assert file.read_text().count(BEGIN) == 1

    made(installer, installer.plan_uninstall(Agent.CURSOR))
    assert file.read_text().count(BEGIN) == 1
    made(installer, installer.plan_uninstall(Agent.CODEX))
    assert not file.exists()


def test_lines_that_were_changed_are_not_guessed_at_and_the_rest_is_taken_away(installer):
    made(installer, planned(installer, Agent.CLAUDE))
    file = installer.places.folder / "CLAUDE.md"
    file.write_text(file.read_text().replace("`read`", "`cat`"))

    (problem,) = made(installer, installer.plan_uninstall(Agent.CLAUDE))
    assert problem == f"{file}: somebody has changed what was written there: remove it by hand"
    assert [*files_in(installer.places.folder)] == ["CLAUDE.md"]


def test_lines_that_came_with_a_clone_are_left(installer):
    made(installer, planned(installer, Agent.CLAUDE))
    content = (installer.places.folder / "CLAUDE.md").read_text()
    made(installer, installer.plan_uninstall(Agent.CLAUDE))
    (installer.places.folder).mkdir(exist_ok=True)
    (installer.places.folder / "CLAUDE.md").write_text(content)

    made(installer, planned(installer, Agent.CLAUDE))
    made(installer, installer.plan_uninstall(Agent.CLAUDE))
    assert files_in(installer.places.folder) == {"CLAUDE.md": content.encode()}


@pytest.mark.parametrize(
    ("below", "content", "message"),
    [
        (".claude/settings.local.json", "{", "it is no JSON object"),
        (".claude/settings.local.json", '{"permissions": []}', "'permissions' in it is no object: mend it first"),
        (".claude/settings.local.json", '{"hooks": {"PreToolUse": {}}}', "'hooks.PreToolUse' in it is no list"),
        ("CLAUDE.md", f"{BEGIN}\nother lines\n{END}\n", "it has other lines between"),
        ("CLAUDE.md", b"\xff\xfe", "can't decode byte 0xff in position 0: invalid start byte): save it as UTF-8"),
    ],
    ids=["no JSON", "a list", "an object", "other lines", "no UTF-8"],
)
def test_a_file_that_nothing_can_be_put_into_stays_and_the_others_are_written(installer, below, content, message):
    file = installer.places.folder / below
    file.parent.mkdir(parents=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = file.read_bytes()

    (problem,) = made(installer, planned(installer, Agent.CLAUDE))
    assert problem.startswith(f"{file}: ") and message in problem
    assert file.read_bytes() == before
    assert len(files_in(installer.places.folder)) == 3
    made(installer, installer.plan_uninstall(Agent.CLAUDE))
    assert files_in(installer.places.folder) == {below: before}


def test_a_read_only_file_is_named_and_stays(installer):
    file = installer.places.folder / "CLAUDE.md"
    file.parent.mkdir()
    file.write_text("mine\n")
    file.chmod(0o444)
    (change,) = [each for each in planned(installer, Agent.CLAUDE) if each.file.path == file]

    with pytest.raises(ConfigurationError, match=f"{file}: it is read-only: run `chmod u\\+w {file}`"):
        installer.make(change)
    assert file.read_text() == "mine\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o444


@pytest.mark.parametrize(("link", "real"), [("CLAUDE.md", "AGENTS.md"), ("AGENTS.md", "CLAUDE.md")])
def test_instructions_with_two_names_are_written_once_and_the_link_stays(installer, link, real):
    folder = installer.places.folder
    folder.mkdir()
    (folder / real).write_text("ours\n")
    (folder / link).symlink_to(real)

    for agent in (Agent.CLAUDE, Agent.CODEX):
        assert made(installer, planned(installer, agent)) == []
    assert (folder / link).is_symlink()
    assert (folder / real).read_text().count(BEGIN) == 1
    for agent in (Agent.CLAUDE, Agent.CODEX):
        made(installer, installer.plan_uninstall(agent))
    assert (folder / real).read_text() == "ours\n"


def test_instructions_that_link_elsewhere_are_refused(installer, tmp_path):
    (tmp_path / "elsewhere.md").write_text("kept\n")
    installer.places.folder.mkdir()
    (installer.places.folder / "CLAUDE.md").symlink_to(tmp_path / "elsewhere.md")

    (problem,) = made(installer, planned(installer, Agent.CLAUDE))
    assert "links are not followed here" in problem
    assert (tmp_path / "elsewhere.md").read_text() == "kept\n"


def test_every_default_tool_has_a_line_and_all_of_them_are_ten_at_most():
    assert {*tools_by_name(every=False)} <= {*WHEN}
    assert 1 + len(WHEN) <= 10
    assert max(map(len, WHEN.values())) <= 120


def test_the_command_offers_shows_does_and_takes_away(codesum_call, shop, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    before = files_in(tmp_path)

    shown = codesum_call(shop, "mcp", "--install", "claude", "--dry-run")
    assert files_in(tmp_path) == before
    assert shown.exit_code == 0
    offering = codesum_call(shop, "mcp", "--install", "claude", "--tools", "all")
    assert [*files_in(tmp_path)] == sorted([*before, ".mcp.json"])
    assert "with --yes, what makes claude use the tools is written, too" in offering.stderr.replace("\n", " ")
    assert "+- `search`: " in offering.stdout and "mcp__codesum__watch_changes" in offering.stdout
    arguments = json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"]["codesum"]["args"]
    assert arguments[-5:] == ["--home", str(shop), "mcp", "--tools", "all"]

    doing = codesum_call(shop, "mcp", "--install", "claude", "--yes")
    assert doing.exit_code == 0
    assert "with --yes" not in doing.stderr
    assert [*files_in(tmp_path)] == sorted([*before, ".mcp.json", "CLAUDE.md", ".claude/settings.local.json"])
    again = codesum_call(shop, "mcp", "--install", "claude", "--yes")
    assert (again.exit_code, again.stdout, again.stderr.count("unchanged")) == (0, "", 3)
    assert codesum_call(shop, "mcp", "--uninstall", "claude").exit_code == 0
    assert files_in(tmp_path) == before
    assert codesum_call(shop, "mcp", "--uninstall", "claude").exit_code == 2


@pytest.mark.parametrize(("embedder", "is_permitted"), [("static", True), ("litellm/voyage/voyage-code-3", False)])
def test_the_command_permits_tools_where_questions_stay_here(
    codesum_call, shop, tmp_path, monkeypatch, embedder, is_permitted
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("CODESUM_EMBEDDER", embedder)

    result = codesum_call(shop, "mcp", "--install", "claude", "--yes")
    assert ("permissions" in json.loads((tmp_path / ".claude" / "settings.local.json").read_text())) is is_permitted
    assert (f"the embedder {embedder} is sent each question" in result.stderr.replace("\n", " ")) is not is_permitted


def test_of_several_files_one_that_cannot_be_written_is_reported(codesum_call, shop, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "CLAUDE.md").mkdir()

    result = codesum_call(shop, "mcp", "--install", "claude", "--yes")
    assert result.exit_code == 2
    assert f"{tmp_path / 'CLAUDE.md'}: it is no file" in result.stderr.replace("\n", " ")
    assert (tmp_path / ".mcp.json").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--yes"], "go with --install or --uninstall"),
        (["--user"], "go with --install or --uninstall"),
        (["--dry-run"], "go with --install or --uninstall"),
        (["--uninstall", "claude", "--yes"], "--yes goes with --install"),
        (["--uninstall", "claude", "--install", "codex"], "choose one of them"),
    ],
)
def test_options_that_do_not_go_together_are_refused(codesum_call, shop, options, message):
    result = codesum_call(shop, "mcp", *options)

    assert result.exit_code == 2
    assert message in result.stderr.replace("\n", " ")
