"""What settings, `.gitattributes` and `.editorconfig` declare for a file, by the rules of those who read them."""

from collections.abc import Mapping, Sequence

import pytest

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.file import EncodingEvidence
from codesum_pipeline.source.files.declared_encodings import DeclaredEncodings, encoding_rules, read_declared


def declared_in(files: Mapping[str, str], *settings: str) -> DeclaredEncodings:
    return read_declared(
        encoding_rules(settings, "setting 'encodings'"), {path: path for path in files}, _reader(files)
    )


def _reader(files: Mapping[str, str]):
    return lambda blob: files[blob].encode()


ATTRIBUTES = [
    pytest.param("*.c encoding=gbk", "src/a.c", ["gbk"], id="a name fits in every folder"),
    pytest.param("/*.c encoding=gbk", "src/a.c", [], id="a slash in front holds it in its folder"),
    pytest.param("src/*.c encoding=gbk", "src/a.c", ["gbk"], id="a path"),
    pytest.param("src/*.c encoding=gbk", "src/b/a.c", [], id="a star is no folder"),
    pytest.param("src/** encoding=gbk", "src/b/a.c", ["gbk"], id="two stars are"),
    pytest.param("*.c encoding=gbk\n*.c encoding=latin1", "a.c", ["latin1"], id="the last line that fits"),
    pytest.param("*.c encoding=gbk\na.c -encoding", "a.c", [], id="taken back"),
    pytest.param("*.c encoding=gbk\na.c !encoding", "a.c", [], id="left open again"),
    pytest.param("*.c text working-tree-encoding=UTF-16LE eol=lf", "a.c", ["UTF-16LE"], id="that of the work tree"),
    pytest.param("*.c working-tree-encoding=gbk encoding=utf-8", "a.c", ["utf-8", "gbk"], id="that of the blob first"),
    pytest.param('"a b.c" encoding=gbk', "a b.c", ["gbk"], id="a quoted name"),
    pytest.param("# *.c encoding=gbk", "a.c", [], id="a comment"),
    pytest.param("*.c text\n*.c diff=cpp", "a.c", [], id="other attributes"),
    pytest.param("*.c encoding", "a.c", [], id="set, to nothing"),
    pytest.param("[attr]chinese encoding=gbk", "a.c", [], id="a macro is no pattern"),
    pytest.param("\\ encoding=gbk\n*.c encoding=big5", "a.c", ["big5"], id="what is no pattern is left out"),
]


@pytest.mark.parametrize(("text", "path", "names"), ATTRIBUTES)
def test_attributes_are_read_as_git_reads_them(text: str, path: str, names: Sequence[str]) -> None:
    found = declared_in({".gitattributes": text}).of(path)

    assert [(each.name, each.evidence) for each in found] == [(name, EncodingEvidence.ATTRIBUTES) for name in names]


EDITOR = [
    pytest.param("[*]\ncharset = latin1", "src/a.c", "iso-8859-1", id="all files"),
    pytest.param("[*.c]\ncharset=utf-16le", "src/a.c", "utf-16-le", id="by ending"),
    pytest.param("[*.{c,h}]\ncharset = gbk", "src/a.h", "gbk", id="one of several"),
    pytest.param("[{src,lib}/**.c]\ncharset = gbk", "lib/x/y/a.c", "gbk", id="folders of any depth"),
    pytest.param("[src/*.c]\ncharset = gbk", "src/x/a.c", None, id="a star is no folder"),
    pytest.param("[part{1..3}.c]\ncharset = gbk", "part2.c", "gbk", id="numbers"),
    pytest.param("[part{1..3}.c]\ncharset = gbk", "part4.c", None, id="another number"),
    pytest.param("[[!a].c]\ncharset = gbk", "b.c", "gbk", id="no such letter"),
    pytest.param("[*]\ncharset = gbk\n[*.c]\ncharset = big5", "a.c", "big5", id="the last section that fits"),
    pytest.param("[*]\ncharset = gbk\n[*.c]\ncharset = unset", "a.c", None, id="taken back"),
    pytest.param("; a comment\n[*.c] # another\nCharset = GBK ; and another", "a.c", "gbk", id="comments and case"),
    pytest.param("charset = gbk\n[*.h]\ncharset = big5", "a.c", None, id="before all sections nothing counts"),
    pytest.param("[*.c]\nindent_style = tab", "a.c", None, id="no charset"),
    pytest.param(f"[{{{','.join('abcdefgh')}}}{{1..50}}]\ncharset = gbk", "a1", None, id="too many are none"),
    pytest.param(f"[{'{' * 200}a]\ncharset = gbk\n[*]\ncharset = big5", "a.c", "big5", id="a section of braces alone"),
    pytest.param("[{a}.c]\ncharset = gbk", "{a}.c", "gbk", id="braces around one are themselves"),
    pytest.param("\ufeff[*]\ncharset = gbk", "a.c", "gbk", id="a mark in front"),
]


