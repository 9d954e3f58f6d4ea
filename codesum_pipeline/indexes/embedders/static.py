"""The model that ships with the package, or another one in its format, read without its tokenizer where possible.

The model's tokenizer cuts identifiers where their case or a digit begins a new part, cleans and lower-cases character
by character, cuts at white space and around every punctuation mark, and looks up what is left, one word after the
other. So a text has the tokens of its words in a row, and only words that were not seen before are looked up: code has
few (networkx: 10,244 in 87,000 distinct lines). The sum over a text is in the same way the sum over its lines, most of
which are in several texts: in a function's code, in its fused text, and in those of its class and file. The order of
the additions differs from that in the text. The results are the same if float64 holds every sum
exactly. Where 32 bits hold them too, in units of a power of two, the sums are taken in whole numbers, of which half as
many bytes are moved.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct, json
from safetensors.numpy import load as load_safetensors
from tokenizers import Tokenizer

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.store.atomic import read_json
from codesum_pipeline.indexes.embedders.model_folders import read_checked, read_or_explain
from codesum_pipeline.indexes.embedders.protocol import unit_rows
from codesum_pipeline.indexes.embedders.tokenizer_calls import Integers, Lists, Rows, cut_to_tokens, token_ids
from codesum_pipeline.indexes.file_formats.stored_zip import Vectors

# Bounds a process that lives long.
_CACHE_SIZE = 1 << 17

_UNKNOWN = "[UNK]"
# Longer ones are looked up by the tokenizer: here the time grows with the square of the length.
_SHORT_WORD = 32

# The parts of identifiers, and marks: `getHTTPServer2` is get, HTTP, Server, 2.
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^ A-Za-z0-9]")
_SPACE = re.compile(r"[ \t\r]")
_OTHER = re.compile(r"[^ -~]")
# Fewer texts are read faster in Python, and without the import of pyarrow, for which a query would have to wait.
MANY_TEXTS = 32


class _TokenisedTexts(Struct, frozen=True):
    """Texts as lines, distinct lines as words, distinct words as token ids."""

    lines_of_text: Lists
    words_of_line: Lists
    ids_of_word: Lists

    def token_counts(self) -> Integers:
        return self.lines_of_text.totals(self.words_of_line.totals(self.ids_of_word.lengths))

    def first_tokens(self, texts: Integers, limit: int) -> Lists:
        return self.lines_of_text.take(texts).joined(self.words_of_line).joined(self.ids_of_word).firsts(limit)


class TokenSums:
    """Counts and sums the tokens of texts; `tokens[i]` times `scales[i]` is the vector of token i. `definition` is the
    tokenizer's file. Most texts need its vocabulary alone, which is read in a fifth of the time."""

    def __init__(self, definition: bytes, tokens: npt.NDArray[np.int8], scales: Rows) -> None:
        self._definition = definition
        self._tokens = tokens
        content = json.decode(definition)
        added, vocabulary = content["added_tokens"], content["model"]["vocab"]
        if isinstance(vocabulary, list):
            vocabulary = {token: number for number, (token, _) in enumerate(vocabulary)}
        # Searched in a text before it is cut into words.
        self._special: list[str] = [token["content"] for token in added]
        self._vocabulary: dict[str, int] = vocabulary | {token["content"]: token["id"] for token in added}
        self._unknown_id = self._vocabulary.get(_UNKNOWN, 0)
        self._scales = scales.copy()
        self._scales[self._unknown_id] = 0.0
        self._any_special = re.compile("|".join(map(re.escape, self._special)) or r"(?!)")
        self._ids: dict[str, list[int]] = {}

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer for words that are long or not ASCII."""
        return Tokenizer.from_buffer(self._definition)

    def count(self, texts: Sequence[str]) -> list[int]:
        """The length of each text in tokens, unknown ones included."""
        counts: list[int] = self._read(texts).token_counts().tolist()
        return counts

    def sums(self, texts: Sequence[str], *, max_tokens: int) -> Rows:
        """One row per text: the sum over its first `max_tokens` tokens, unknown ones left out."""
        words = self._read(texts)
        scales, unit = self._scales_within(max_tokens)
        word_rows = self._sums_of_tokens(words.ids_of_word, scales)
        rows = words.lines_of_text.sums(words.words_of_line.sums(word_rows))
        # A sum of these over all tokens may not fit.
        too_long = np.flatnonzero(words.token_counts() > max_tokens)
        if len(too_long):
            rows[too_long] = self._sums_of_tokens(words.first_tokens(too_long, max_tokens), scales)
        return rows * unit

    def sum_of(self, text: str, *, max_tokens: int) -> Rows:
        """What `sums` gives for one text, without the arrays that make many texts fast."""
        words = [*chain.from_iterable(map(self._words_of_line, text.split("\n")))]
        ids = [*chain.from_iterable(self._token_ids(words))][:max_tokens]
        rows: Rows = self._tokens[ids] * self._scales[ids, np.newaxis]
        total: Rows = rows.sum(axis=0, keepdims=True, initial=0.0)
        return total

    def _read(self, texts: Sequence[str]) -> _TokenisedTexts:
        if len(texts) < MANY_TEXTS:
            lines, lines_of_text = _numbered(text.split("\n") for text in texts)
            words, words_of_line = _numbered(map(self._words_of_line, lines))
        else:
            # It needs pyarrow, for whose import a query would have to wait.
            from codesum_pipeline.indexes.embedders.split_texts import split_texts

            lines_of_text, words, words_of_line = split_texts(
                texts, special=self._special, words_of_line=self._words_of_line
            )
        return _TokenisedTexts(lines_of_text, words_of_line, Lists.of(self._token_ids(words)))

    def _words_of_line(self, line: str) -> list[str]:
        """Words and marks where a part is plain, else what is between white space."""
        if self._is_plain(line):
            return _plain_words(line)
        if not self._any_special.search(line):
            return _words_and_others(_SPACE.sub(" ", line))
        parts = (_plain_words(part) if self._is_plain(part) else [part] for part in _SPACE.split(line))
        return [*chain.from_iterable(parts)]

    def _is_plain(self, text: str) -> bool:
        """True for printable ASCII, which no cleaning changes, without special tokens."""
        return text.isascii() and text.isprintable() and not self._any_special.search(text)

    def _token_ids(self, words: Sequence[str]) -> list[list[int]]:
        # Another thread may begin a new cache meanwhile; this one is only added to.
        known = self._ids
        missing = [word for word in words if word not in known]
        if len(known) + len(missing) > _CACHE_SIZE:
            known = self._ids = {}
            missing = list(words)
        short = [word for word in missing if len(word) <= _SHORT_WORD and self._is_plain(word)]
        known.update((word, self._pieces(word)) for word in short)
        others = [word for word in missing if word not in known]
        if others:
            known.update(zip(others, token_ids(self.tokenizer, others), strict=True))
        return [known[word] for word in words]

    def _pieces(self, word: str) -> list[int]:
        """The tokens of a plain word: the longest one that it begins with, then the longest one of what is left."""
        pieces: list[int] = []
        start, token_of = 0, self._vocabulary.get
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                token = token_of(prefix + word[start:end])
                if token is not None:
                    break
            else:
                return [self._unknown_id]
            pieces.append(token)
            start = end
        return pieces

    def _sums_of_tokens(self, ids: Lists, scales: Rows) -> Rows:
        used, numbers = np.unique(ids.numbers, return_inverse=True)
        return Lists(numbers, ids.lengths).sums(self._tokens[used] * scales[used, np.newaxis])

    def _scales_within(self, max_tokens: int) -> tuple[Rows, float]:
        """The scales as whole numbers, and their unit, where 32 bits hold any sum of so many tokens; else as they
        are."""
        bits = math.floor(math.log2(np.iinfo(np.int32).max / max_tokens / self._largest))
        whole = np.ldexp(self._scales, bits)
        return (whole.astype(np.int32), 2.0**-bits) if (whole == np.rint(whole)).all() else (self._scales, 1.0)

    @cached_property
    def _largest(self) -> float:
        largest = np.maximum(self._tokens.max(axis=1), -self._tokens.min(axis=1).astype(np.int16))
        return float((np.maximum(largest, 1) * np.abs(self._scales)).max()) or 1.0


def _words_and_others(line: str) -> list[str]:
    """The words between parts that are not printable ASCII, and these parts unchanged."""
    words: list[str] = []
    done = 0
    while other := _OTHER.search(line, done):
        start, end = line.rfind(" ", done, other.start()) + 1 or done, line.find(" ", other.end())
        end = len(line) if end < 0 else end
        words += [*_plain_words(line[done:start]), line[start:end]]
        done = end
    return words + _plain_words(line[done:])


def _plain_words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _numbered(lists: Iterable[Sequence[str]]) -> tuple[list[str], Lists]:
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    numbered = [[numbers[string] for string in strings] for strings in lists]
    return list(numbers), Lists.of(numbered)


STATIC = "static"
STATIC_MODEL_FOLDER = Path(__file__).parent.parent / "shipped_models" / "static"

# The length model2vec cuts at by default, and the limit of the model the vectors come from.
STATIC_MAX_TOKENS = 512

# Texts embedded in one go: enough to share most of their lines, few enough for a smooth progress bar.
BATCH_SIZE = 2048

_WAY_OUT = "reinstall the package codesum-pipeline"
_WAY_OUT_OF_A_FOLDER = "a folder in model2vec's format must hold int8 vectors and a file SHA256SUMS of all digests"


class StaticEmbedder:
    """The mean of a text's token vectors, at length one. The folder is in model2vec's format and gives model2vec's
    vectors, but is read here directly: importing model2vec costs more than importing, loading and answering together do
    without it. A token vector is int8 times a scale of 8 significant bits, so a float64 holds any sum of them exactly,
    in whatever order it is taken; the division by the token count falls away with the length."""

    query_prompt = ""
    # Thousands of texts a second: writing them down would take longer than embedding them again.
    save_every = None
    billed_tokens = 0
    usd_per_token = 0.0

    def __init__(self, folder: Path = STATIC_MODEL_FOLDER, *, name: str = STATIC) -> None:
        """Load and check the model; raise `ConfigurationError` when a file is not the one that was shipped."""
        way_out = _WAY_OUT if name == STATIC else _WAY_OUT_OF_A_FOLDER
        sums = read_or_explain(folder / "SHA256SUMS", embedder=name, way_out=way_out).decode().splitlines()
        digests = {file: digest for digest, _, file in (line.partition("  ") for line in sums)}

        def read(file: str) -> bytes:
            return read_checked(folder / file, digests.get(file, "not listed"), embedder=name, way_out=way_out)

        tensors = load_safetensors(read("model.safetensors"))
        tokens: npt.NDArray[np.int8] = tensors["embeddings"]
        if tokens.dtype != np.int8:
            raise ConfigurationError(f"embedder {name!r}: its vectors are {tokens.dtype}; {way_out}")
        self._token_sums = TokenSums(read("tokenizer.json"), tokens, tensors["weights"].astype(np.float64))
        self.model_id = f"{STATIC}@{digests['model.safetensors'][:12]}"
        self.dimensions = tokens.shape[1]
        self.max_tokens = STATIC_MAX_TOKENS

    def embed(self, texts: Sequence[str], *, progress: Callable[[int], None] | None = None) -> Vectors:
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), BATCH_SIZE):
            batch = texts[start : start + BATCH_SIZE]
            vectors[start : start + len(batch)] = unit_rows(self._token_sums.sums(batch, max_tokens=self.max_tokens))
            if progress is not None:
                progress(len(batch))
        return vectors

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = unit_rows(self._token_sums.sum_of(text, max_tokens=self.max_tokens))[0]
        return vector

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._token_sums.count(texts)

    def truncate(self, text: str, max_tokens: int) -> str:
        is_short = self._token_sums.count([text])[0] <= max_tokens
        return text if is_short else cut_to_tokens(self._token_sums.tokenizer, text, max_tokens)


def is_static_model(folder: Path) -> bool:
    """Whether a folder says that it holds a model in model2vec's format."""
    return (read_json(folder / "config.json", dict[str, Any]) or {}).get("model_type") == "model2vec"
