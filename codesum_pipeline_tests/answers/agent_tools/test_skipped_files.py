"""A file that is in the repository and not in its index: whoever asks about it is told so, why, and what to do."""

from collections.abc import Callable
from pathlib import Path

import pytest

from codesum_pipeline.answers.agent_tools.call import ToolContext
from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.answers.agent_tools.tool_registry import tools_by_name
from codesum_pipeline.foundation.data_model.errors import ConfigurationError, NotIndexedFile
from codesum_pipeline_tests.support.homes import built_once, open_home

CODE = "int f(int x)\n{\n    return x + 1;\n}\n"
FILES: dict[str, str | bytes] = {
    "main.c": CODE,
    "größe.c": ("/* Öffnet das Gerät und prüft die Größe */\n" + CODE).encode("latin-1"),
    "src/driver.c": bytes(range(0x80, 0x100)) * 3,
    "src/logo.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "src/app.min.js": "a=1",
    "src/api_pb2.py": "x = 1\n",
    "src/big.c": "int a;\n" * 2_000,
    "src/made.py": "# @generated\nx = 1\n",
    "src/model.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 2\n",
    "docs/old.txt": "x\n",
    "lib/x.bin": b"\0\1",
    "lib/x.c": CODE,
}
REASONS = [
    pytest.param("src/driver.c", "not_text (of an unknown encoding)", "name its encoding in the setting `encodings`"),
    pytest.param("src/logo.png", "binary (a NUL byte in the first 8000 bytes)", "it is binary"),
    pytest.param("src/app.min.js", "skip_pattern", "the setting `skip_patterns`"),
    pytest.param("src/api_pb2.py", "generated", "a program wrote it"),
    pytest.param("src/big.c", "too_large", "the setting `max_file_size_mb`"),
    pytest.param("src/made.py", "generated", "a program wrote it"),
    pytest.param("src/model.bin", "lfs_pointer", "Git LFS"),
    pytest.param("docs/old.txt", "excluded", "`exclude` in repos.yaml"),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("skipped")
    built_once(folder, FILES, max_file_size_mb=0.01, entry={"exclude": ("docs/",)})
    return folder / "home"


@pytest.fixture
def ask(home: Path, tmp_path: Path) -> Callable[..., str]:
    opened = open_home(home)
    catalogue = IndexCatalogue(opened.settings, opened.layout, opened.registry)

    def call(tool: str, /, **arguments: object) -> str:
        return tools_by_name(every=True)[tool].ask(ToolContext(catalogue, tmp_path), arguments).text()

    return call


@pytest.mark.parametrize(("path", "reason", "way_out"), REASONS)
def test_read_says_why_a_file_is_not_in_the_index(
    ask: Callable[..., str], path: str, reason: str, way_out: str
) -> None:
    with pytest.raises(NotIndexedFile) as error:
        ask("read", ids=[path])

    assert str(error.value).startswith(f"skipped: {path} is in shop and not in its index, {reason}: ")
    assert way_out in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "driver.c", "./src/driver.c", "src/driver.c:3", "src/driver.c:3-9", "src/driver.c:3-", "src/driver.c::f",
        " src/driver.c ", "SRC/Driver.c", "DRIVER.C",
    ],
)  # fmt: skip
def test_a_skipped_file_is_known_however_it_is_named(ask: Callable[..., str], text: str) -> None:
    for tool, arguments in (("read", {"ids": [text]}), ("graph", {"id": text})):
        with pytest.raises(NotIndexedFile, match=r"^skipped: src/driver\.c "):
            ask(tool, **arguments)


@pytest.mark.parametrize("folder", ["src", "src/", "docs"])
def test_of_a_folder_with_nothing_in_the_index_its_files_are_named(ask: Callable[..., str], folder: str) -> None:
    with pytest.raises(NotIndexedFile) as error:
        ask("read", ids=[folder])

    assert str(error.value).startswith(f"skipped: of {folder.rstrip('/')} nothing is in the index of shop: ")
    assert "src/api_pb2.py (generated)" in str(error.value) or "docs/old.txt (excluded)" in str(error.value)


def test_what_is_nowhere_is_not_called_skipped(ask: Callable[..., str]) -> None:
    for text in ("drive.c", "river.c", "src/x.c", ".c", "/"):
        with pytest.raises(ConfigurationError, match="no document"):
            ask("read", ids=[text])


def test_among_others_a_skipped_file_is_a_note(ask: Callable[..., str]) -> None:
    text = ask("read", ids=["main.c", "src/driver.c", "größe.c"])

    assert "skipped: src/driver.c" in text
    assert "main.c" in text and "Öffnet das Gerät und prüft die Größe" in text


def test_where_all_are_skipped_each_is_named(ask: Callable[..., str]) -> None:
    with pytest.raises(NotIndexedFile, match=r"src/driver\.c.*src/logo\.png"):
        ask("read", ids=["src/driver.c", "src/logo.png"])


def test_a_source_is_shown_in_the_encoding_that_it_was_indexed_in(ask: Callable[..., str]) -> None:
    assert "/* Öffnet das Gerät und prüft die Größe */" in ask("read", ids=["größe.c"], parts="source")


def test_folders_overviews_and_states_count_what_was_skipped(ask: Callable[..., str]) -> None:
    assert "skipped: 1 file: lib/x.bin (binary)" in ask("read", ids=["lib"])
    assert "skipped: 2 binary, 2 generated, 1 excluded, 1 lfs_pointer, 1 not_text" in ask("overview")
    status = ask("status")
    assert "skipped: 2 binary, 2 generated, 1 excluded" in status
    assert "1 file read as cp1252 by guess" in status


def test_a_search_in_a_skipped_file_says_that_it_is_one(ask: Callable[..., str]) -> None:
    assert "filter left out: skipped: src/driver.c" in ask("search", query="open the device", paths=["src/driver.c"])
