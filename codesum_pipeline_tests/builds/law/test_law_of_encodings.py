"""Files in any encoding are built like others: all their definitions, their words, their lines; and a declaration that
changes has exactly those files read again that it is about."""

from pathlib import Path
from typing import Any

import pytest

from codesum_pipeline.foundation.data_model.file import SourceFile
from codesum_pipeline.foundation.data_model.repository import RepositoryEntry
from codesum_pipeline.foundation.store.workspace import Workspace
from codesum_pipeline_tests.builds.law.test_law import differences
from codesum_pipeline_tests.support.homes import build, open_home, workspace_of
from codesum_pipeline_tests.support.repositories import GitRepo

C = '/* {0} */\nint open_device(int x)\n{{\n    if (x < 0)\n        fail("{0}");\n    return x + 1;\n}}\n'
JAVA = (
    "package a;\n/** {0} */\npublic class UserService {{\n    /** {0} */\n    public String findUser(String name) {{\n"
    "        return name == null ? null : name.trim();\n    }}\n}}\n"
)
CPP = "// {0}\nint OpenView(int a) {{\n  if (a > 2) return a * 2;\n  return a;\n}}\n"
PASCAL_TEXT = "{0}\n\nZweiter Absatz: {0}\n"
SQL = "-- {0}\nCREATE FUNCTION total(x integer) RETURNS integer AS $$ SELECT x + 1 $$ LANGUAGE sql;\n"

FILES = [
    pytest.param("driver.c", "iso8859-1", C, "Öffnet das Gerät und prüft die Größe", "open_device", id="Latin-1 in C"),
    pytest.param("UserService.java", "gbk", JAVA, "处理用户的登录和注册", "UserService.findUser", id="GBK in Java"),
    pytest.param("view.cpp", "cp932", CPP, "デバイスを開いてハンドルを返す", "OpenView", id="Shift-JIS in C++"),
    pytest.param("path.c", "cp1250", C, "Zwraca najdłuższą ścieżkę między węzłami", "open_device", id="cp1250 in C"),
    pytest.param("port.h", "koi8-r", CPP, "Возвращает длину самого длинного пути", "OpenView", id="KOI8-R in a header"),
    pytest.param("tree.cpp", "cp949", CPP, "장치를 열고 핸들을 반환한다", "OpenView", id="Korean in C++"),
    pytest.param("Store.java", "big5", JAVA, "處理使用者的登入和註冊功能", "UserService.findUser", id="Big5 in Java"),
    pytest.param("euc.c", "euc_jp", C, "最大公約数を計算するための関数", "open_device", id="EUC-JP in C"),
    pytest.param("alpha.c", "iso8859-7", C, "Υπολογίζει τον μέσο όρο των τιμών", "open_device", id="Greek in C"),
    pytest.param("wide.c", "utf-16", C, "größer als 表示 и путь", "open_device", id="UTF-16 with a mark"),
    pytest.param(
        "Turkish.java", "cp1254", JAVA, "Kullanıcı girişini doğrular ve şifreyi", "UserService.findUser", id="Turkish"
    ),
]


def workspace_at(home: Path, repo: GitRepo, *, entry: dict[str, Any] | None = None, **settings: Any) -> Workspace:
    return workspace_of(open_home(home, **settings), RepositoryEntry("shop", str(repo.path), **(entry or {})))


def files_of(ws: Workspace) -> dict[str, SourceFile]:
    return {row.path: row for row in ws.tables.read_rows("files", ws.key, SourceFile)}


def symbols_of(ws: Workspace) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in ws.tables.read("symbols", ws.key).to_pylist()}


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    folder = tmp_path_factory.mktemp("foreign")
    files = {case.values[0]: case.values[2].format(case.values[3]).encode(case.values[1]) for case in FILES}
    ws = workspace_at(folder / "home", GitRepo.create(folder / "repository", files))
    build(ws, until="summary_documents")
    return ws


@pytest.mark.parametrize(("path", "encoding", "code", "words", "name"), FILES)
def test_a_file_in_another_encoding_has_its_definitions_with_their_words_on_their_lines(
    foreign: Workspace, path: str, encoding: str, code: str, words: str, name: str
) -> None:
    symbol = symbols_of(foreign)[f"{path}::{name.replace('.', '::')}"]

    text = code.format(words).split("\n")
    first = next(number for number, line in enumerate(text, 1) if name.rpartition(".")[2] in line)
    assert files_of(foreign)[path].reason is None
    assert symbol["docstring"] == words
    assert symbol["start_line"] == first


def test_the_report_counts_what_was_guessed(foreign: Workspace) -> None:
    evidence = [str(row.encoding_evidence) for row in files_of(foreign).values()]

    assert sorted(evidence) == ["guess"] * 10 + ["mark"]


