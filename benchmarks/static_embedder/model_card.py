"""The text of MODEL_CARD.md."""

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from benchmarks.static_embedder.model_files import MAX_TOKENS, SCALE_BITS
from benchmarks.static_embedder.packages import Package
from benchmarks.static_embedder.teacher import TEACHER, TEACHER_SHA256
from benchmarks.static_embedder.training import Plan


@dataclass(frozen=True, slots=True)
class Figures:
    """What the card quotes: sizes, and mean reciprocal ranks by package, of the vectors before and after training."""

    pairs: int
    tokens: int
    dimensions: int
    distilled: Mapping[str, float]
    trained: Mapping[str, float]


def model_card(figures: Figures, plan: Plan, packages: Sequence[Package]) -> str:
    """Return the text of MODEL_CARD.md."""
    libraries = ", ".join(f"{name} {version(name)}" for name in ("torch", "sentence-transformers", "numpy", "scipy"))
    python = ".".join(platform.python_version_tuple()[:2])
    licences = ", ".join(
        f"{licence} {count}" for licence, count in Counter(package.licence for package in packages).most_common()
    )
    rows = "\n".join(
        f"| {key} | {figures.distilled[key]:.3f} | {figures.trained[key]:.3f} |" for key in sorted(figures.trained)
    )
    before, after = (float(np.mean([*by_key.values()])) for by_key in (figures.distilled, figures.trained))
    return f"""# static

Static token vectors for search over code and descriptions of code. They need numpy and a tokenizer; no torch, no
network.

| | |
|---|---|
| base model | [{TEACHER}](https://huggingface.co/{TEACHER}), weights' sha256 `{TEACHER_SHA256}` |
| licence | Apache-2.0, as the base model |
| made with | `benchmarks/train_static_embedder.py`; Python {python}, {libraries} |
| vocabulary | {figures.tokens:,} tokens, lower case, English |
| identifiers | cut at case and digits before they are looked up |
| dimensions | {figures.dimensions} |
| training | {figures.pairs:,} pairs, {plan.epochs} times |
| packages | {len(packages)}, listed in `benchmarks/static_embedder/packages.tsv` |
| loss | multiple negatives in both directions, {plan.batch} pairs at a time, temperature {plan.temperature:g} |
| packages' licences | {licences} |
| numbers | int8, one scale of {SCALE_BITS} significant bits per token |
| longest text | {MAX_TOKENS} tokens; what follows is ignored |

A text's vector is the sum of its tokens' vectors, at length one. Unknown tokens and marks count for nothing; word
order counts for nothing either. `model2vec.StaticModel.from_pretrained` loads this folder.

No repository of a public retrieval benchmark is among the packages, so that the benchmarks stay a test.

## Measured

On packages that nothing was learned from: how high a comment's first sentence ranks its own code among the code of the
package (mean reciprocal rank).

| package | distilled | trained |
|---|---:|---:|
{rows}
| mean | {before:.3f} | {after:.3f} |
"""
