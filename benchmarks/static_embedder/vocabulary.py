"""The teacher's tokens, and a tokenizer that cuts identifiers before it looks their parts up."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, normalizers

PADDING, UNKNOWN = "[PAD]", "[UNK]"
# Where an identifier is cut, before its case is lost: `getHTTPServer2` is get, http, server, 2.
CUTS = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A tokenizer's JSON, its tokens in the order of their numbers, and the teacher's number of each."""

    tokenizer: str
    tokens: tuple[str, ...]
    teacher_ids: tuple[int, ...]

    def lists(self, words: Sequence[str]) -> list[list[int]]:
        """The tokens of each word, unknown ones left out."""
        tokenizer = Tokenizer.from_str(self.tokenizer)
        unknown = tokenizer.token_to_id(UNKNOWN)
        encodings = tokenizer.encode_batch_fast(list(words), add_special_tokens=False)
        return [[token for token in encoding.ids if token != unknown] for encoding in encodings]


def vocabulary_of(teacher: Path) -> Vocabulary:
    """The teacher's tokens without those that no text has."""
    tokenizer = Tokenizer.from_file(str(teacher / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    ids = tokenizer.get_vocab()
    kept = [token for token in sorted(ids, key=lambda token: ids[token]) if not token.startswith("[") or len(token) < 3]
    tokens = (PADDING, UNKNOWN, *kept)
    return Vocabulary(_tokenizer_json(tokenizer, tokens), tokens, tuple(ids[token] for token in tokens))


def is_mark(token: str) -> bool:
    """True for punctuation, and for what stands for no text."""
    return token in (PADDING, UNKNOWN) or (len(token) == 1 and not token.isalnum())


def _tokenizer_json(teacher: Tokenizer, tokens: Sequence[str]) -> str:
    described = json.loads(teacher.to_str())
    described["model"]["vocab"] = {token: number for number, token in enumerate(tokens)}
    described["added_tokens"] = []
    described["post_processor"] = None
    made = Tokenizer.from_str(json.dumps(described))
    made.normalizer = normalizers.Sequence([normalizers.Replace(Regex(CUTS), " "), made.normalizer])
    made.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in (PADDING, UNKNOWN)])
    return str(made.to_str(pretty=False))
