"""What a repository wrote, shown by every way out: letters, never markup, commands or secrets."""

import json
from pathlib import Path

import pytest

from codesum_pipeline.builds.steps.shows import SHOWS
from codesum_pipeline_tests.builds.hostile.building import SOUND, Built, built
from codesum_pipeline_tests.support.repositories import GitRepo

EVIL = "\x1b]0;owned\x07\x1b[31mred <script>alert(1)</script> {template} {{7*7}} \u202egnp\u202c zero\u200bwidth [a](http://e.invalid)"
SECRETS = ("AKIA" + "Q3EGRL7XQ2ZD5WVA", "hunter2secretpassword", "-----BEGIN RSA PRIVATE " + "KEY-----")
SECRET_SOURCE = f'''"""Signs in."""

AWS_KEY = "{SECRETS[0]}"
KEY = """{SECRETS[2]}
MIIEow"""


def sign_in(user):
    """Sign in to the store of orders."""
    if not user:
        raise ValueError("no user")
    return connect(user, password="{SECRETS[1]}")


def broken(:
    x = "{SECRETS[1]}
'''


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A repository that attacks with names, docstrings, a commit message and a branch."""
    folder = tmp_path_factory.mktemp("evil")
    source = f'"""{EVIL}"""\n\n\n'
    source += f'def evil(x):\n    """{EVIL}"""\n    if x:\n        raise ValueError("""{EVIL}""")\n    return evil\n'
    name = EVIL.replace("/", "_").replace("\x00", "")
    files = {
        f"{name}.py": source,
        "README.md": f"# {EVIL}\n\n{EVIL}\n",
        "ünï_名前.py": "def größe_名前(x):\n    return x + 1\n",
    }
    repo = GitRepo.create(folder / "repository", files)
    repo.git("checkout", "-q", "-b", "<b>{{1}}\u202e")
    repo.commit({"a.py": SOUND}, message=EVIL)
    return built(repo.path, folder / "home", ref="<b>{{1}}\u202e")


@pytest.mark.parametrize(
    "arguments",
    [("search", "red evil", "--context", "--excerpt", "5"), ("search", "red", "--json", "--context", "--excerpt", "5"),
     ("status", "project"), ("repos",), ("explain", "README.md"),
     ("sql", "SELECT subject, ref FROM snapshot"), 
     ("sql", "--json", "SELECT source FROM file_facts"), ("plan", "project"), ("status", "--json"), ("doctor",)],
    ids=lambda arguments: " ".join(arguments[:2]) if arguments[0] == "sql" else " ".join(arguments),
)  # fmt: skip
def test_nothing_that_a_repository_wrote_acts_on_a_terminal(evil: Built, codesum, arguments) -> None:
    shown = codesum(evil.home.layout.home, *arguments)

    assert shown.exit_code == 0, shown.stderr
    assert all(line.replace("\t", "").isprintable() for line in (shown.stdout + shown.stderr).split("\n"))


# A page of its own has paths as code, where nothing is markup.
@pytest.mark.parametrize("step", sorted(SHOWS.keys() - {"repo_overview"}))
def test_nothing_that_a_repository_wrote_is_markup_in_dagster(evil: Built, step: str) -> None:
    values = SHOWS[step](evil.home.workspace("project", run_id="x")).values()
    markdown = "\n".join(value.text for value in values)

    for bad in ("<script", "](http", "\x1b", "\u202e", "\u200b"):
        assert bad not in markdown


def test_a_text_of_a_repository_is_whole_in_json(evil: Built, codesum) -> None:
    rows = codesum(evil.home.layout.home, "sql", "--json", "SELECT subject FROM snapshot").stdout.strip()

    assert json.loads(rows) == {"subject": EVIL}


def test_names_in_other_scripts_are_symbols(evil: Built) -> None:
    assert evil.documents()["ünï_名前.py::größe_名前"]["qualified_name"] == "größe_名前"


def test_a_secret_of_a_source_is_in_no_log_metadata_or_error(git_repo, codesum, tmp_path: Path) -> None:
    home = tmp_path / "home"
    repo = git_repo({"sign.py": SECRET_SOURCE, "a.py": SOUND})

    calls = [
        codesum(home, *call)
        for call in [("index", repo.path, "--key", "p"), ("status", "p"), ("doctor",), ("plan", "p")]
    ]

    assert calls[0].exit_code == 0, calls[0].stderr
    shown = "".join(call.stdout + call.stderr for call in calls)
    logged = b"".join(path.read_bytes() for path in sorted((home / "dagster").rglob("*")) if path.is_file())
    assert [secret for secret in SECRETS if secret in shown or secret.encode() in logged] == []


def test_names_that_look_like_ids_stay_apart(git_repo, tmp_path: Path) -> None:
    source = (
        "class a:\n    def b(self):\n        return 1\n\n\ndef a():\n    return 2\n\n\n"
        "class a:\n    def b(self):\n        return 3\n"
    )
    made = built(git_repo({"x.py": source, "x.py#c5cd1e": "x\n", "x": "y\n"}).path, tmp_path / "home")

    assert set(made.documents()) == {
        ".", "x", "x.py", "x.py#c5cd1e", "x.py::a", "x.py::a#c5cd1e", "x.py::a#81b83d", "x.py::a::b",
        "x.py::a::b#c3be02",
    }  # fmt: skip
