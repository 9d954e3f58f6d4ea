"""A file's text is what the best evidence says of its encoding; ASCII is never lost, and no letter is invented."""

import gzip
import io
import random
import sqlite3
import struct
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest

from codesum_pipeline.foundation.data_model.errors import SkippedFile
from codesum_pipeline.foundation.data_model.file import EncodingEvidence, FileEncoding
from codesum_pipeline.source.files.encodings import (
    DeclaredEncoding,
    decode_text,
    known_encoding,
    read_other_version,
    read_text,
)

MARK, SETTING, DECLARATION, CONTENT = (
    EncodingEvidence.MARK, EncodingEvidence.SETTING, EncodingEvidence.DECLARATION, EncodingEvidence.CONTENT
)  # fmt: skip
ATTRIBUTES, EDITOR, GUESS, UNKNOWN = (
    EncodingEvidence.ATTRIBUTES, EncodingEvidence.EDITOR, EncodingEvidence.GUESS, EncodingEvidence.UNKNOWN
)  # fmt: skip

CODE = """#include <stdio.h>
/* %s */
int open_device(struct device *dev, int flags)
{
    int i, count = 0;
    for (i = 0; i < dev->n; i++)
        if (dev->ports[i].state & flags)
            count++;  // %s
    return count;
}
"""


