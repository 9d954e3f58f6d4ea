"""A repository is data: whatever it configures, nothing of it runs. Each trap would leave a mark."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from codesum_pipeline.builds.codesum_home.settings_loading import load_settings
from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline_tests.builds.hostile.building import SOUND, Built, store_blob, store_commit, store_tree
from codesum_pipeline_tests.support.homes import build
from codesum_pipeline_tests.support.repositories import GitRepo

Index = Callable[..., Built]

HOOKS = (
    "pre-commit", "post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc",
    "pre-receive", "update", "post-update", "proc-receive", "sendemail-validate", "push-to-checkout",
)  # fmt: skip
SETTINGS = (
    "core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "core.gitProxy",
    "core.alternateRefsCommand", "uploadpack.packObjectsHook", "diff.external", "diff.x.textconv", "diff.x.command",
    "merge.x.driver", "credential.helper", "alias.ls-files", "alias.ls-tree", "pager.log", "pager.ls-tree",
    "gpg.program", "log.showSignature", "sequence.editor", "trailer.x.command", "filter.x.clean", "filter.x.smudge",
    "filter.x.process", "filter.lfs.smudge", "remote.origin.uploadpack", "remote.origin.vcs", "http.sslKey",
    "url.ext::sh.insteadOf", "interactive.diffFilter", "receive.procReceiveRefs", "submodule.recurse",
)  # fmt: skip


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A program that leaves `marker` beside itself when it is run."""
    program = tmp_path / "trap"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {tmp_path}/marker\nexit 1\n')
    program.chmod(0o755)
    return program


def check_unmarked(trap: Path) -> None:
    marker = trap.with_name("marker")
    assert not marker.exists(), marker.read_text()


@pytest.fixture(params=[pytest.param(False, id="commit"), pytest.param(True, id="work tree", marks=pytest.mark.slow)])
def worktree(request: pytest.FixtureRequest) -> bool:
    """How the repository is read."""
    return bool(request.param)


def read_twice(index: Index, repo: GitRepo, *, worktree: bool) -> Built:
    """Indexed; and what asks git is done again, with the mirror that the first time left."""
    made = index(repo.path, worktree=worktree)
    build(made.home.workspace("project", run_id="again", force=True), until="symbols")
    return made


def test_hooks_do_not_run(git_repo, index: Index, trap: Path, worktree: bool) -> None:
    repo = git_repo({"a.py": SOUND})
    for folder in (repo.path / ".git/hooks", repo.path / ".githooks"):
        folder.mkdir(exist_ok=True)
        for hook in HOOKS:
            (folder / hook).write_bytes(trap.read_bytes())
            (folder / hook).chmod(0o755)
    repo.git("config", "core.hooksPath", ".githooks")

    read_twice(index, repo, worktree=worktree)

    check_unmarked(trap)


def test_settings_of_the_repository_run_nothing(git_repo, index: Index, trap: Path, worktree: bool) -> None:
    repo = git_repo({"a.py": SOUND, ".gitattributes": "* filter=x diff=x merge=x\n*.py filter=lfs\n"})
    lines = [f'[{section}]\n\t{name} = "{trap}"\n' for section, name in map(_section_and_name, SETTINGS)]
    with (repo.path / ".git/config").open("a") as config:
        config.write("".join(lines))

    read_twice(index, repo, worktree=worktree)

    check_unmarked(trap)


def _section_and_name(setting: str) -> tuple[str, str]:
    section, _, name = setting.rpartition(".")
    first, _, rest = section.partition(".")
    return (f'{first} "{rest}"' if rest else first), name


@pytest.mark.parametrize(
    "condition",
    ["include", *(pytest.param(f'includeIf "{rule}"', marks=pytest.mark.slow) for rule in ("gitdir:/", "onbranch:**"))],
)
def test_included_settings_run_nothing(git_repo, index: Index, trap: Path, condition: str) -> None:
    repo = git_repo(
        {"a.py": SOUND, "evil.cfg": f"[core]\n\tfsmonitor = {trap}\n\tsshCommand = {trap}\n\tpager = {trap}\n"}
    )
    with (repo.path / ".git/config").open("a") as config:
        config.write(f"[{condition}]\n\tpath = ../evil.cfg\n")

    read_twice(index, repo, worktree=True)

    check_unmarked(trap)


