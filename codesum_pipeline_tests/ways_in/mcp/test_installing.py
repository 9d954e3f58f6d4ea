"""`codesum mcp --install`: other entries and comments stay, and --uninstall leaves each file as it was."""

import json
import os
import stat
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.ways_in.mcp.agent_files import AgentFile
from codesum_pipeline.ways_in.mcp.agent_profiles import Agent, AgentOffer, Places
from codesum_pipeline.ways_in.mcp.edited_files import _plain, insert_values, remove_values
from codesum_pipeline.ways_in.mcp.installing import Installer

COMMAND = ["/opt/codesum", "mcp"]
OFFER = AgentOffer(["search", "read", "status"], ["search", "read"], "hint || true")
COMMENTED = """// Servers of the team.
{
  /* kept */
  "inputs": ["a", "b",], // with a comma
  "mcpServers": {
    // "codesum": { "command": "old" },
    "files": {"command": "npx", "args": ["//not a comment", "/* nor this */",],},
  },
}
"""
IN_JSON = [agent for agent in Agent if agent is not Agent.CODEX]


@pytest.fixture
def installer(tmp_path):
    return Installer(Places(tmp_path / "project", tmp_path / "home"), state=tmp_path / "state")


def changed(installer, changes):
    """Make the changes; the file and its content, where it is one that can be changed."""
    for change in changes:
        if change.problem:
            raise ConfigurationError(change.problem)
        installer.make(change)
    return changes[0].file.path, changes[0].after


def install(installer, agent, command=COMMAND):
    return changed(installer, installer.plan_install(agent, installer.places.server_parts(agent, command)))


def install_all(installer, agent, *, command=COMMAND, offer=OFFER):
    places = installer.places
    return changed(
        installer,
        installer.plan_install(agent, [*places.server_parts(agent, command), *places.offered_parts(agent, offer)]),
    )


def uninstall(installer, agent):
    return changed(installer, installer.plan_uninstall(agent))


def servers_of(file):
    content = json.loads(_plain(file.read_text()))
    return content.get("mcpServers", content.get("servers"))


@pytest.mark.parametrize("agent", IN_JSON)
def test_a_file_that_was_not_there_is_made_and_goes_again(installer, agent, tmp_path):
    file, text = install(installer, agent)

    assert file.read_text() == text
    kind = {"type": "stdio"} if agent is Agent.VSCODE else {}
    assert servers_of(file) == {"codesum": {**kind, "command": "/opt/codesum", "args": ["mcp"]}}
    assert uninstall(installer, agent) == (file, None)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "state" / "mcp_installed.json"]
    assert not (tmp_path / "project").exists()


@pytest.mark.parametrize(
    "content",
    [COMMENTED, "{}", "{ }\n", '{"mcpServers": {}}', '{"mcpServers": {\n  }\n}', '{"other": 1}', '{"a": 1,}\n', "\n"],
)
def test_what_else_is_in_a_file_stays_and_uninstalling_leaves_it_as_it_was(installer, content):
    file = installer.places.folder / ".mcp.json"
    file.parent.mkdir()
    file.write_text(content)
    before = json.loads(_plain(content)) if content.strip() else {}

    install(installer, Agent.CLAUDE)
    after = json.loads(_plain(file.read_text()))
    assert after.pop("mcpServers") == {
        "codesum": {"command": "/opt/codesum", "args": ["mcp"]},
        **before.pop("mcpServers", {}),
    }
    assert after == before
    uninstall(installer, Agent.CLAUDE)
    assert file.read_text() == content


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(max_size=6), _VALUES, max_size=4),
    st.none() | st.dictionaries(st.text(max_size=6), _VALUES, max_size=3),
    st.sampled_from([None, 0, 2, "\t"]),
)
def test_any_json_has_the_entry_added_and_nothing_else_changed(others, servers, indent):
    before = {**others, **({} if servers is None else {"mcpServers": servers})}
    if not isinstance(before.get("mcpServers", {}), dict):
        return
    content = json.dumps(before, indent=indent)

    insertion = insert_values(content, ["mcpServers"], {"codesum": {"command": "x"}})

    after = json.loads(insertion.into(content))
    assert after["mcpServers"].pop("codesum") == {"command": "x"}
    assert after == {"mcpServers": {}, **before}