@pytest.mark.parametrize(
    ("data", "language", "text", "encoding"),
    [
        pytest.param("ü\n".encode(), "text", "ü\n", ("utf-8", CONTENT), id="utf-8"),
        pytest.param(b"x = 1\n", "python", "x = 1\n", ("utf-8", CONTENT), id="ascii"),
        pytest.param("ü\n".encode("utf-8-sig"), "python", "ü\n", ("utf-8", MARK), id="utf-8 with a mark"),
        pytest.param("ü\n".encode("utf-16"), "text", "ü\n", ("utf-16-le", MARK), id="utf-16 by its mark"),
        pytest.param(
            b"\xfe\xff" + "ü\n".encode("utf-16-be"), "c", "ü\n", ("utf-16-be", MARK), id="utf-16 big endian by its mark"
        ),
        pytest.param(
            "int f;\r\n// 設定\r\n".encode("utf-16"),
            "c",
            "int f;\n// 設定\n",
            ("utf-16-le", MARK),
            id="utf-16, dos lines",
        ),
        pytest.param("ü\n".encode("utf-32"), "text", "ü\n", ("utf-32-le", MARK), id="utf-32 by its mark"),
        pytest.param(
            b"# coding: latin-1\n'\xfc'\n",
            "python",
            "# coding: latin-1\n'ü'\n",
            ("iso8859-1", DECLARATION),
            id="cookie",
        ),
        pytest.param(
            b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n'\x80'\n",
            "python",
            "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n'€'\n",
            ("cp1252", DECLARATION),
            id="cookie in the second line",
        ),
        pytest.param(
            "# coding: utf-8-unix\nü".encode(),
            "python",
            "# coding: utf-8-unix\nü",
            ("utf-8", DECLARATION),
            id="utf-8-unix",
        ),
        pytest.param(
            "# encoding: windows-1251\nputs 'привет'\n".encode("cp1251"),
            "ruby",
            "# encoding: windows-1251\nputs 'привет'\n",
            ("cp1251", DECLARATION),
            id="a magic comment of Ruby",
        ),
        pytest.param(
            "/* -*- mode: c; coding: euc-jp -*- */\n/* 注 */\n".encode("euc-jp"),
            "c",
            "/* -*- mode: c; coding: euc-jp -*- */\n/* 注 */\n",
            ("euc_jp", DECLARATION),
            id="Emacs' line",
        ),
        pytest.param(
            ("int f;\n// ж\n" + "int g;\n" * 500 + "/* Local Variables:\n * coding: koi8-r\n * End: */\n").encode(
                "koi8-r"
            ),
            "c",
            "int f;\n// ж\n" + "int g;\n" * 500 + "/* Local Variables:\n * coding: koi8-r\n * End: */\n",
            ("koi8-r", DECLARATION),
            id="Emacs' list at the end",
        ),
        pytest.param(
            b"#!/usr/bin/ruby\n# frozen_string_literal: true\n# encoding: windows-1252\nx = '\xfc'\n",
            "ruby",
            "#!/usr/bin/ruby\n# frozen_string_literal: true\n# encoding: windows-1252\nx = 'ü'\n",
            ("cp1252", DECLARATION),
            id="Ruby's comment behind another one",
        ),
        pytest.param(
            ";; -*- Coding: koi8-r -*-\n; жук\n".encode("koi8-r"),
            "scheme",
            ";; -*- Coding: koi8-r -*-\n; жук\n",
            ("koi8-r", DECLARATION),
            id="Emacs' line in other letters",
        ),
        pytest.param(
            "-module(a).\n%% coding: latin-1\n%% år är ö\n".encode("latin-1"),
            "erlang",
            "-module(a).\n%% coding: latin-1\n%% år är ö\n",
            ("iso8859-1", DECLARATION),
            id="the second line of Erlang",
        ),
        pytest.param(
            "int f;\n/* š */\n/* vim: set ts=4 fenc=cp1250 : */\n".encode("cp1250"),
            "c",
            "int f;\n/* š */\n/* vim: set ts=4 fenc=cp1250 : */\n",
            ("cp1250", DECLARATION),
            id="Vim's line at the end",
        ),
        pytest.param(
            '<?xml version="1.0" encoding="GBK"?>\n<a>联通</a>\n'.encode("gbk"),
            "xml",
            '<?xml version="1.0" encoding="GBK"?>\n<a>联通</a>\n',
            ("gbk", DECLARATION),
            id="what XML declares, though the bytes are UTF-8 by chance",
        ),
        pytest.param(
            '<html><meta charset="shift_jis"><p>表\n'.encode("cp932"),
            "html",
            '<html><meta charset="shift_jis"><p>表\n',
            ("shift_jis", DECLARATION),
            id="the charset of a page",
        ),
        pytest.param(
            '<%@ page language="java" pageEncoding="GBK"%>\n<b>表</b>\n'.encode("gbk"),
            "text",
            '<%@ page language="java" pageEncoding="GBK"%>\n<b>表</b>\n',
            ("gbk", DECLARATION),
            id="the encoding of a page of Java",
        ),
        pytest.param(
            '<%@ page contentType="text/html; charset=big5" %>\n<b>表</b>\n'.encode("big5"),
            "text",
            '<%@ page contentType="text/html; charset=big5" %>\n<b>表</b>\n',
            ("big5", DECLARATION),
            id="the charset of a page of Java",
        ),
        pytest.param(
            '@charset "windows-1252";\na{content:"“"}\n'.encode("cp1252"),
            "css",
            '@charset "windows-1252";\na{content:"“"}\n',
            ("cp1252", DECLARATION),
            id="the charset of a style sheet",
        ),
        pytest.param(
            "\\documentclass{a}\n\\usepackage[latin2]{inputenc}\nŁ\n".encode("iso8859-2"),
            "tex",
            "\\documentclass{a}\n\\usepackage[latin2]{inputenc}\nŁ\n",
            ("iso8859-2", DECLARATION),
            id="the input encoding of TeX",
        ),
        pytest.param(b"// \x1b$BF|K\\8l\x1b(B\n", "c", "// 日本語\n", ("iso2022_jp", CONTENT), id="iso-2022-jp"),
        pytest.param(
            "// 장치를 열고 닫는다\n".encode("iso2022_kr"),
            "c",
            "// 장치를 열고 닫는다\n",
            ("iso2022_kr", CONTENT),
            id="iso-2022-kr",
        ),
        pytest.param(
            b"// gr\xf6\xdfer\r\n" + b"\x1a" * 3,
            "c",
            "// größer\n" + "\x1a" * 3,
            ("cp1252", GUESS),
            id="the end of a file of DOS, filled up",
        ),
        pytest.param(b"\x1b[31mred\n", "text", "\x1b[31mred\n", ("utf-8", CONTENT), id="a colour is no character set"),
        pytest.param(b"a\r\nb\rc\n", "text", "a\nb\nc\n", ("utf-8", CONTENT), id="line ends"),
        pytest.param(b"a\x0cb\xe2\x80\xa8c", "text", "a\x0cb\u2028c", ("utf-8", CONTENT), id="other separators stay"),
        pytest.param(
            b"# coding: latin-1\na\x85b\n",
            "python",
            "# coding: latin-1\na\x85b\n",
            ("iso8859-1", DECLARATION),
            id="NEL",
        ),
        pytest.param(b"", "python", "", ("utf-8", CONTENT), id="empty"),
    ],
)
def test_text_is_decoded_by_what_it_says(
    data: bytes, language: str, text: str, encoding: tuple[str, EncodingEvidence]
) -> None:
    found = read_text(data, language)

    assert (found.text, found.encoding) == (text, FileEncoding(*encoding))
    assert decode_text(data, found.encoding.name) == text


