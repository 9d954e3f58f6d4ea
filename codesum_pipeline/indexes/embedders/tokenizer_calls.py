"""What is asked of a model's own tokenizer: the tokens of texts, and where to cut a text."""

from collections.abc import Sequence

from tokenizers import Tokenizer


def token_ids(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """The tokens of each text, without those that a model adds around it."""
    encodable_texts = [make_encodable(text) for text in texts]
    encodings = tokenizer.encode_batch_fast(encodable_texts, add_special_tokens=False)
    return [encoding.ids for encoding in encodings]


def cut_to_tokens(tokenizer: Tokenizer, text: str, max_tokens: int) -> str:
    """The longest prefix that ends at a token boundary and has at most `max_tokens` tokens."""
    encoding = tokenizer.encode(make_encodable(text), add_special_tokens=False)
    if len(encoding) <= max_tokens:
        return text
    offsets = encoding.offsets
    kept = max_tokens
    # One character can be several tokens (a Hangul syllable is two or three) and is kept or dropped whole.
    while kept > 0 and offsets[kept - 1][1] > offsets[kept][0]:
        kept -= 1
    return text[: offsets[kept - 1][1]] if kept > 0 else ""


def make_encodable(text: str) -> str:
    """Replace lone surrogates, which file names that are not UTF-8 carry and a tokenizer refuses. Each becomes one
    character, so that offsets stay valid."""
    return text if text.isascii() else text.encode("utf-8", errors="replace").decode("utf-8")
