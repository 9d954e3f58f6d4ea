"""Facts about scripts: which set no blanks between words, how much a character says, how a sentence ends, and which
spellings are one word.

What is ASCII is answered first and costs nothing; the tables below are for the rest.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Literal

# Classes of characters, as they stand between the brackets of an expression.
HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
HIRAGANA = "\u3041-\u309f"
KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
# Thai, Lao, Myanmar and Khmer, without their digits and marks of sentences.
SOUTH_EAST_ASIAN = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecf\u0edc-\u0edf"
    "\u1000-\u103f\u1050-\u108f\u109a-\u109f\u1780-\u17d3\u17d7\u17dc\u17dd"
)
UNSPACED = f"{HAN}{HIRAGANA}{KATAKANA}{SOUTH_EAST_ASIAN}"


@cache
def any_of(letters: str) -> re.Pattern[str]:
    """A class of characters as an expression. It is made where a text first needs it: a large class takes
    milliseconds, and most texts are ASCII."""
    return re.compile(f"[{letters}]")


# A syllable or a word in one sign says about as much as three Latin letters, a sign of a syllabary half of that.
_DENSE, _HALF_DENSE = f"{HAN}{HANGUL}", f"{HIRAGANA}{KATAKANA}{SOUTH_EAST_ASIAN}"


def sets_no_blanks(text: str) -> bool:
    """Whether a text has letters of a script that sets no blanks between words."""
    return not text.isascii() and any_of(UNSPACED).search(text) is not None


def has_words(text: str) -> bool:
    """Whether a text may be more than one word."""
    return " " in text or sets_no_blanks(text)


def letters_worth(text: str) -> int:
    """The length of a text in Latin letters that say about as much."""
    if text.isascii():
        return len(text)
    return len(text) + 2 * len(any_of(_DENSE).findall(text)) + len(any_of(_HALF_DENSE).findall(text)) // 2


def count_letters(text: str) -> int:
    """How many letters a text has, with the marks that belong to them."""
    if text.isascii():
        return sum(map(str.isalpha, text))
    return sum(char.isalpha() or unicodedata.category(char)[0] == "M" for char in text)


# Marks that end a sentence, those of ASCII apart. Thai and Lao have none.
_WIDE_ENDS = "\u3002\uff01\uff1f\uff61\uff0e"
_OTHER_ENDS = "\u061f\u06d4\u0589\u0964\u0965\u104b\u1362\u1367\u17d4\u17d5\u0f0d"
FOREIGN_ENDS = f"{_WIDE_ENDS}{_OTHER_ENDS}"
CLOSING = "\"')\\]\u201d\u2019\u300d\u300f\uff09\u300b\u3011\u00bb"
_ENDED = re.compile(rf"[{FOREIGN_ENDS}][{CLOSING}]*$")
_ENDS_OF_ENGLISH = (".", "!", "?", "…", ".)", '."', ".”")
# What joins to a following part, and ends no sentence.
JOINING = ",;:-–— \uff0c\uff1b\uff1a\u3001\u060c\u061b"
_WIDE_JOINING = re.compile(f"[{_WIDE_ENDS}\uff0c\uff1b\uff1a\u3001]$")
_BEGINS_WIDE = f"{HAN}{HIRAGANA}{KATAKANA}\u300c\u300e\uff08\u300a\u3010"

# The mark at the end of a statement, and the letters of the scripts that have it.
_MARKS = (
    ("\u3002", f"{HAN}{HIRAGANA}{KATAKANA}"),
    ("\u0964", "\u0900-\u0963\u0966-\u09ff\u0a00-\u0a7f\u0b00-\u0b7f"),
    ("", "\u0e01-\u0eff"),
    ("\u104b", "\u1000-\u109f"),
    ("\u17d4", "\u1780-\u17ff"),
    ("\u1362", "\u1200-\u139f"),
    ("\u0589", "\u0531-\u0587"),
    ("\u0f0d", "\u0f00-\u0fff"),
)
# Names of code and terms in Latin letters may be most of a sentence in another script.
_LEAST_SHARE = 3


def ends_sentence(text: str) -> bool:
    """Whether a text has a mark at its end."""
    return text.endswith(_ENDS_OF_ENGLISH) or (not text.isascii() and _ENDED.search(text) is not None)


def without_end(text: str) -> str:
    """The text without full stops at its end."""
    return text.rstrip(f".{FOREIGN_ENDS}")


def full_stop_of(text: str) -> str:
    """The mark at the end of a statement in the script that a text is written in."""
    if text.isascii():
        return "."
    worth = letters_worth(text)
    for mark, letters in _MARKS:
        own = "".join(any_of(letters).findall(text))
        if own and letters_worth(own) * _LEAST_SHARE >= worth:
            return mark
    return "."


def join_parts(text: str, part: str) -> str:
    """Two sentences in a row: no blank follows a wide mark in a script without blanks."""
    is_wide = not text.isascii() and _WIDE_JOINING.search(text) and any_of(_BEGINS_WIDE).match(part)
    return f"{text}{part}" if is_wide else f"{text} {part}"


_LATIN, _LETTER = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]"), re.compile(r"[^\W\d_]")


def is_mostly_latin(text: str) -> bool:
    """Whether at least half of what a text says is in Latin letters; a text without letters is."""
    if text.isascii():
        return True
    latin = len(_LATIN.findall(text))
    return 2 * latin >= letters_worth("".join(_LETTER.findall(text)))


# Georgian has no capitals in sentences, though each of its letters has one.
_GEORGIAN = ("\u10a0", "\u10ff")


def is_small_letter(char: str) -> bool:
    """Whether a letter is small in a script that begins sentences with capitals."""
    return char.islower() and not _GEORGIAN[0] <= char <= _GEORGIAN[1]


@cache
def marks_class() -> str:
    """The signs that stand on, below or around a letter and belong to its word, as a class of characters: vowels of
    Indic scripts and of Thai, tones, accents."""
    runs: list[list[int]] = []
    # Further planes have dead scripts.
    for code in range(0x300, 0x10000):
        if unicodedata.category(chr(code))[0] == "M":
            if runs and runs[-1][1] == code - 1:
                runs[-1][1] = code
            else:
                runs.append([code, code])
    # Joiners decide the form of letters, in Persian and in Indic scripts.
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in runs) + "\u200c\u200d"


# As much as a short English word with its blank.
_WORTH_OF_WORD = 6


def count_words(words: Iterable[str]) -> int:
    """How many words some runs of letters are; where no blanks are between words, by what they say."""
    return sum(max(1, letters_worth(word) // _WORTH_OF_WORD) if sets_no_blanks(word) else 1 for word in words)


# As in Unicode's stream-safe text format: the time that putting marks in order takes is the square of their number.
_MOST_MARKS = 30
# Marks of half width are letters, and become marks.
_HALF_WIDE_MARKS = "\uff9e\uff9f"
_MANY_SIGNS = re.compile(rf"(?:[^\w\x00-\x7f]|[{_HALF_WIDE_MARKS}]){{{_MOST_MARKS},}}")


def in_normal_form(text: str, form: Literal["NFC", "NFD", "NFKC"]) -> str:
    """The text in one of Unicode's normal forms, with at most thirty marks on a letter, in linear time."""
    if text.isascii() or unicodedata.is_normalized(form, text):
        return text
    return unicodedata.normalize(form, _MANY_SIGNS.sub(_with_few_marks, text))