@pytest.mark.parametrize(
    ("data", "language", "reason"),
    [
        pytest.param(b"ab\0c", "text", "binary", id="NUL"),
        pytest.param(b"x" * 9000 + b"\0", "text", "not_text", id="late NUL"),
        pytest.param(b"\xfc\n", "text", "not_text", id="one byte says nothing"),
        pytest.param(bytes(range(0x80, 0x100)) * 2, "text", "not_text", id="no letters"),
        pytest.param(bytes(range(0x80, 0x100)) * 2, "c", "not_text", id="a program of no letters"),
        pytest.param(b"\xff\xfea", "text", "not_text", id="half a character"),
        pytest.param(b"// gr\xf6\xdfer\n\x1a\nx", "c", "not_text", id="Ctrl-Z before the end"),
        pytest.param(b"\xff\xfe\x00\xd8", "text", "not_text", id="lone surrogate"),
        pytest.param("hello\n".encode("utf-16-le"), "c", "binary", id="utf-16 without a mark"),
    ],
)
def test_other_bytes_are_no_text(data: bytes, language: str, reason: str) -> None:
    with pytest.raises(SkippedFile) as error:
        read_text(data, language)
    assert error.value.reason == reason


def _zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", "a" * 99)
    return file.getvalue()


def _database(folder: Path) -> bytes:
    with sqlite3.connect(folder / "a.db") as connection:
        connection.execute("CREATE TABLE a (b)")
    return (folder / "a.db").read_bytes()


def _random(size: int, *, without: bytes = b"") -> bytes:
    return bytes(byte for byte in random.Random(size).randbytes(size) if byte not in without)


@pytest.mark.parametrize("language", ["c", "text", "java"])
def test_files_of_other_programs_are_never_made_text(language: str, tmp_path: Path) -> None:
    files = {
        "png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 9, 9),
        "png without its length": b"\x89PNG\r\n\x1a\n",
        "class": b"\xca\xfe\xba\xbe\0\0\0\x34\0\x1d",
        "wasm": b"\0asm\1\0\0\0",
        "zip": _zip(),
        "gzip": gzip.compress(b"a" * 99 + _random(200), mtime=1),
        "sqlite": _database(tmp_path),
        "jpeg": b"\xff\xd8\xff\xe0\0\x10JFIF",
        "pdf": b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\nstream\n" + _random(300, without=b"\0"),
        "random": _random(60, without=b"\0"),
        "much that is random": _random(20_000, without=b"\0"),
        "random without control characters": _random(600, without=bytes(range(32)) + b"\x7f"),
        "utf-16 by its mark, and then no text": b"\xff\xfe" + _random(301),
    }

    read = {}
    for name, data in files.items():
        with suppress(SkippedFile):
            read[name] = read_text(data, language).encoding

    assert read == {}


