"""A comment that heads a section of a file documents none of the definitions in it."""

import pytest

from codesum_pipeline.symbols.parsing.parsers import PARSERS


def docstrings(language: str, source: str) -> list[str | None]:
    """The documentation of each definition, in source order."""
    return [symbol.docstring for symbol in PARSERS[language].parse(source.encode(), "file").symbols]


@pytest.mark.parametrize(
    ("language", "source"),
    [
        pytest.param("javascript", "// ---- Helpers ----\nfunction add() {}\n", id="rules beside a title"),
        pytest.param("ruby", "#==========\n# Accessors\n#==========\ndef add\nend\n", id="rules around a title"),
        pytest.param("swift", "/// MARK: - Views of the list that is shown\nfunc add() {}\n", id="a mark of editors"),
        pytest.param(
            "swift", "/// Mark: views of the list that is shown\nfunc add() {}\n", id="a mark in small letters"
        ),
        pytest.param("go", "package p\n\n// === Accessors ===\nfunc add() {}\n", id="signs of equality"),
        pytest.param("bash", "##########\n# Helpers\n##########\nadd() {\n    b\n}\n", id="a box of hashes"),
        pytest.param("haskell", "module A where\n\n-- ------------- Helpers\nadd = 1\n", id="a rule before it"),
    ],
)
def test_a_title_documents_nothing(language: str, source: str) -> None:
    assert not any(docstrings(language, source))


def test_a_title_with_a_word_of_the_name_documents_what_has_it() -> None:
    assert docstrings("c", "//==========\n// Parse headers\n//==========\nint parse_header(void) { return 1; }\n") == [
        "Parse headers"
    ]


@pytest.mark.parametrize(
    ("language", "source", "said"),
    [
        pytest.param(
            "c", "/*****\n * Open it.\n *****/\nint start(void) { return 1; }\n", "Open it.", id="a framed one"
        ),
        pytest.param(
            "javascript", "// Adds up.\nfunction plus() {}\nfunction minus() {}\n", "Adds up.", id="a sentence"
        ),
        pytest.param(
            "lua", "-- ---- Helpers ----\n-- Adds it up\nfunction plus() end\n", "Adds it up", id="below a title"
        ),
    ],
)
def test_other_comments_document(language: str, source: str, said: str) -> None:
    assert docstrings(language, source)[0] == said


def test_a_title_stays_in_the_canonical_source() -> None:
    (symbol,) = PARSERS["javascript"].parse(b"// ---- Helpers ----\nfunction add() {}\n", "file").symbols

    assert symbol.canonical_source == "// ---- Helpers ----\nfunction add() {}"


@pytest.mark.parametrize(
    ("name", "doc"),
    [
        pytest.param("删除", "删除用户", id="Chinese with its name"),
        pytest.param("削除", "ユーザーを削除する充", id="Japanese with its name"),
        pytest.param("remove", "删除用户。", id="a wide full stop"),
    ],
)
def test_a_sentence_in_another_script_is_told_from_a_title(name: str, doc: str) -> None:
    assert docstrings("ruby", f"#======\n# {doc}\n#======\ndef {name}\nend\n") == [doc]


def test_a_title_in_another_script_documents_nothing() -> None:
    assert docstrings("ruby", "#======\n# 工具函数\n#======\ndef one\nend\n") == [None]


@pytest.mark.parametrize(
    "doc",
    [
        pytest.param("最简单的填充", id="a letter whose last byte is a line break elsewhere"),
        pytest.param("voilà", id="a letter whose last byte is a blank elsewhere"),
        pytest.param("Р", id="one Cyrillic letter"),
        pytest.param("מוחק משתמש", id="letters whose first byte is a sign elsewhere"),
        pytest.param("ลบผู้ใช้", id="Thai"),
        pytest.param("हटाता है", id="Hindi"),
    ],
)
@pytest.mark.parametrize(
    "written",
    [
        pytest.param("/** {} */\nvoid run() {{}}", id="one line"),
        pytest.param("/**\n * {}\n */\nvoid run() {{}}", id="a block"),
        pytest.param("/** {}*/\nvoid run() {{}}", id="no blank before the end"),
        pytest.param("// {}\nvoid run() {{}}", id="a plain comment"),
    ],
)
def test_documentation_keeps_all_letters_of_every_script(written: str, doc: str) -> None:
    assert docstrings("java", f"class A {{\n{written.format(doc)}\n}}\n") == [None, doc]