def test_attributes_change_no_content(git_repo, index: Index, trap: Path, worktree: bool) -> None:
    repo = git_repo({"a.py": SOUND})
    repo.git("config", "filter.x.clean", "tr a-z A-Z")
    repo.git("config", "filter.x.smudge", str(trap))
    content = b'"""$Format:%an$ $Id$"""\r\nVALUE = 1\r\n'
    attributes = b"*.py filter=x export-subst export-ignore ident text=auto eol=lf working-tree-encoding=UTF-16\n"
    tree = [(b"100644", b".gitattributes", attributes), (b"100644", b"b.py", content)]
    store_commit(repo, store_tree(repo, [(mode, name, store_blob(repo, data)) for mode, name, data in tree]))
    repo.write({".gitattributes": attributes, "b.py": content})
    (repo.path / "a.py").unlink()
    repo.git("read-tree", "HEAD")

    made = read_twice(index, repo, worktree=worktree)

    facts = {row["file_path"]: row for row in made.home.tables.read("file_facts", "project").to_pylist()}
    assert facts["b.py"]["source"].splitlines() == content.decode().splitlines()
    check_unmarked(trap)


def test_programs_and_settings_in_the_tree_are_files(
    git_repo, codesum, trap: Path, tmp_path: Path, monkeypatch
) -> None:
    code = f"import os\nos.system({str(trap)!r})\n"
    names = [
        "setup.py",
        "conftest.py",
        "sitecustomize.py",
        "usercustomize.py",
        "codesum_pipeline.py",
        "yaml.py",
        "git.py",
    ]
    repo = git_repo(dict.fromkeys(names, code))
    for name in ("git", "sh", "ssh", "git-remote-https"):
        (repo.path / name).write_bytes(trap.read_bytes())
        (repo.path / name).chmod(0o755)
    repo.commit(
        {
            ".envrc": str(trap),
            "Makefile": f"all:\n\t{trap}\n",
            "codesum.toml": "offline = 'x'\n",
            ".git-blame-ignore-revs": "x",
        }
    )
    monkeypatch.chdir(repo.path)

    done = codesum(tmp_path / "home", "index", ".")

    assert done.exit_code == 0, done.stderr
    check_unmarked(trap)


def test_a_grammar_is_never_downloaded_nor_a_plugin_imported(
    git_repo, index: Index, trap: Path, tmp_path: Path
) -> None:
    files = {
        "pyproject.toml": '[tool.codesum]\nplugins = ["evil"]\n'
        '[build-system]\nbuild-backend = "evil"\nbackend-path = ["."]\n',
        "evil.py": f"import os\nos.system({str(trap)!r})\n",
        "package.json": f'{{"scripts": {{"preinstall": "{trap}"}}}}\n',
        ".pre-commit-config.yaml": f"repos: [{{repo: local, hooks: [{{id: x, entry: {trap}, language: system}}]}}]\n",
        "tree-sitter.json": '{"grammars": [{"name": "evil", "path": "."}]}\n',
    }
    made = index(git_repo(files).path)

    assert set(made.reasons().values()) == {None}
    check_unmarked(trap)


def test_a_home_that_a_repository_brings_along_is_not_used(git_repo, codesum, tmp_path: Path, monkeypatch) -> None:
    repo = git_repo({"a.py": SOUND})
    repo.write(
        {".codesum/repos.yaml": "repositories: {x: {path: /etc}}\n", ".codesum/codesum.toml": "keep_versions = 9\n"}
    )
    repo.git("add", "-f", ".codesum")
    repo.commit({})
    monkeypatch.chdir(repo.path)

    with pytest.raises(ConfigurationError, match=r"\.codesum is part of the repository"):
        load_settings({}, environ={})


def test_variables_that_redirect_git_are_not_handed_on(git_repo, index: Index, trap: Path, monkeypatch) -> None:
    for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "GIT_EXEC_PATH"):
        monkeypatch.setenv(name, str(trap))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(trap))
    repo_files = {"a.py": SOUND}
    with pytest.MonkeyPatch.context() as clean:
        for name in [name for name in os.environ if name.startswith("GIT_")]:
            clean.delenv(name)
        repo = git_repo(repo_files)

    read_twice(index, repo, worktree=True)

    check_unmarked(trap)