@given(st.dictionaries(st.text(max_size=6), _VALUES, max_size=4), st.lists(_VALUES, max_size=3), st.booleans())
def test_what_a_client_wrote_anew_meanwhile_is_taken_out_wherever_it_is(others, allowed, is_indented):
    before = {**others, "permissions": {"allow": allowed, "deny": []}}
    ours = ["codesum: one", {"codesum": ["two"]}]
    insertion = insert_values(json.dumps(before), ["permissions", "allow"], ours)

    rewritten = json.loads(insertion.into(json.dumps(before)))
    assert rewritten["permissions"]["allow"] == [*ours, *allowed]
    rewritten["permissions"]["allow"].reverse()
    rest = remove_values(json.dumps(rewritten, indent=2 if is_indented else None), ["permissions", "allow"], ours)
    assert json.loads(rest) == {**before, "permissions": {"allow": allowed[::-1], "deny": []}}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            '{\n\t"mcpServers": {\n\t\t"a": {}\n\t}\n}',
            '{\n\t"mcpServers": {\n\t\t"b": {\n\t\t\t"c": [\n\t\t\t\t1\n\t\t\t]\n\t\t},\n\t\t"a": {}\n\t}\n}',
        ),
        (
            '{\n    // mine\n    "x": 1\n}',
            '{\n    "mcpServers": {\n        "b": {\n            "c": [\n                1\n            ]\n'
            '        }\n    },\n    // mine\n    "x": 1\n}',
        ),
    ],
    ids=["tabs", "four blanks and a comment"],
)
def test_an_entry_is_laid_out_as_those_beside_it(content, expected):
    added = insert_values(content, ["mcpServers"], {"b": {"c": [1]}})

    assert added.into(content) == expected


def test_toml_has_a_table_added_at_its_end(installer):
    file = installer.places.home / ".codex" / "config.toml"
    file.parent.mkdir(parents=True)
    content = '# mine\nmodel = "x"\n[mcp_servers.other]\ncommand = "y"'
    file.write_text(content)

    install(installer, Agent.CODEX)
    found = tomllib.loads(file.read_text())
    assert found["mcp_servers"]["codesum"] == {"command": "/opt/codesum", "args": ["mcp"]}
    assert (found["model"], found["mcp_servers"]["other"]) == ("x", {"command": "y"})
    uninstall(installer, Agent.CODEX)
    assert file.read_text() == content


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "it is no JSON object"),
        ("[]", "it is no JSON object"),
        ('{"a" 1}', "it is no JSON object"),
        ('{"mcpServers": []}', "'mcpServers' in it is no object"),
        ('{"mcpServers": {"codesum": {}}}', "it has a server 'codesum' already"),
        ("[" * 100_000, "it is no JSON object"),
    ],
    ids=["cut off", "list", "no colon", "servers a list", "there already", "deep"],
)
def test_a_file_that_nothing_can_be_put_into_stays_as_it_is(installer, content, message):
    file = installer.places.folder / ".mcp.json"
    file.parent.mkdir()
    file.write_text(content)

    with pytest.raises(ConfigurationError, match=message) as error:
        install(installer, Agent.CLAUDE)
    assert str(file) in str(error.value)
    assert file.read_text() == content


def test_a_server_that_was_put_behind_ours_stays(installer):
    file, _ = install(installer, Agent.CURSOR)
    content = json.loads(file.read_text())
    entry = json.dumps(content["mcpServers"]["codesum"], indent=2).replace("\n", "\n    ")
    file.write_text(file.read_text().replace(f'"codesum": {entry}\n', f'"codesum": {entry},\n    "new": {{}}\n'))

    uninstall(installer, Agent.CURSOR)
    assert json.loads(file.read_text()) == {"mcpServers": {"new": {}}}


def test_an_entry_that_was_changed_is_not_guessed_at(installer):
    file, _ = install(installer, Agent.CLAUDE)
    file.write_text(file.read_text().replace("/opt/codesum", "/usr/bin/codesum"))

    with pytest.raises(ConfigurationError, match="was changed since it was written: remove it by hand"):
        uninstall(installer, Agent.CLAUDE)


def test_what_was_never_written_is_not_taken_away(installer):
    with pytest.raises(ConfigurationError, match="`codesum mcp --install claude` wrote nothing in it"):
        uninstall(installer, Agent.CLAUDE)


@pytest.mark.parametrize("agent", [Agent.CODEX, Agent.WINDSURF])
def test_a_link_in_the_users_own_folder_stays_a_link(installer, agent, tmp_path):
    real = tmp_path / "dotfiles" / "settings"
    real.parent.mkdir()
    real.write_text("")
    link = installer.places.home / (
        ".codex/config.toml" if agent is Agent.CODEX else ".codeium/windsurf/mcp_config.json"
    )
    link.parent.mkdir(parents=True)
    link.symlink_to(real)

    install(installer, agent)
    assert link.is_symlink()
    assert "codesum" in real.read_text()
    uninstall(installer, agent)
    assert link.is_symlink()
    assert real.read_text() == ""