COMMENTS = [
    pytest.param("iso8859-1", "Gibt den größten gemeinsamen Teiler zurück", id="German"),
    pytest.param("iso8859-1", "Calcule la moyenne pondérée des éléments triés", id="French"),
    pytest.param("cp1252", "L’utilisateur n’a pas été trouvé – réessayez", id="French with typographic signs"),
    pytest.param("iso8859-1", "função que lê o arquivo de configuração", id="Portuguese"),
    pytest.param("iso8859-1", "Kjøretøy på norsk: åpner døren", id="Norwegian"),
    pytest.param("iso8859-1", "il file è vero, ma à la carte", id="Italian with two letters, which could be Cyrillic"),
    pytest.param("cp1252", "It\u2019s wrong, and we\u2019re done", id="apostrophes"),
    pytest.param("cp1252", "a \u201cquoted\u201d and a \u2018quoted\u2019 word", id="quotation marks"),
    pytest.param("cp1252", "pages 1\u20135 \u2013 or 10 \u2014 wait\u2026", id="dashes and dots"),
    pytest.param("cp1252", "costs 100 \u20ac at Foo\u2122", id="signs of Windows"),
    pytest.param("cp1252", "\u2022 first item", id="a bullet"),
    pytest.param("iso8859-1", "år är ö", id="Swedish with hardly a word, which could be Hebrew"),
    pytest.param("iso8859-1", "Prøver å åpne på nytt", id="Norwegian, whose letters could be Arabic ones"),
    pytest.param("cp1250", "Zwraca najdłuższą ścieżkę między węzłami", id="Polish"),
    pytest.param("iso8859-2", "Načte soubor a ověří, že není prázdný", id="Czech, ISO"),
    pytest.param("cp1250", "Visszaadja a következő értéket a listából, hogy működjön", id="Hungarian"),
    pytest.param("cp1251", "Возвращает длину самого длинного пути", id="Russian, Windows"),
    pytest.param("koi8-r", "Открывает файл и проверяет его", id="Russian, KOI8"),
    pytest.param("cp1251", r"\nФайл\nнет\nОшибка чтения\n", id="Russian between line ends of C"),
    pytest.param("cp866", "Открывает файл и проверяет его", id="Russian, DOS"),
    pytest.param("gb18030", "初始化驱动程序，如果失败则返回错误码", id="Chinese, GBK"),
    pytest.param("big5", "初始化驅動程式，失敗時傳回錯誤碼", id="Chinese, Big5"),
    pytest.param("cp932", "デバイスを開いてハンドルを返す", id="Japanese, Shift-JIS"),
    pytest.param("euc_jp", "デバイスを開いてハンドルを返す", id="Japanese, EUC"),
    pytest.param("cp949", "장치를 열고 핸들을 반환한다", id="Korean"),
    pytest.param("cp874", "คำนวณค่าเฉลี่ยของรายการ", id="Thai"),
    pytest.param("iso8859-7", "Υπολογίζει τον μέσο όρο", id="Greek"),
    pytest.param("cp1255", "מחשב את הממוצע של הרשימה", id="Hebrew"),
    pytest.param("cp1256", "يحسب متوسط القائمة ويعيد النتيجة", id="Arabic"),
    pytest.param("cp1254", "Kullanıcı girişini doğrular ve şifreyi kontrol eder", id="Turkish"),
    pytest.param("iso8859-1", "Größe", id="a word of letters that all Latin pages share"),
    pytest.param("iso8859-1", "café", id="a last letter"),
    pytest.param("iso8859-1", "Copyright © 2009, 20 °C", id="signs that all Latin pages share"),
]


