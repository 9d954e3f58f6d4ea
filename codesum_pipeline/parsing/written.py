"""Text as it stands in a source: blanks, and the words that a grammar was shown as others."""

# Explicit, since `str.strip` also takes what are letters' halves in the bytes-as-characters text.
BLANKS = " \t\f"
OUTER_BLANKS = BLANKS + "\n"


def folded(text: str) -> str:
    """A text on one line: line ends and the blanks around them are one blank, and none at its ends."""
    first, *others = text.split("\n")
    if not others:
        return text
    *inner, last = others
    pieces = (first.rstrip(BLANKS), *(piece.strip(BLANKS) for piece in inner), last.lstrip(BLANKS))
    return " ".join(filter(None, pieces))


def written(text: str, shown: str, start: int, end: int) -> str:
    """What a token was shown in place of, with what was shown as blanks after it; none where it is as shown."""
    if text[start:end] == shown[start:end]:
        return ""
    while end < len(text) and shown[end] == " " and text[end] not in OUTER_BLANKS:
        end += 1
    return text[start:end]
