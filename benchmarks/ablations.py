"""What each lane and each weight of the search is worth, and whether a choice holds for what it was not chosen on.

Every choice is one change to the default. For each: the mean over repositories,
the paired difference from the default with its 95 % interval, and the lowest
and highest difference when one repository, or all of one language, is left out.

For each weight also what choosing it is worth elsewhere: its value is chosen on
all repositories but one and judged on that one, in turn (the same by language).
A held-out mean below the default's says that the choice fits these questions
and not code.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec.structs import fields, replace

from codesum_pipeline.indexes.file_formats.version_folder import LANES
from codesum_pipeline.search.evaluation.evaluate import ALL, SYMBOLS, EvaluationSetup, QuestionResult, paired_interval
from codesum_pipeline.search.evaluation.report import signed_interval
from codesum_pipeline.search.retrieval.weights import DEFAULT_WEIGHTS, SIGNALS, Weights

FILES = ("ndcg@10", "file_mrr@10")
SYMBOLS_TOO = (*FILES, "function_recall@10")
_LEFT_OUT = "one lane left out"

Ask = Callable[[Sequence[EvaluationSetup]], list[QuestionResult]]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Choice:
    """One change to the default; choices of one knob exclude each other."""

    knob: str
    value: str
    setup: EvaluationSetup


@dataclass(frozen=True, slots=True)
class Scores:
    """One measure of the same questions in the same order, with the repository and language of each."""

    values: Numbers
    repositories: npt.NDArray[np.str_]
    languages: npt.NDArray[np.str_]

    def mean(self, kept: npt.NDArray[np.bool_] | None = None) -> float:
        """Over repositories, as published figures are."""
        kept = np.ones(len(self.values), dtype=bool) if kept is None else kept
        names = self.repositories[kept]
        return float(np.mean([self.values[kept][names == name].mean() for name in np.unique(names)]))


def print_ablations(default: Sequence[QuestionResult], ask: Ask, *, with_symbols: bool) -> None:
    """Ask in every way and print two tables for each measure."""
    choices = list(all_choices())
    setups = [_name_setup(choice, choice.setup) for choice in choices]
    if with_symbols:
        setups += [_name_setup(choice, replace(choice.setup, levels=SYMBOLS.levels), SYMBOLS) for choice in choices]
    by_setup: dict[str, list[QuestionResult]] = {}
    for answer in ask(setups):
        by_setup.setdefault(answer.setup, []).append(answer)
    for measure in SYMBOLS_TOO if with_symbols else FILES:
        way = SYMBOLS if measure.startswith("function") else ALL
        base = collect_scores([answer for answer in default if answer.setup == way.name], measure)
        found = [(choice, collect_scores(by_setup[_setup_name(choice, way)], measure)) for choice in choices]
        print_choices(measure, base, found)
        print_held_out(measure, base, found)


def all_choices() -> Iterator[Choice]:
    """Each lane alone and left out, each signal and each number of the weights off, halved and doubled."""
    for lane in LANES:
        yield Choice("one lane alone", lane, replace(ALL, lanes=(lane,)))
    for lane in LANES:
        without = {**DEFAULT_WEIGHTS.signals, **dict.fromkeys(SIGNALS[lane], 0.0)}
        yield Choice(_LEFT_OUT, lane, replace(ALL, weights=replace(DEFAULT_WEIGHTS, signals=without)))
    for signal, weight in DEFAULT_WEIGHTS.signals.items():
        for value in _other_values(signal, weight):
            signals = {**DEFAULT_WEIGHTS.signals, signal: value}
            yield _choose_weights(f"signal {signal} ({weight:g})", value, replace(DEFAULT_WEIGHTS, signals=signals))
    for each in fields(Weights):
        now = getattr(DEFAULT_WEIGHTS, each.name)
        for value in _other_values(each.name, now):
            change: dict[str, Any] = {each.name: value}
            yield _choose_weights(f"{each.name} ({now:g})", value, replace(DEFAULT_WEIGHTS, **change))


def _other_values(name: str, now: object) -> list[float]:
    """Off, half and double; of a factor both ends, its square and its root; of what is off, three ways of on."""
    if isinstance(now, int) and not isinstance(now, bool):
        return [now // 4, now // 2, now * 2]
    if not isinstance(now, float):
        return []
    if name.endswith(("factor", "decay")):
        return sorted({0.0, now**2, now**0.5, 1.0} - {now})
    return [0.0, now / 2, now * 2] if now else [0.25, 0.5, 1.0]


def _choose_weights(knob: str, value: float, weights: Weights) -> Choice:
    return Choice(knob, f"{value:.3g}", replace(ALL, weights=weights))


def _name_setup(choice: Choice, setup: EvaluationSetup, way: EvaluationSetup = ALL) -> EvaluationSetup:
    return replace(setup, name=_setup_name(choice, way))


def _setup_name(choice: Choice, way: EvaluationSetup) -> str:
    return f"{way.name}: {choice.knob} {choice.value}"


def collect_scores(answers: Sequence[QuestionResult], measure: str) -> Scores:
    """One measure of those answers that have it."""
    having = [answer for answer in answers if measure in answer.measures]
    return Scores(
        np.array([answer.measures[measure] for answer in having]),
        np.array([answer.question.repo or "" for answer in having]),
        np.array([answer.question.language for answer in having]),
    )


def print_choices(measure: str, base: Scores, found: Sequence[tuple[Choice, Scores]]) -> None:
    """A row a choice: means, the difference from the default, and its bounds with a group left out."""
    print(f"\n## {measure}: one change at a time (default {base.mean():.4f})\n")
    print("| change | value | mean | difference | without one repository | without one language |")
    print("|---|---|---:|---:|---:|---:|")
    for choice, changed in found:
        difference = Scores(changed.values - base.values, base.repositories, base.languages)
        without = [
            f"{min(means):+.4f} … {max(means):+.4f}" if (means := _means_without_each(difference, groups)) else "-"
            for groups in (base.repositories, base.languages)
        ]
        interval = signed_interval(paired_interval(base.values.tolist(), changed.values.tolist()))
        print(f"| {choice.knob} | {choice.value} | {changed.mean():.4f} | {interval} | {' | '.join(without)} |")


def print_held_out(measure: str, base: Scores, found: Sequence[tuple[Choice, Scores]]) -> None:
    """A row a knob: what its best value would have been on all else, judged on what was left out."""
    print(f"\n## {measure}: chosen on the rest, judged on what is left out (default {base.mean():.4f})\n")
    print("| weight | by repository | by language | best value here |\n|---|---:|---:|---|")
    for knob in dict.fromkeys(
        choice.knob for choice, _ in found if choice.setup.lanes == LANES and choice.knob != _LEFT_OUT
    ):
        candidates = {"default": base} | {choice.value: each for choice, each in found if choice.knob == knob}
        held_out = [_mean_held_out(candidates, groups) for groups in (base.repositories, base.languages)]
        best = max(candidates, key=lambda value: candidates[value].mean())
        shown = " | ".join("-" if each is None else f"{each:.4f}" for each in held_out)
        print(f"| {knob} | {shown} | {best} ({candidates[best].mean():.4f}) |")


def _means_without_each(scored: Scores, groups: npt.NDArray[np.str_]) -> list[float]:
    """The mean without each group; nothing where there is only one."""
    names = np.unique(groups)
    return [scored.mean(groups != name) for name in names] if len(names) > 1 else []


def _mean_held_out(candidates: Mapping[str, Scores], groups: npt.NDArray[np.str_]) -> float | None:
    """The mean of each group at the value that is best for all others; the default wins ties."""
    names = np.unique(groups)
    if len(names) < 2:
        return None
    any_scores = next(iter(candidates.values()))
    values = np.empty(len(groups))
    for name in names:
        best = max(candidates, key=lambda value, name=name: candidates[value].mean(groups != name))  # type: ignore[misc]
        values[groups == name] = candidates[best].values[groups == name]
    return Scores(values, any_scores.repositories, any_scores.languages).mean()