@pytest.mark.parametrize(("text", "path", "name"), EDITOR)
def test_sections_are_read_as_editors_read_them(text: str, path: str, name: str | None) -> None:
    found = declared_in({".editorconfig": text}).of(path)

    assert [(each.name, each.evidence) for each in found] == ([(name, EncodingEvidence.EDITOR)] if name else [])


FOLDERS = {
    ".gitattributes": "*.c encoding=gbk\n*.h encoding=gbk",
    "lib/.gitattributes": "*.c encoding=big5",
    ".editorconfig": "[*]\ncharset = latin1",
    "lib/.editorconfig": "[*.c]\ncharset = utf-8",
    "own/.editorconfig": "root = true\n[*.c]\nindent_size = 2",
}


@pytest.mark.parametrize(
    ("path", "names"),
    [
        pytest.param("a.c", ["gbk", "iso-8859-1"], id="of the root"),
        pytest.param("lib/a.c", ["big5", "utf-8"], id="the nearest folder"),
        pytest.param("lib/a.h", ["gbk", "iso-8859-1"], id="what the nearest does not say"),
        pytest.param("lib/deep/er/a.c", ["big5", "utf-8"], id="of a folder far above"),
        pytest.param("own/a.c", ["gbk"], id="a root of editors"),
        pytest.param("library/a.c", ["gbk", "iso-8859-1"], id="no folder of a like name"),
    ],
)
def test_the_nearest_folder_that_says_something_counts(path: str, names: Sequence[str]) -> None:
    assert [each.name for each in declared_in(FOLDERS).of(path)] == names


def test_an_entrys_own_word_counts_before_that_for_all_and_both_before_what_files_declare() -> None:
    rules = (*encoding_rules(["*.c = koi8-r"], "entry"), *encoding_rules(["*.c=cp1251", "*.h = cp1250"], "all"))
    declared = read_declared(rules, {".gitattributes": "x"}, lambda _: b"* encoding=gbk")

    assert [each.name for each in declared.of("a.c")] == ["koi8-r", "cp1251", "gbk"]
    assert [each.name for each in declared.of("a.h")] == ["cp1250", "gbk"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("*.c", "'*.c' is not written as"),
        ("= gbk", "'= gbk' is not written as"),
        ("*.c =", "'*.c =' is not written as"),
        ("*.c = klingon", "'*.c = klingon': unknown encoding 'klingon': give a name as Python has it"),
        ("*.c = rot13", "unknown encoding 'rot13'"),
        (f"{'x' * 600} = gbk", "has 600 characters: a pattern has at most 500"),
    ],
)
def test_a_line_of_the_setting_that_is_none_is_an_error_that_names_it(line: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        encoding_rules([line], "setting 'encodings'")

    assert str(error.value).startswith("setting 'encodings'")
    assert message in str(error.value)


def test_an_equals_sign_may_be_in_a_name() -> None:
    assert [each.name for each in declared_in({}, "a=b.c = gbk").of("x/a=b.c")] == ["gbk"]


def test_files_that_declare_without_end_are_read_up_to_a_bound() -> None:
    many = "".join(f"{number}.c encoding=gbk\n" for number in range(5_000))
    deep = {f"{'a/' * depth}.gitattributes": many for depth in range(60)}

    found = declared_in({**deep, ".editorconfig": "\0\xff" * 500_000})

    assert found.of("99.c") != ()
    assert found.of("101.c") == ()
    assert len(found.of(f"{'a/' * 60}5.c")) == 1
