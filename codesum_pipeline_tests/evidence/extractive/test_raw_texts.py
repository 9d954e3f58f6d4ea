"""What is said of files that are written for machines."""

import pytest

from codesum_pipeline.evidence.author_texts.docstrings import opening_of, read_docstring
from codesum_pipeline.evidence.extractive.text_files import write_text_file
from codesum_pipeline.evidence.inputs import TextFileInput


def _said(path: str, text: str, language: str = "unknown") -> str:
    return write_text_file(TextFileInput(path, path.rpartition("/")[2], language, text)).text.summary


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        pytest.param(
            "t/command.gotmpl",
            '{{ define "x" }}\n{{ if .Error }}{{ .Error }}{{ end }}\nUsage: {{ .Path }}\n',
            "Template that fills in error, path.",
            id="a template without tags tells what it fills in",
        ),
        pytest.param(
            "App.entitlements",
            '<?xml version="1.0"?>\n<plist version="1.0"><dict><key>groups</key><array><string>group.shop</string>'
            "</array></dict></plist>\n",
            "Properties: groups.",
            id="a list of properties is known by its head",
        ),
        pytest.param(
            "data/in.txt", "Category: A\nTab: Two\n", 'Text of 2 lines that begins "Category: A".', id="records run on"
        ),
        pytest.param("data/raw.txt", "<red>{x}\n<blue>{y}\n<b>\nz\n", "Page of 4 lines.", id="raw lines are counted"),
    ],
)
def test_a_file_for_machines_is_told_by_its_kind(path: str, text: str, said: str) -> None:
    assert _said(path, text) == said


def test_nested_keys_of_json_with_comments_are_no_top_level_keys() -> None:
    text = '{\n  // all\n  "compilerOptions": {\n    /* one */\n    "strict": true, // "x": 1\n  },\n}\n'

    assert _said("lint.json", text, "json") == "Holds compilerOptions (strict)."


@pytest.mark.parametrize(
    "title", ["Qt include(s)", "Standard library imports", "System headers", "Import the modules."]
)
def test_a_title_of_imports_documents_nothing(title: str) -> None:
    assert opening_of(read_docstring(title)) == ("", 0)


@pytest.mark.parametrize("text", ["Parses HTTP headers.", "Handles imports of tables."])
def test_a_sentence_about_imports_documents(text: str) -> None:
    assert opening_of(read_docstring(text)) == (text, 1)