TEXT = "/* 用户 */\nint f(int x)\n{\n    return x + 1;\n}\n"
SAME = {"a.c": TEXT.encode("gbk"), "b.c": b"int g(int x)\n{\n    return x + 2;\n}\n", "c.py": "x = 'ü'\n"}
STEPS: list[tuple[str, dict[str, str | bytes], dict[str, Any]]] = [
    ("nobody says anything", {}, {}),
    ("an editor is told", {".editorconfig": "[*.c]\ncharset = latin1\n"}, {}),
    ("git is told", {".gitattributes": "*.c encoding=gb18030\n"}, {}),
    ("a setting says another", {}, {"encodings": ["*.c = big5"]}),
    ("a setting says something that does not fit", {}, {"encodings": ["*.c = utf-8"]}),
    ("the setting goes", {}, {}),
    ("an unknown one", {".gitattributes": "*.c encoding=klingon\n"}, {}),
    ("all go", {".gitattributes": "", ".editorconfig": ""}, {}),
]


def test_the_same_bytes_under_another_declaration_are_read_again_and_equal_a_clean_build(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repository", SAME)
    read, documents = {}, {}
    for number, (name, files, settings) in enumerate(STEPS):
        repo.commit(files, name)
        built = workspace_at(tmp_path / "home", repo, **settings)
        reports = build(built)
        clean = workspace_at(tmp_path / f"clean-{number}", repo, **settings)
        build(clean)

        assert differences(built, clean) == (None, None), name
        read[name] = reports["symbols"].parsed - len(files)
        documents[name] = (files_of(built)["a.c"].encoding, symbols_of(built)["a.c::f"]["docstring"])

    assert documents == {
        "nobody says anything": ("gb18030", "用户"),
        "an editor is told": ("iso8859-1", "ÓÃ»§"),
        "git is told": ("gb18030", "用户"),
        "a setting says another": ("big5", "蚚誧"),
        "a setting says something that does not fit": ("gb18030", "用户"),
        "the setting goes": ("gb18030", "用户"),
        "an unknown one": ("iso8859-1", "ÓÃ»§"),
        "all go": ("gb18030", "用户"),
    }
    assert read["git is told"] == 1
    assert read["the setting goes"] == 0


def test_an_entrys_own_encodings_win_over_those_for_all(tmp_path: Path) -> None:
    repo = GitRepo.create(tmp_path / "repository", SAME)
    ws = workspace_at(tmp_path / "home", repo, entry={"encodings": ("*.c = gbk",)}, encodings=["*.c = latin-1"])
    build(ws, until="symbols")

    assert symbols_of(ws)["a.c::f"]["docstring"] == "用户"


def test_a_declaration_that_does_not_fit_is_named_and_counted_and_the_others_go_on(tmp_path: Path) -> None:
    files = {
        ".editorconfig": "root = true\n[*]\ncharset = utf-8\n",
        "latin.c": "/* Größe */\nint f;\n".encode("latin-1"),
    }
    repo = GitRepo.create(tmp_path / "repository", {**SAME, **files})
    report = build(workspace_at(tmp_path / "home", repo), until="repo_snapshot")["repo_snapshot"]

    assert report.files_skipped == 0
    assert (report.encodings, report.encodings_guessed, report.encodings_in_doubt) == (
        {"cp1252": 1, "gb18030": 1},
        2,
        2,
    )
    assert report.encoding_problems == tuple(
        f"{path}: the declared encoding 'utf-8' (.editorconfig) does not fit" for path in ("a.c", "latin.c")
    )


def test_a_plain_folder_is_read_in_the_encoding_of_its_work_tree(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / ".gitattributes").write_text("*.c working-tree-encoding=UTF-16LE\n")
    (folder / "a.c").write_bytes("int wide(int a)\r\n{\r\n    return a + 5; // größer\r\n}\r\n".encode("utf-16-le"))
    ws = workspace_of(open_home(tmp_path / "home"), RepositoryEntry("shop", str(folder)))
    build(ws, until="symbols")

    assert symbols_of(ws)["a.c::wide"]["start_line"] == 1
    assert (files_of(ws)["a.c"].encoding, str(files_of(ws)["a.c"].encoding_evidence)) == ("utf-16-le", ".gitattributes")


def test_a_secret_in_another_encoding_is_masked(tmp_path: Path) -> None:
    secret = "AKIA" + "Q3EGRIZ5WNJX7KPL"
    text = f'/* Schlüssel für den Zugang */\nint f(int x)\n{{\n    use("{secret}");\n    return x + 1;\n}}\n'
    repo = GitRepo.create(tmp_path / "repository", {"a.c": text.encode("latin-1"), "w.c": text.encode("utf-16")})
    ws = workspace_at(tmp_path / "home", repo)
    build(ws, until="symbols")

    stored = ws.tables.read("symbols", ws.key).to_pylist() + ws.tables.read("file_facts", ws.key).to_pylist()
    assert len(symbols_of(ws)) == 2
    assert secret not in str(stored)


@pytest.mark.parametrize("separator", ["\x85", "\u2028", "\x0c", "\x0b", "\x1c"])
def test_only_line_ends_end_lines(separator: str, tmp_path: Path) -> None:
    cookie = "# coding: latin-1\n" if separator == "\x85" else ""
    text = f"{cookie}X = 'a{separator}b'\n# c{separator}d\ndef f(x):\n    return x + 1\n"
    repo = GitRepo.create(tmp_path / "repository", {"a.py": text.encode("latin-1" if cookie else "utf-8")})
    ws = workspace_at(tmp_path / "home", repo)
    build(ws, until="symbols")

    assert symbols_of(ws)["a.py::f"]["start_line"] == 3 + bool(cookie)
