"""Text is what says so itself; nothing is guessed."""

import pytest

from codesum_pipeline.foundation.data_model.errors import SkippedFile
from codesum_pipeline.source.files.content import decode_text


@pytest.mark.parametrize(
    ("data", "language", "text"),
    [
        pytest.param("ü\n".encode(), "text", "ü\n", id="utf-8"),
        pytest.param("ü\n".encode("utf-8-sig"), "python", "ü\n", id="utf-8 with a mark"),
        pytest.param("ü\n".encode("utf-16"), "text", "ü\n", id="utf-16 by its mark"),
        pytest.param(b"\xfe\xff" + "ü\n".encode("utf-16-be"), "text", "ü\n", id="utf-16 big endian"),
        pytest.param("ü\n".encode("utf-32"), "text", "ü\n", id="utf-32 by its mark"),
        pytest.param(b"# coding: latin-1\n'\xfc'\n", "python", "# coding: latin-1\n'ü'\n", id="cookie"),
        pytest.param(
            b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n'\x80'\n",
            "python",
            "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n'€'\n",
            id="cookie in the second line",
        ),
        pytest.param("# coding: utf-8-unix\nü".encode(), "python", "# coding: utf-8-unix\nü", id="utf-8-unix"),
        pytest.param("# coding: nonsense\nü".encode(), "python", "# coding: nonsense\nü", id="unknown cookie, utf-8"),
        pytest.param(b"a\r\nb\rc\n", "text", "a\nb\nc\n", id="line ends"),
        pytest.param(b"a\x0cb\xe2\x80\xa8c", "text", "a\x0cb\u2028c", id="other separators stay"),
        pytest.param(b"", "python", "", id="empty"),
    ],
)
def test_text_is_decoded_by_what_it_says(data: bytes, language: str, text: str) -> None:
    assert decode_text(data, language) == text


@pytest.mark.parametrize(
    ("data", "language", "reason"),
    [
        pytest.param(b"ab\0c", "text", "binary", id="NUL"),
        pytest.param(b"x" * 9000 + b"\0", "text", "not_text", id="late NUL"),
        pytest.param(b"\xfc\n", "text", "not_text", id="latin-1 is not guessed"),
        pytest.param(b"# coding: latin-1\n\xfc", "ruby", "not_text", id="a cookie counts in Python alone"),
        pytest.param(b"x = 1\n# coding: latin-1\n\xfc", "python", "not_text", id="no cookie below code"),
        pytest.param(b"# coding: rot13\nx", "python", "not_text", id="no text encoding"),
        pytest.param(b"# coding: unicode_escape\n\xfc", "python", "not_text", id="no encoding of files"),
        pytest.param(b"# coding: ascii\n\xfc", "python", "not_text", id="a wrong cookie"),
        pytest.param(b"\xff\xfea", "text", "not_text", id="half a character"),
        pytest.param(b"\xff\xfe\x00\xd8", "text", "not_text", id="lone surrogate"),
    ],
)
def test_other_bytes_are_no_text(data: bytes, language: str, reason: str) -> None:
    with pytest.raises(SkippedFile) as error:
        decode_text(data, language)
    assert error.value.reason == reason