def _with_few_marks(signs: re.Match[str]) -> str:
    kept, marks = [], 0
    for sign in signs[0]:
        marks = marks + 1 if unicodedata.combining(sign) or sign in _HALF_WIDE_MARKS else 0
        if marks <= _MOST_MARKS:
            kept.append(sign)
    return "".join(kept)


@cache
def _word() -> re.Pattern[str]:
    return re.compile(rf"[\w{marks_class()}]+")


def words_of(text: str) -> list[str]:
    """The words of a text with their marks, in one normal form: of wide letters, half-wide kana, single jamo."""
    return _word().findall(in_normal_form(text, "NFKC"))


# Letters that are spelled with a mark which is no sign of its own.
_OTHER_SPELLINGS = str.maketrans({"ı": "i", "İ": "I", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D"})
_JOINERS = re.compile("[\u200c\u200d\u00ad]")
# Accents on Latin and Greek letters, stress in Cyrillic; vowels and the lengthening sign in Arabic and Hebrew, the dot
# of borrowed sounds in Hindi.
_ACCENTED = re.compile("([A-Za-z\u0370-\u03ff\u1f00-\u1fff])[\u0300-\u036f]+")
_STRESSED = re.compile("(?<=[\u0400-\u052f])[\u0300\u0301]")
_POINTS = re.compile("[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u093c]")
_VARIANTS = str.maketrans(
    {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ک": "ك", "ی": "ي", "ё": "е", "Ё": "Е", "ँ": "ं"}
)


# What joins, modifies or asks, and is no part of another word.
_CHINESE_JOINTS = (
    "(?<!目)的(?!确|確)|(?<!为|為)了(?!解)|把|被|吗|嗎|呢|吧|什么时候|什麼時候|为什么|為什麼|什么|什麼|怎么样|怎么|怎麼|怎样|怎樣|如何|"
    "在哪里|在哪裡|哪里|哪裡|在哪|哪儿|哪个|哪個|哪些|多少|是否|能否|请问|請問|我们|我們|以及|可以|这个|這個|那个|那個|一个|一個"
)
_THAI_JOINTS = "การ|ความ|ผู้|อย่างไร|ที่ไหน|เมื่อไหร่|เมื่อไร|ทำไม|สำหรับ|และ|หรือ|ของ|เป็น|ด้วย|โดย"
_JOINTS = re.compile(f"{_CHINESE_JOINTS}|{_THAI_JOINTS}")


@cache
def _run() -> re.Pattern[str]:
    return re.compile(f"[{HAN}]+|[{KATAKANA}]+|[{HIRAGANA}]+|[{SOUTH_EAST_ASIAN}]+|[^{UNSPACED}]+")


@lru_cache(maxsize=1 << 16)
def phrases_of(word: str) -> tuple[str, ...]:
    """What is between two blanks, cut where the kind of sign changes, and at signs and words that only join others: of
    `顧客のカードに請求する` 顧客, の, カード, に, 請求, する."""
    return tuple([run for part in _JOINTS.split(word) for run in _run().findall(part)])


@cache
def _particles_beside() -> re.Pattern[str]:
    return re.compile(f"[{HAN}{KATAKANA}][{HIRAGANA}]|[{HIRAGANA}][{HAN}{KATAKANA}]")


def is_phrase_without_blanks(text: str) -> bool:
    """Whether a text without blanks has words of grammar in it, as a sentence has and a name has not."""
    return not text.isascii() and bool(_JOINTS.search(text) or _particles_beside().search(text))


def pairs_of(run: str) -> tuple[str, ...]:
    """The overlapping pairs of characters; a single one is itself."""
    return tuple([run[start : start + 2] for start in range(max(1, len(run) - 1))])


@lru_cache(maxsize=1 << 16)
def plain_spelling(word: str) -> str:
    """A word as people type it: without accents on Latin and Greek letters, vowel points, joiners; its case stays."""
    if word.isascii():
        return word
    word = _JOINERS.sub("", in_normal_form(word, "NFKC")).translate(_OTHER_SPELLINGS)
    # Points go before letters are composed with them.
    word = _POINTS.sub("", word.translate(_VARIANTS))
    word = _STRESSED.sub("", _ACCENTED.sub(r"\1", in_normal_form(word, "NFD")))
    return unicodedata.normalize("NFC", word).replace("ß", "ss").replace("ẞ", "SS")


def cut_at_case(word: str) -> list[str]:
    """The parts of a word of letters, cut where a capital begins one: `straßenXMLName` gives straßen, XML, Name."""
    if word.islower() or word.isupper() or word[1:].islower():
        return [word]
    parts, start = [], 0
    for place in range(1, len(word)):
        before, char, after = word[place - 1], word[place], word[place + 1 : place + 2]
        if char.isupper() and (before.islower() or (before.isupper() and after.islower())):
            parts.append(word[start:place])
            start = place
    return [*parts, word[start:]]
