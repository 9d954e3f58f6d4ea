"""What is true of texts in each script: their words, their length, the ends of their sentences."""

import sys
import unicodedata

import pytest

from codesum_pipeline.foundation.language_facts.writing_systems import (
    count_words,
    cut_at_case,
    ends_sentence,
    full_stop_of,
    in_normal_form,
    is_mostly_latin,
    join_parts,
    letters_worth,
    marks_class,
    phrases_of,
    plain_spelling,
    words_of,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("पासवर्ड सहेजें", ["पासवर्ड", "सहेजें"], id="vowel signs belong to Hindi words"),
        pytest.param("ผู้ใช้ ลบ", ["ผู้ใช้", "ลบ"], id="tones belong to Thai words"),
        pytest.param("كَتَبَ الملف", ["كَتَبَ", "الملف"], id="vowel points belong to Arabic words"),
        pytest.param("cafe\u0301 noir", ["café", "noir"], id="an accent of its own is composed"),
        pytest.param("ＡＢＣ ｶﾀｶﾅ", ["ABC", "カタカナ"], id="wide letters and half-wide kana are usual ones"),
        pytest.param("\u1112\u1161\u11ab\u1100\u1173\u11af", ["한글"], id="jamo are syllables"),
        pytest.param("می\u200cخواهم", ["می\u200cخواهم"], id="a joiner parts no Persian word"),
        pytest.param("save_user x2", ["save_user", "x2"], id="names of code are whole"),
        pytest.param("दर्ज करें।", ["दर्ज", "करें"], id="a danda is no part of a word"),
    ],
)
def test_words_have_their_marks_and_one_normal_form(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_every_mark_of_the_first_plane_belongs_to_a_word() -> None:
    marks = {chr(code) for code in range(0x300, 0x10000) if unicodedata.category(chr(code)).startswith("M")}

    assert {
        mark for mark in marks if len(words_of(f"a{mark}b")) != 1 and unicodedata.normalize("NFKC", mark) == mark
    } == set()
    assert len(marks_class()) < len(marks) < sys.maxunicode


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("café", "cafe", id="French accents"),
        pytest.param("größe", "grosse", id="German umlauts and sharp s"),
        pytest.param("người", "nguoi", id="Vietnamese tones"),
        pytest.param("đường", "duong", id="a barred letter"),
        pytest.param("işık", "isik", id="Turkish letters"),
        pytest.param("κωδικός", "κωδικος", id="Greek accents"),
        pytest.param("платёж", "платеж", id="Russian yo"),
        pytest.param("за\u0301мок", "замок", id="Russian stress"),
        pytest.param("كِتَاب", "كتاب", id="Arabic vowel points"),
        pytest.param("الإعدادات", "الاعدادات", id="Arabic alefs"),
        pytest.param("שָׁלוֹם", "שלום", id="Hebrew points"),
        pytest.param("फ़ाइल", "फाइल", id="the Hindi dot of borrowed sounds"),
        pytest.param("می\u200cخواهم", "ميخواهم", id="Persian joiners and letters"),
    ],
)
def test_what_people_leave_out_makes_no_other_word(one: str, other: str) -> None:
    assert plain_spelling(one).lower() == other


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("край", "краи", id="Russian short i is a letter"),
        pytest.param("が", "か", id="Japanese voiced sounds are others"),
        pytest.param("คา", "ค่า", id="Thai tones tell words"),
        pytest.param("कल", "काल", id="Hindi vowels tell words"),
    ],
)
def test_marks_that_make_another_letter_stay(one: str, other: str) -> None:
    assert plain_spelling(one) != plain_spelling(other)


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        pytest.param("Refunds the order", ".", id="English"),
        pytest.param("退款给客户", "。", id="Chinese"),
        pytest.param("注文を返金する", "。", id="Japanese"),
        pytest.param("주문을 환불한다", ".", id="Korean has the Latin mark"),
        pytest.param("คืนเงินให้ลูกค้า", "", id="Thai has none"),
        pytest.param("Возвращает деньги", ".", id="Russian"),
        pytest.param("पैसा लौटाता है", "।", id="Hindi"),
        pytest.param("টাকা ফেরত দেয়", "।", id="Bengali"),
        pytest.param("يعيد المال", ".", id="Arabic"),
        pytest.param("מחזיר את הכסף", ".", id="Hebrew"),
        pytest.param("Վերադարձնում է գումարը", "։", id="Armenian"),
        pytest.param("ငွေပြန်အမ်းသည်", "။", id="Burmese"),
        pytest.param("使用 requests.get 下载 URL", "。", id="Chinese with names of code"),
        pytest.param("Handles the letter 中 in names", ".", id="English about a Chinese sign"),
    ],
)
def test_a_statement_ends_with_the_mark_of_its_script(text: str, mark: str) -> None:
    assert full_stop_of(text) == mark
    assert ends_sentence(f"{text}{mark}") is bool(mark)


def test_sentences_are_joined_as_their_script_does() -> None:
    assert join_parts("读取文件。", "检查取值。") == "读取文件。检查取值。"
    assert join_parts("读取文件。", "Prints.") == "读取文件。 Prints."
    assert join_parts("Reads it.", "Prints.") == "Reads it. Prints."


def test_a_length_is_what_is_said() -> None:
    assert (letters_worth("refund"), letters_worth("退款"), letters_worth("환불")) == (6, 6, 6)
    assert count_words(["读取配置文件", "now"]) == 4


@pytest.mark.parametrize(
    ("text", "is_latin"),
    [
        pytest.param("where is it", True, id="English"),
        pytest.param("où est-ce que ça se trouve", True, id="French"),
        pytest.param("12 + 3", True, id="no letters"),
        pytest.param("退款在哪里", False, id="Chinese"),
        pytest.param("где refund_order", True, id="mostly a name of code"),
        pytest.param("где вызывается refund", False, id="mostly Russian"),
    ],
)
def test_the_script_of_most_that_is_said_counts(text: str, is_latin: bool) -> None:
    assert is_mostly_latin(text) is is_latin


def test_a_name_is_cut_at_capitals_of_every_script() -> None:
    assert cut_at_case("straßenXMLName") == ["straßen", "XML", "Name"]
    assert cut_at_case("ΈλεγχοςΤιμών") == ["Έλεγχος", "Τιμών"]
    assert cut_at_case("Возврат") == ["Возврат"]


def test_words_without_blanks_are_cut_where_their_kind_changes() -> None:
    assert phrases_of("顧客のカードに請求する") == ("顧客", "の", "カード", "に", "請求", "する")
    assert phrases_of("获取user列表") == ("获取", "user", "列表")
    assert phrases_of("客户的目的") == ("客户", "目的")
    assert phrases_of("怎么删除会话") == ("删除会话",)


@pytest.mark.parametrize("marks", ["\u0300\u0316", "\uff9e\u0300", "\U0001d165\U0001d17b", "\u0301\u0327\u0345"])
def test_marks_without_end_are_cut_before_they_are_put_in_order(marks: str) -> None:
    text = in_normal_form(f"a{marks * 100_000}b", "NFKC")

    assert (text[:1].isalpha(), text[-1]) == (True, "b")
    assert len(text) <= 32


@pytest.mark.parametrize("text", ["e\u0301" * 100, "─" * 100, "\u0915\u094d\u0937" * 50, "a" + "\u0316\u0300" * 15])
def test_marks_that_people_write_stay(text: str) -> None:
    assert in_normal_form(text, "NFC") == unicodedata.normalize("NFC", text)
