"""The command line and the pages say of a skipped file that it is one, and in which encodings files were read."""

import json

import pytest
from starlette.testclient import TestClient

from codesum_pipeline.answers.agent_tools.catalogue import IndexCatalogue
from codesum_pipeline.ways_in.http_serving.audit_log import Auditor
from codesum_pipeline.ways_in.web.web_app import pages_of
from codesum_pipeline_tests.support.homes import built_once, open_home

FILES = {
    "main.c": "int f(int x)\n{\n    return x + 1;\n}\n",
    "größe.c": "/* Öffnet das Gerät und prüft die Größe */\nint g(int x)\n{\n    return x;\n}\n".encode("latin-1"),
    "señal.c": "int h(int x)\n{\n    return x;  // señal\n}\n".encode("latin-1"),
    "src/driver.c": bytes(range(0x80, 0x100)) * 3,
    "src/a.c": "int k(int x)\n{\n    return x + 3;\n}\n",
    ".editorconfig": "[*]\ncharset = utf-8\n",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return built_once(tmp_path_factory.mktemp("skipped"), FILES) / "home"


@pytest.mark.parametrize(
    "arguments",
    [("show", "src/driver.c"), ("search", "open a device", "--path", "src/driver.c")],
    ids=["show", "search"],
)
def test_a_command_about_a_skipped_file_says_why_it_is_not_there(codesum, home, arguments):
    result = codesum(home, *arguments)

    assert result.exit_code != 0
    assert "skipped: src/driver.c is in shop and not in its index, not_text" in result.stderr
    assert "name its encoding in the setting `encodings`" in result.stderr


def test_a_folder_and_the_overview_count_them(codesum, home):
    assert "1 file: src/driver.c (not_text)" in " ".join(codesum(home, "show", "src").stdout.split())
    assert "skipped: 1 not_text; `codesum show PATH` says why" in codesum(home, "overview").stderr


def test_status_tells_the_encodings_and_what_was_not_read_as_declared(codesum, home):
    text = " ".join(codesum(home, "status", "shop").stdout.split())

    assert "5 indexed; skipped: 1 not_text" in text
    assert "1 ASCII alone, the rest is unknown; 1 cp1252 by guess" in text
    assert "größe.c: the declared encoding 'utf-8' (.editorconfig) does not fit" in text
    assert "señal.c: the declared encoding 'utf-8' (.editorconfig) does not fit; 1 byte of an unknown encoding" in text


def test_status_for_programs_has_every_skipped_file(codesum, home):
    found = json.loads(codesum(home, "status", "shop", "--json").stdout)

    assert found["skipped"] == {"src/driver.c": "not_text"}
    assert found["read_as"] == {"ASCII alone, the rest is unknown": 1, "cp1252 by guess": 1}


def test_a_source_is_shown_as_it_was_read(codesum, home):
    hits = json.loads(codesum(home, "search", "Gerät Größe prüft", "--excerpt", "2", "--json").stdout)["hits"]

    assert hits[0]["file_path"] == "größe.c"
    assert "Öffnet das Gerät und prüft die Größe" in json.dumps(hits[0], ensure_ascii=False)


def test_the_page_of_a_skipped_file_says_so_and_that_of_the_repository_counts_it(home, tmp_path):
    opened = open_home(home)
    pages = pages_of(IndexCatalogue(opened.settings, opened.layout, opened.registry), tmp_path, Auditor(None, "web"))
    client = TestClient(pages, base_url="http://localhost")

    found = client.get("/document", params={"repo": "shop", "id": "src/driver.c"})

    assert found.status_code == 404
    assert "skipped: src/driver.c is in shop and not in its index, not_text" in found.text
    assert "skipped: 1 not_text" in client.get("/repository", params={"repo": "shop"}).text
    shown = client.get("/document", params={"repo": "shop", "id": "größe.c"}).text
    assert "Öffnet das Gerät und prüft die Größe" in shown
