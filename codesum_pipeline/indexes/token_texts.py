"""The tokens of many texts at once, as `tokens.joined_tokens` gives them for one."""

import string

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from codesum_pipeline.indexes.ascii_words import byte_kinds, has_bytes, split_words
from codesum_pipeline.indexes.tokens import joined_tokens, tokens_of_word

_KINDS = byte_kinds(parts=string.ascii_letters + string.digits + "_")
_IS_FOREIGN = np.arange(256) > 127


def join_tokens(texts: pa.LargeStringArray) -> pa.StringArray:
    """The tokens of each text, joined by single spaces. Of ASCII texts each distinct word is looked at once."""
    is_foreign = has_bytes(texts, _IS_FOREIGN)
    words = split_words(texts, _KINDS, leave_out=is_foreign)
    tokens = pa.array(map(tokens_of_word, words.vocabulary.to_pylist()), pa.large_string())
    says_something = pc.not_equal(tokens, "").to_numpy(zero_copy_only=False)[words.numbers]
    counted = np.concatenate(([0], np.cumsum(says_something)))
    ends = np.concatenate(([0], np.cumsum(words.lengths)))
    lists = pa.LargeListArray.from_arrays(pa.array(counted[ends]), tokens.take(pa.array(words.numbers[says_something])))
    joined = pc.binary_join(lists, pa.scalar(" ", pa.large_string())).cast(pa.string())
    others = [joined_tokens(text) for text in texts.filter(pa.array(is_foreign)).to_pylist()]
    return pc.replace_with_mask(joined, pa.array(is_foreign), pa.array(others, pa.string()))
