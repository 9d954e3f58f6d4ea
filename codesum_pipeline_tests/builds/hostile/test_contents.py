"""Contents that are not what a name promises: read by what they say of themselves, or skipped for a reason."""

import codecs
import gzip
import io
import json
import struct
import zipfile
import zlib

import pytest

from codesum_pipeline_tests.builds.hostile.building import SOUND, Built, built
from codesum_pipeline_tests.support.repositories import GitRepo

TEXT = SOUND.decode()
UMLAUT = TEXT.replace("the sum", "die Größe")
JAPANESE = TEXT.replace("the sum", "合計")


def zip_bomb() -> bytes:
    """100 MB of blanks in 100 KB."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("blanks.py", b" " * 100_000_000)
    return buffer.getvalue()


def png_bomb() -> bytes:
    """A picture said to have 50,000 by 50,000 points."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 50_000, 50_000, 1, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes(10_000))) + chunk(b"IEND", b"")


BOMB = zip_bomb()

# What is indexed, and whether the function in it is found.
INDEXED: dict[str, tuple[str, bytes]] = {
    "UTF-8 with BOM": ("bom.py", codecs.BOM_UTF8 + SOUND),
    "UTF-16 LE with BOM": ("utf16le.py", codecs.BOM_UTF16_LE + UMLAUT.encode("utf-16-le")),
    "UTF-16 BE with BOM": ("utf16be.py", codecs.BOM_UTF16_BE + UMLAUT.encode("utf-16-be")),
    "UTF-32 with BOM": ("utf32.py", codecs.BOM_UTF32_LE + UMLAUT.encode("utf-32-le")),
    "Latin-1 with a cookie": ("latin_cookie.py", b"# -*- coding: latin-1 -*-\n" + UMLAUT.encode("latin-1")),
    "Shift-JIS with a cookie": ("sjis_cookie.py", b"# coding: shift_jis\n" + JAPANESE.encode("shift_jis")),
    "a cookie of no encoding": ("cookie.py", b"# coding: no-such-thing\n" + SOUND),
    "a cookie that runs a codec": ("zip_cookie.py", b"# coding: unicode_escape\n" + SOUND),
    "CR line ends": ("cr.py", SOUND.replace(b"\n", b"\r")),
    "CRLF line ends": ("crlf.py", SOUND.replace(b"\n", b"\r\n")),
    "mixed line ends": ("mixed.py", SOUND.replace(b"\n", b"\r\n", 3).replace(b"\n\n", b"\r\r", 1)),
    "form feeds": ("form_feed.py", SOUND.replace(b"\n\n\n", b"\n\x0c\n\x0c")),
    "U+2028 in a string": ("u2028.py", TEXT.replace("Return", "A\u2028B\u2029C\x85D").encode()),
    "control characters": ("control.py", SOUND.replace(b"Return", b"\x01\x02\x1b[31m\x7f")),
    "no line end at the end": ("no_end.py", SOUND.rstrip()),
    "bidirectional source": ("bidi.py", TEXT.replace("prices", "\u202e\u2066prices\u2069").encode()),
    "non-characters": ("nonchar.py", TEXT.replace("prices", "\ufffe\uffff\U0010ffff").encode()),
    "half a surrogate pair in a docstring": ("escape.py", TEXT.replace("Return", "\\ud800 Return").encode()),
    "tabs and blanks": ("tabs.py", SOUND.replace(b"    ", b"\t").replace(b"\t\t", b"        ")),
    "Latin-1": ("latin1.py", UMLAUT.encode("latin-1")),
    "Shift-JIS": ("sjis.py", JAPANESE.encode("shift_jis")),
    "overlong UTF-8": ("overlong.py", b"# \xc0\xaf\xe0\x80\xaf\n" + SOUND),
    "surrogates in UTF-8": ("surrogate.py", b"# \xed\xa0\x80\n" + SOUND),
    "a cookie of what is no text": ("rot13.py", b"# coding: rot13\n" + SOUND),
    "notebook with 20 MB of outputs": (
        "outputs.ipynb",
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "outputs": ["%s"], "source": %s}]}'
        % (b"A" * 20_000_000, json.dumps(TEXT).encode()),
    ),
    "a cookie of compressed bytes": ("zlib.py", b"# coding: zlib\n" + SOUND),
}
WITHOUT_FUNCTION: dict[str, tuple[str, bytes]] = {
    "empty": ("empty.py", b""),
    "only a BOM": ("only_bom.py", codecs.BOM_UTF8),
    "only white space": ("white.py", b" \t\n\n\x0c\n   "),
    "one line end": ("line_end.py", b"\n"),
    "HTML with a source extension": ("html.py", b"<html><script>alert(1)</script>{{7*7}}</html>\n"),
    "prose with a source extension": ("prose.py", b"Dear reader, this is not a program at all.\n" * 30),
    "another language's code": ("java.py", b"public class A { void f() { g(); } }\n" * 20),
    "merge conflict": ("conflict.py", b"<<<<<<< HEAD\n" + SOUND[:40] + b"=======\n>>>>>>> x\n"),
    "XML entity bomb": (
        "bomb.xml",
        b"<!DOCTYPE a [<!ENTITY a 'a'>"
        + b"".join(b"<!ENTITY %c '&%c;&%c;'>\n" % (c + 1, c, c) for c in range(97, 120))
        + b"<!ENTITY z SYSTEM 'file:///etc/passwd'>]><a>&z;</a>",
    ),
    "YAML bomb": (
        "bomb.yaml",
        b"a0: &a0 [x]\n" + b"".join(b"a%d: &a%d [*a%d, *a%d]\n" % (n, n, n - 1, n - 1) for n in range(1, 60)),
    ),
    "YAML with a tag that runs": ("tag.yaml", b'!!python/object/apply:os.system ["touch /tmp/never"]\n'),
    "JSON with a number of 5,000 digits": ("number.json", b'{"a": ' + b"9\n" * 5_000 + b"}"),
    "TOML with a number of 5,000 digits": ("number.toml", b"a = " + b"9" * 450 + b"\n" + b"#\n" * 20),
    "JSON of a notebook that is none": ("broken.json", b'{"cells": [{"cell_type": "code", "source": [1, null]}'),
}
SKIPPED: dict[str, tuple[str, bytes, str]] = {
    "UTF-16 LE without BOM": ("utf16le_bare.py", UMLAUT.encode("utf-16-le"), "binary"),
    "UTF-16 BE without BOM": ("utf16be_bare.py", UMLAUT.encode("utf-16-be"), "binary"),
    "UTF-32 without BOM": ("utf32_bare.py", UMLAUT.encode("utf-32-le"), "binary"),
    "bytes of no encoding": ("noise.py", bytes(range(0x80, 0x100)) * 3 + SOUND, "not_text"),
    "odd bytes of UTF-16": ("utf16_odd.py", codecs.BOM_UTF16_LE + b"a", "not_text"),
    "NUL": ("nul.py", SOUND + b"\0", "binary"),
    "NUL far from the start": ("late_nul.py", SOUND + b"# x\n" * 3_000 + b"\0", "not_text"),
    "ELF with a source extension": ("elf.py", b"\x7fELF\x02\x01\x01\0" + bytes(64), "binary"),
    "PNG with a source extension": ("png.js", png_bomb(), "binary"),
    "pickle with a source extension": ("pickle.py", b"\x80\x04\x95\x0b\0\0\0\0\0\0\0\x8c\x02os\x94.", "binary"),
    "zip bomb": ("bomb.zip", BOMB, "binary"),
    "zip bomb with a source extension": ("bomb.py", BOMB, "binary"),
    "gz bomb": ("bomb.gz", gzip.compress(bytes(50_000_000), mtime=0), "binary"),
    "PNG bomb": ("bomb.png", png_bomb(), "binary"),
    "20 MB on one line": ("one_line.js", b"a = 1; " * 3_000_000, "too_large"),
    "almost 1 MB on one line": ("long_line.py", b"a = 1; " * 140_000, "minified"),
    "10,000 brackets on one line": ("brackets_line.py", b"x = " + b"(" * 10_000 + b")" * 10_000 + b"\n", "minified"),
    "notebook that is no JSON": ("none.ipynb", b"not JSON", "notebook"),
    "notebook of an unknown version": ("version.ipynb", b'{"nbformat": 99, "cells": []}', "notebook"),
    "notebook with a source that is a number": (
        "number.ipynb",
        b'{"nbformat": 4, "cells": [{"source": 3}]}',
        "notebook",
    ),
    "notebook nested a million deep": ("deep.ipynb", b'{"nbformat": 4, "a": ' + b"[" * 1_000_000, "notebook"),
    "notebook with a cell of 10 MB": (
        "cell.ipynb",
        b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": "' + b"a = 1;" * 1_700_000 + b'"}]}',
        "too_large",
    ),
    "files of git's own": (".mailmap.pb.go", b"package x\n", "generated"),
}