OF_PROJECT = {
    Agent.CLAUDE: ".mcp.json",
    Agent.CURSOR: ".cursor/mcp.json",
    Agent.VSCODE: ".vscode/mcp.json",
    Agent.GEMINI: ".gemini/settings.json",
}


def _clone_with(installer, below, make):
    """A project in which something else is in a file's or a folder's place."""
    place = installer.places.folder / below
    place.parent.mkdir(parents=True)
    make(place)
    return place


def _elsewhere(tmp_path):
    """All that is outside of the project, with what it holds; the installer's own record apart."""
    outside = [path for path in tmp_path.rglob("*") if not path.is_relative_to(tmp_path / "project")]
    return {path: path.is_file() and path.read_bytes() for path in outside if path.name != "mcp_installed.json"}


@pytest.mark.parametrize("agent", OF_PROJECT)
@pytest.mark.parametrize("target", ["file", "dangling", "relative"])
def test_a_file_that_is_a_link_in_a_project_is_refused(installer, agent, target, tmp_path):
    victim = tmp_path / "victim.json"
    if target != "dangling":
        victim.write_text("{}")
    to = "../" * (OF_PROJECT[agent].count("/") + 1) + victim.name if target == "relative" else str(victim)
    link = _clone_with(installer, OF_PROJECT[agent], lambda place: place.symlink_to(to))
    before = _elsewhere(tmp_path)

    with pytest.raises(ConfigurationError, match=f"{link}: it is a link to {to}.*links are not followed"):
        install(installer, agent)
    assert _elsewhere(tmp_path) == before
    assert link.is_symlink()


@pytest.mark.parametrize("agent", [agent for agent, below in OF_PROJECT.items() if "/" in below])
@pytest.mark.parametrize("is_there", [True, False], ids=["folder", "dangling"])
def test_a_folder_that_is_a_link_in_a_project_is_refused(installer, agent, is_there, tmp_path):
    victim = tmp_path / "victim"
    if is_there:
        victim.mkdir()
    folder = OF_PROJECT[agent].partition("/")[0]
    link = _clone_with(installer, folder, lambda place: place.symlink_to(victim))
    before = _elsewhere(tmp_path)

    with pytest.raises(ConfigurationError, match=f"{link}: it is a link to {victim}.*links are not followed"):
        install(installer, agent)
    assert _elsewhere(tmp_path) == before


@pytest.mark.parametrize(
    ("below", "make"),
    [
        (".mcp.json", os.mkfifo),
        (".mcp.json", os.mkdir),
        (".cursor", lambda place: place.write_text("")),
        (".cursor", os.mkfifo),
    ],
    ids=["pipe", "folder", "file for a folder", "pipe for a folder"],
)
def test_what_is_no_file_or_no_folder_is_refused_at_once(installer, below, make):
    place = _clone_with(installer, below, make)
    agent = Agent.CLAUDE if below == ".mcp.json" else Agent.CURSOR

    with pytest.raises(ConfigurationError, match=f"{place}: it is no f"):
        install(installer, agent)


def test_a_link_that_comes_while_it_is_written_is_replaced(tmp_path):
    """What was read before is no promise: the name is replaced, whatever it is by then."""
    victim = tmp_path / "victim.json"
    victim.write_text("{}")
    (tmp_path / "project").mkdir()
    file = AgentFile(tmp_path / "project", ".mcp.json")
    assert file.read() is None
    file.path.symlink_to(victim)

    file.write("{1}")
    assert victim.read_text() == "{}"
    assert not file.path.is_symlink()
    assert file.path.read_text() == "{1}"


def test_a_project_may_be_reached_through_a_link(installer, tmp_path):
    """The user goes there: only what is below may come with the clone."""
    (tmp_path / "real").mkdir()
    (tmp_path / "project").symlink_to(tmp_path / "real")

    file, text = install(installer, Agent.CURSOR)
    assert file == tmp_path / "real" / ".cursor" / "mcp.json"
    assert file.read_text() == text
    assert uninstall(installer, Agent.CURSOR) == (file, None)


def test_a_file_keeps_the_permissions_that_it_had(installer):
    file = installer.places.folder / ".mcp.json"
    file.parent.mkdir()
    file.write_text("{}")
    file.chmod(0o640)

    install(installer, Agent.CLAUDE)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_the_command_refuses_a_link_that_a_clone_brings(codesum_call, shop, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    victim = tmp_path / "victim.json"
    victim.write_text("{}")
    (tmp_path / ".mcp.json").symlink_to(victim)

    result = codesum_call(shop, "mcp", "--install", "claude")
    assert result.exit_code == 2
    assert "it is a link to" in result.stderr.replace("\n", " ")
    assert victim.read_text() == "{}"