@pytest.mark.parametrize(("encoding", "comment"), COMMENTS)
def test_what_nobody_declares_is_detected(encoding: str, comment: str) -> None:
    text = CODE % (comment, comment)

    found = read_text(text.encode(encoding), "c")

    assert (found.text, found.encoding.evidence) == (text, GUESS)


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        pytest.param(
            b"int f;  // se\xf1al\n",
            "int f;  // se\ufffdal\n",
            FileEncoding("ascii", UNKNOWN, "1 byte of an unknown encoding"),
            id="a letter that is another one in each page",
        ),
        pytest.param(
            "int f;  // für\n".encode("cp850"),
            "int f;  // f\ufffdr\n",
            FileEncoding("ascii", UNKNOWN, "1 byte of an unknown encoding"),
            id="a letter of DOS",
        ),
        pytest.param(
            "int f;  // l\u00e6s \u00c6ble\n".encode("cp850"),
            "int f;  // l\ufffds \ufffdble\n",
            FileEncoding("ascii", UNKNOWN, "2 bytes of an unknown encoding"),
            id="letters of DOS where Windows has quotation marks",
        ),
        pytest.param(
            "int f;  // 表\n".encode("cp932"),
            "int f;  // \ufffd\\\n",
            FileEncoding("ascii", UNKNOWN, "1 byte of an unknown encoding"),
            id="a character alone",
        ),
        pytest.param(
            "// größer, süß, schön\n".encode() + b"// gr\xf6\xdfer\n",
            "// größer, süß, schön\n// gr\ufffd\ufffder\n",
            FileEncoding("utf-8", GUESS, "2 bytes outside of UTF-8"),
            id="UTF-8 with a line of somebody else",
        ),
        pytest.param(
            "// 打开设备并返回".encode() + b"\xe8\xbf\n",
            "// 打开设备并返回\ufffd\n",
            FileEncoding("utf-8", GUESS, "1 byte outside of UTF-8"),
            id="UTF-8 that was cut",
        ),
        pytest.param(
            "/* 打开设备并返回句柄，如果失败则返回错误码 */\n// ".encode("gbk") + b"\xb4\n",
            "/* 打开设备并返回句柄，如果失败则返回错误码 */\n// \ufffd\n",
            FileEncoding("gb18030", GUESS, "1 byte outside of gb18030"),
            id="GBK that was cut",
        ),
        pytest.param(
            b"\xef\xbb\xbf// gr\xf6\xdfer\n",
            "// größer\n",
            FileEncoding("cp1252", GUESS, "the mark of UTF-8 does not fit"),
            id="a mark that somebody else's editor left",
        ),
        pytest.param(
            b"int f;  // \xed\xa0\xbd\xed\xb8\x80\n",
            "int f;  // " + "\ufffd" * 6 + "\n",
            FileEncoding("ascii", UNKNOWN, "6 bytes of an unknown encoding"),
            id="halves of a character",
        ),
    ],
)
def test_what_cannot_be_read_is_no_letter(data: bytes, text: str, encoding: FileEncoding) -> None:
    found = read_text(data, "c")

    assert (found.text, found.encoding) == (text, encoding)
    assert decode_text(data, encoding.name) == text


GBK = "// 用户\n".encode("gbk")


@pytest.mark.parametrize(
    ("data", "declared", "encoding"),
    [
        pytest.param(GBK, [("gb2312", EDITOR)], FileEncoding("gb2312", EDITOR), id="what an editor is told"),
        pytest.param(
            GBK, [("gbk", ATTRIBUTES), ("latin1", EDITOR)], FileEncoding("gbk", ATTRIBUTES), id="in their order"
        ),
        pytest.param(
            "// 用户".encode(),
            [("latin1", EDITOR)],
            FileEncoding("utf-8", CONTENT),
            id="valid UTF-8 is no other encoding",
        ),
        pytest.param(
            "// 联通".encode("gbk"), [("gbk", SETTING)], FileEncoding("gbk", SETTING), id="but a user's word counts"
        ),
        pytest.param(
            "// -*- coding: latin-1 -*-\n// 用户\n".encode("gbk"),
            [("gbk", SETTING)],
            FileEncoding("gbk", SETTING),
            id="a user's word before that of the file",
        ),
        pytest.param(
            "ü".encode("utf-8-sig"),
            [("latin-1", SETTING)],
            FileEncoding("utf-8", MARK),
            id="a mark before a user's word",
        ),
        pytest.param(
            "// größe\n".encode("latin-1"),
            [("utf-8", EDITOR)],
            FileEncoding("cp1252", GUESS, "the declared encoding 'utf-8' (.editorconfig) does not fit"),
            id="a declaration that does not fit is named, and the next counts",
        ),
        pytest.param(
            "// größe\n".encode("latin-1"),
            [("klingon", ATTRIBUTES), ("latin1", EDITOR)],
            FileEncoding("iso8859-1", EDITOR, "unknown encoding 'klingon' (.gitattributes)"),
            id="an unknown one is named",
        ),
        pytest.param(
            "# coding: ascii\n# größe\n".encode("latin-1"),
            [],
            FileEncoding("cp1252", GUESS, "the declared encoding 'ascii' (declaration) does not fit"),
            id="a cookie that does not fit",
        ),
        pytest.param(
            "# coding: nonsense\nü".encode(),
            [],
            FileEncoding("utf-8", CONTENT, "unknown encoding 'nonsense' (declaration)"),
            id="an unknown cookie",
        ),
        pytest.param(
            "hello\nü\n".encode("utf-16-le"),
            [("UTF-16LE", ATTRIBUTES)],
            FileEncoding("utf-16-le", ATTRIBUTES),
            id="utf-16 without a mark, where it is declared",
        ),
        pytest.param(
            "// größer und süß\n".encode("latin-1"),
            [("utf-16-le", SETTING), ("utf-16-be", EDITOR)],
            FileEncoding(
                "cp1252",
                GUESS,
                "the declared encoding 'utf-16-le' (setting) does not fit; "
                "the declared encoding 'utf-16-be' (.editorconfig) does not fit",
            ),
            id="bytes that are UTF-16 by chance",
        ),
        pytest.param(
            "// größer\n".encode(),
            [("utf-16", SETTING)],
            FileEncoding("utf-8", CONTENT, "the declared encoding 'utf-16' (setting) does not fit"),
            id="UTF-8 in a folder that is said to be in UTF-16",
        ),
        pytest.param(
            b"\x93quoted\x94\n",
            [("latin1", EDITOR)],
            FileEncoding("cp1252", EDITOR),
            id="the controls of Latin-1 are the signs of Windows",
        ),
        pytest.param(
            b'#define A "\x83\x5c\x87\x40"\n',
            [("shift_jis", SETTING)],
            FileEncoding("cp932", SETTING),
            id="a character of a vendor",
        ),
        pytest.param(
            "// größe\n".encode("latin-1"),
            [("rot13", SETTING), ("unicode_escape", SETTING), ("hex", SETTING)],
            FileEncoding(
                "cp1252",
                GUESS,
                "unknown encoding 'rot13' (setting); unknown encoding 'unicode_escape' (setting); "
                "unknown encoding 'hex' (setting)",
            ),
            id="no encoding of files",
        ),
    ],
)
def test_what_others_declare_counts_where_it_fits(
    data: bytes, declared: list[tuple[str, EncodingEvidence]], encoding: FileEncoding
) -> None:
    found = read_text(data, "python", [DeclaredEncoding(*each) for each in declared])

    assert found.encoding == encoding