@pytest.fixture(scope="module")
def odd_contents(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """One repository with all of them."""
    folder = tmp_path_factory.mktemp("odd_contents")
    cases = [*INDEXED.values(), *WITHOUT_FUNCTION.values(), *(case[:2] for case in SKIPPED.values())]
    repo = GitRepo.create(folder / "repository", {"sound.py": SOUND, **dict(cases)})
    return built(repo.path, folder / "home")


@pytest.mark.parametrize("name", [name for name, _ in INDEXED.values()], ids=INDEXED)
def test_a_file_is_read_by_what_it_says_of_itself(odd_contents: Built, name: str) -> None:
    function = odd_contents.documents()[f"{name}::order_total"]

    assert odd_contents.reasons()[name] is None
    assert function["signature"] == "def order_total(items)"
    assert all(text.isprintable() for text in (function["summary"], function["business_intent"], *function["keywords"]))


@pytest.mark.parametrize("name", [name for name, _ in WITHOUT_FUNCTION.values()], ids=WITHOUT_FUNCTION)
def test_a_file_without_a_definition_has_a_document_of_its_own(odd_contents: Built, name: str) -> None:
    document = odd_contents.documents()[name]

    assert odd_contents.reasons()[name] is None
    assert document["type"] == "file"
    assert document["summary"].isprintable()


@pytest.mark.parametrize(("name", "reason"), [(case[0], case[2]) for case in SKIPPED.values()], ids=SKIPPED)
def test_a_file_that_is_no_text_is_skipped_for_a_reason(odd_contents: Built, name: str, reason: str) -> None:
    assert odd_contents.reasons()[name] == reason
    assert name not in odd_contents.documents()


def test_the_encoding_of_a_function_changes_nothing_but_its_bytes(odd_contents: Built) -> None:
    documents = odd_contents.documents()
    same = ["sound.py", "bom.py", "cr.py", "crlf.py", "no_end.py", "form_feed.py", "cookie.py"]

    assert len({documents[f"{name}::order_total"]["content_hash"] for name in same}) == 1


def test_the_doctor_finds_nothing_wrong_with_odd_contents(odd_contents: Built, codesum) -> None:
    assert codesum(odd_contents.home.layout.home, "doctor").exit_code == 0


def test_a_second_build_of_odd_contents_writes_nothing(odd_contents: Built) -> None:
    again = odd_contents.rebuilt()

    assert again.reports["repo_snapshot"].files_read == 0
    assert again.reports["file_summaries"].written == 0
    assert again.findings() == []
