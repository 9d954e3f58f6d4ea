"""The teacher's tokens, and the words of code that it has only in pieces."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import AddedToken, Regex, Tokenizer, normalizers

PADDING, UNKNOWN = "[PAD]", "[UNK]"
# Where an identifier is cut, before its case is lost: `getHTTPServer2` is get, http, server, 2.
CUTS = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
_SHORTEST, _LONGEST = 3, 24


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A tokenizer's JSON, and for each of its tokens the teacher's tokens that say the same."""

    tokenizer: str
    pieces: tuple[tuple[int, ...], ...]

    def lists(self, words: Sequence[str]) -> list[list[int]]:
        """The tokens of each word, unknown ones left out."""
        tokenizer = Tokenizer.from_str(self.tokenizer)
        unknown = tokenizer.token_to_id(UNKNOWN)
        encodings = tokenizer.encode_batch_fast(list(words), add_special_tokens=False)
        return [[token for token in encoding.ids if token != unknown] for encoding in encodings]


def vocabulary_of(teacher: Path, words: Sequence[str], counts: npt.NDArray[np.int64], *, new_words: int) -> Vocabulary:
    """The teacher's tokens without those that no text has, and the `new_words` most counted words of several tokens."""
    tokenizer = Tokenizer.from_file(str(teacher / "tokenizer.json"))
    ids = tokenizer.get_vocab()
    kept = [token for token in sorted(ids, key=lambda token: ids[token]) if not token.startswith("[") or len(token) < 3]
    encodings = tokenizer.encode_batch_fast(list(words), add_special_tokens=False)
    candidates = [
        number
        for number in np.argsort(-counts, kind="stable").tolist()
        if len(encodings[number]) > 1 and _SHORTEST <= len(words[number]) <= _LONGEST and words[number].isalpha()
    ][:new_words]
    tokens = [PADDING, UNKNOWN, *kept, *(words[number] for number in candidates)]
    pieces = [(ids[PADDING],), (ids[UNKNOWN],), *((ids[token],) for token in kept)]
    pieces += [tuple(encodings[number].ids) for number in candidates]
    return Vocabulary(_tokenizer_json(tokenizer, tokens), tuple(pieces))


def _tokenizer_json(teacher: Tokenizer, tokens: Sequence[str]) -> str:
    teacher.no_truncation()
    teacher.no_padding()
    described = json.loads(teacher.to_str())
    described["model"]["vocab"] = {token: number for number, token in enumerate(tokens)}
    described["added_tokens"] = []
    described["post_processor"] = None
    made = Tokenizer.from_str(json.dumps(described))
    made.normalizer = normalizers.Sequence([normalizers.Replace(Regex(CUTS), " "), made.normalizer])
    made.add_special_tokens([AddedToken(token, normalized=False, special=True) for token in (PADDING, UNKNOWN)])
    return str(made.to_str(pretty=False))