def test_no_binary_file_becomes_text_because_all_files_are_declared_to_be() -> None:
    with pytest.raises(SkippedFile, match="binary"):
        read_text(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "text", [DeclaredEncoding("latin1", EDITOR)])


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("Latin-1", "iso8859-1"), ("iso-latin-1-unix", "iso8859-1"), ("ISO_8859-2", "iso8859-2"), ("cp-1252", "cp1252"),
        ("windows-1251", "cp1251"), ("x-sjis", "shift_jis"), ("Windows-31J", "cp932"), ("x-gbk", "gbk"),
        ("windows1251", "cp1251"), ("win-1251", "cp1251"), ("ms-936", "gbk"), ("iso88591", "iso8859-1"),
        ("8859_2", "iso8859-2"), ("Latin-2", "iso8859-2"), ("latin-15", None), ("UTF-16LE-BOM", "utf-16-le"),
        ("SJIS-win", "cp932"), ("eucJP-win", "euc_jp"), ("prefer-utf-8", "utf-8"), ("utf-8-emacs-unix", "utf-8"),
        ("utf16", "utf-16-le"), ("utf16le", "utf-16-le"), ("u16", "utf-16-le"), ("windows-949", "cp949"),
        ("japanese-shift-jis-dos", "cp932"), ("cyrillic-koi8", "koi8-r"), ("x-cp932", "cp932"),
        ("eucJP", "euc_jp"), ("ks_c_5601-1987", "euc_kr"), ("utf8-dos", "utf-8"), ("UTF-16", "utf-16-le"),
        ("rot13", None), ("base64", None), ("idna", None), ("utf-7", None), ("", None), ("../x", None), ("a\0b", None),
    ],
)  # fmt: skip
def test_names_of_encodings_are_known_as_people_write_them(written: str, name: str | None) -> None:
    assert known_encoding(written) == name


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param("// 用户\n".encode("gbk"), "// 用户\n", id="as it is read now"),
        pytest.param("// 用户\n".encode(), "// 用户\n", id="in UTF-8 before"),
        pytest.param("// größe, \x81\n".encode("utf-16"), "// größe, \x81\n", id="with a mark before"),
    ],
)
def test_another_version_of_a_file_is_read_in_its_encoding_where_that_fits(data: bytes, text: str) -> None:
    assert read_other_version(data, "c", "gbk") == text
