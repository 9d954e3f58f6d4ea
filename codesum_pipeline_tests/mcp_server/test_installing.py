"""`codesum mcp --install`: other entries and comments stay, and --uninstall leaves each file as it was."""

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codesum_pipeline.mcp_server.installing import Agent, Installer, _plain, insert_member
from codesum_pipeline.model.errors import ConfigurationError

COMMAND = ["/opt/codesum", "mcp"]
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
    return Installer(folder=tmp_path / "project", home=tmp_path / "home", state=tmp_path / "state")


def servers_of(file):
    content = json.loads(_plain(file.read_text()))
    return content.get("mcpServers", content.get("servers"))


@pytest.mark.parametrize("agent", IN_JSON)
def test_a_file_that_was_not_there_is_made_and_goes_again(installer, agent, tmp_path):
    file, text = installer.install(agent, COMMAND)

    assert file.read_text() == text
    kind = {"type": "stdio"} if agent is Agent.VSCODE else {}
    assert servers_of(file) == {"codesum": {**kind, "command": "/opt/codesum", "args": ["mcp"]}}
    assert installer.uninstall(agent) == (file, text)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / "state" / "mcp_installed.json"]
    assert not (tmp_path / "project").exists()


@pytest.mark.parametrize(
    "content",
    [COMMENTED, "{}", "{ }\n", '{"mcpServers": {}}', '{"mcpServers": {\n  }\n}', '{"other": 1}', '{"a": 1,}\n', "\n"],
)
def test_what_else_is_in_a_file_stays_and_uninstalling_leaves_it_as_it_was(installer, content):
    file = installer.folder / ".mcp.json"
    file.parent.mkdir()
    file.write_text(content)
    before = json.loads(_plain(content)) if content.strip() else {}

    _, text = installer.install(Agent.CLAUDE, COMMAND)
    after = json.loads(_plain(file.read_text()))
    assert after.pop("mcpServers") == {
        "codesum": {"command": "/opt/codesum", "args": ["mcp"]},
        **before.pop("mcpServers", {}),
    }
    assert after == before
    assert file.read_text().replace(text, "") == content
    installer.uninstall(Agent.CLAUDE)
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

    insertion = insert_member(content, "mcpServers", "codesum", {"command": "x"})

    after = json.loads(insertion.into(content))
    assert after["mcpServers"].pop("codesum") == {"command": "x"}
    assert after == {"mcpServers": {}, **before}


def test_toml_has_a_table_added_at_its_end(installer):
    file = installer.home / ".codex" / "config.toml"
    file.parent.mkdir(parents=True)
    content = '# mine\nmodel = "x"\n[mcp_servers.other]\ncommand = "y"'
    file.write_text(content)

    installer.install(Agent.CODEX, COMMAND)
    found = tomllib.loads(file.read_text())
    assert found["mcp_servers"]["codesum"] == {"command": "/opt/codesum", "args": ["mcp"]}
    assert (found["model"], found["mcp_servers"]["other"]) == ("x", {"command": "y"})
    installer.uninstall(Agent.CODEX)
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
    file = installer.folder / ".mcp.json"
    file.parent.mkdir()
    file.write_text(content)

    with pytest.raises(ConfigurationError, match=message) as error:
        installer.install(Agent.CLAUDE, COMMAND)
    assert str(file) in str(error.value)
    assert file.read_text() == content


def test_a_server_that_was_put_behind_ours_stays(installer):
    file, _ = installer.install(Agent.CURSOR, COMMAND)
    content = json.loads(file.read_text())
    entry = json.dumps(content["mcpServers"]["codesum"], indent=2).replace("\n", "\n    ")
    file.write_text(file.read_text().replace(f'"codesum": {entry}\n', f'"codesum": {entry},\n    "new": {{}}\n'))

    installer.uninstall(Agent.CURSOR)
    assert json.loads(file.read_text()) == {"mcpServers": {"new": {}}}


def test_an_entry_that_was_changed_is_not_guessed_at(installer):
    file, _ = installer.install(Agent.CLAUDE, COMMAND)
    file.write_text(file.read_text().replace("/opt/codesum", "/usr/bin/codesum"))

    with pytest.raises(ConfigurationError, match="was changed since it was written: remove it by hand"):
        installer.uninstall(Agent.CLAUDE)


def test_what_was_never_written_is_not_taken_away(installer):
    with pytest.raises(ConfigurationError, match="nothing in it was written by `codesum mcp --install claude`"):
        installer.uninstall(Agent.CLAUDE)


def test_a_linked_file_stays_a_link(installer, tmp_path):
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    link = installer.folder / ".mcp.json"
    link.parent.mkdir()
    link.symlink_to(real)

    installer.install(Agent.CLAUDE, COMMAND)
    assert link.is_symlink()
    assert "codesum" in servers_of(real)
    installer.uninstall(Agent.CLAUDE)
    assert real.read_text() == "{}"


def test_the_command_says_what_it_wrote_and_takes_it_away(codesum_call, shop, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    result = codesum_call(shop, "mcp", "--install", "claude", "--tools", "all")
    assert result.exit_code == 0
    assert result.stderr == f"written into {tmp_path / '.mcp.json'}:\n"
    assert result.stdout.strip("\n") == (tmp_path / ".mcp.json").read_text().strip("\n")
    expected = ["--home", str(shop), "mcp", "--text-only", "--tools", "all"]
    assert servers_of(tmp_path / ".mcp.json")["codesum"]["args"][-6:] == expected
    assert codesum_call(shop, "mcp", "--uninstall", "claude").exit_code == 0
    assert not (tmp_path / ".mcp.json").exists()
    again = codesum_call(shop, "mcp", "--uninstall", "claude")
    assert again.exit_code == 2
