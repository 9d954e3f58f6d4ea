"""How much of the material fits a prompt, and which part: short texts stay whole, the longest are cut first.

Budgets are in characters, as a backend publishes them: tokens differ by model.
"""

import bisect
import logging
import re
from collections.abc import Sequence

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.settings.llm_settings import LlmSettings
from codesum_pipeline.texts.llm.prices import CHARS_PER_TOKEN, find_listed_model

# The rest of a model's window is left for the answer and for the error of counting characters.
USABLE_SHARE = 0.85
# For a model that LiteLLM's list does not have, where no setting says more: 50,000 tokens.
DEFAULT_PROMPT_CHARS = 200_000
# At least so much of a longer body is shown: less says nothing, so the last bodies are left out instead.
LEAST_SHOWN = 80
CUT_MARK = "[cut here]"
# A function of a hundred lines with its context, or the head of a file and thirty children. A system template that
# leaves less does not fit: most documents would be cut.
FAIR_MATERIAL_CHARS = 6_000
# Where there is no shorter template: markers, names and a few lines.
LEAST_MATERIAL_CHARS = 1_000

_SENTENCE_END = re.compile(r"[.!?…](?=\s)|[。！？]")
_SPACE = re.compile(r"\s")

_log = logging.getLogger(__name__)


class Entry(Struct, frozen=True):
    """One child in a prompt: a head that is always whole, and a body that can be cut."""

    head: str
    body: str


def prompt_chars(settings: LlmSettings) -> int:
    """How long a whole prompt may be: the smallest limit of the models that may be called.

    A model's limit is that of LiteLLM's list; for a model that the list does not
    have, it is the default. The setting can only lower it.
    """
    models = (settings.model, *settings.fallback_models)
    return min(filter(None, (settings.max_prompt_chars, *(_chars_of(model, settings) for model in models))))


def _chars_of(model: str, settings: LlmSettings) -> int:
    tokens = (find_listed_model(model) or {}).get("max_input_tokens")
    if isinstance(tokens, int) and tokens > 0:
        return int(tokens * CHARS_PER_TOKEN)
    return settings.max_prompt_chars or DEFAULT_PROMPT_CHARS


def chars_left(max_prompt_chars: int, template_chars: int) -> int:
    """What is left for material beside a system template and an instruction; may be negative."""
    return int(max_prompt_chars * USABLE_SHARE) - template_chars


def least_prompt_chars(template_chars: int) -> int:
    """The smallest prompt that templates of this length can be used in."""
    return _least(template_chars + LEAST_MATERIAL_CHARS)


def body_budget(max_prompt_chars: int, *, system: str, wrapper_chars: int, boilerplate_chars: int = 0) -> int:
    """Characters left for bodies; raises `ConfigurationError` if what is always sent does not fit."""
    usable = int(max_prompt_chars * USABLE_SHARE)
    budget = usable - len(system) - wrapper_chars - boilerplate_chars
    if budget < 0:
        raise ConfigurationError(
            f"llm.max_prompt_chars = {max_prompt_chars:,}: {usable:,} of them can be used, and the "
            f"system template ({len(system):,}), the instruction ({wrapper_chars:,}) and what is always shown "
            f"({boilerplate_chars:,}) need {usable - budget:,}: raise it to at least "
            f"{_least(usable - budget):,}, or take a model "
            "for which LiteLLM's list gives more, or shorten the templates"
        )
    return budget


def water_fill(bodies: Sequence[str], budget: int, *, about: str) -> tuple[str, ...]:
    """Cut the longest bodies to a common cap, at a line's or a sentence's end, so that all fit; `about` is logged."""
    cap = common_cap([len(body) for body in bodies], budget)
    if cap is None:
        return tuple(bodies)
    cut_count = sum(len(body) > cap for body in bodies)
    _log.warning("%s: %d of %d texts cut to %d characters each to fit the prompt", about, cut_count, len(bodies), cap)
    return tuple(cut_to_fit(body, cap) for body in bodies)


def fill_entries(
    entries: Sequence[Entry],
    budget: int,
    *,
    about: str,
    around_chars: int = 0,
    called: str = "children",
    further: int = 0,
) -> tuple[list[Entry], int]:
    """As many entries from the front as can show something of their body, water-filled, and how many are left out.

    Each entry takes `around_chars` more; the log uses the word `called` for them. `further` entries follow, so far
    behind that none of them can fit.

    A folder of thousands of files is no mistake in the settings: its last
    files are counted instead of shown. The first entry is always shown.
    """
    shown_count = 0
    used = 0
    for entry in entries:
        used += len(entry.head) + around_chars + min(len(entry.body), LEAST_SHOWN)
        if used > budget and shown_count:
            break
        shown_count += 1
    first = entries[:shown_count]
    left_out = len(entries) + further - shown_count
    if left_out:
        _log.warning("%s: %d of %d %s left out to fit the prompt", about, left_out, len(entries) + further, called)
    heads = sum(len(entry.head) + around_chars for entry in first)
    filled = water_fill([entry.body for entry in first], max(budget - heads, 0), about=about)
    return [Entry(entry.head, body) for entry, body in zip(first, filled, strict=True)], left_out


def cut_to_fit(body: str, cap: int) -> str:
    """At most `cap` characters, the last of them a mark; ends with a whole line, sentence or, failing that, word."""
    if len(body) <= cap:
        return body
    room = cap - len(CUT_MARK) - 1
    if room <= 0:
        return ""
    end = _last_stop(body, room)
    return f"{body[:end].rstrip()}\n{CUT_MARK}" if end else ""


def _last_stop(body: str, room: int) -> int:
    line_end = body.rfind("\n", 0, room) + 1
    if line_end > room // 2:
        return line_end
    stops = [match.end() for match in _SENTENCE_END.finditer(body, line_end, room + 1) if match.end() <= room]
    if stops or line_end:
        return stops[-1] if stops else line_end
    spaces = [match.start() for match in _SPACE.finditer(body, 0, room)]
    # A line without any end, such as a minified program, is cut where it must be.
    return spaces[-1] if spaces and spaces[-1] else room


def common_cap(lengths: Sequence[int], budget: int) -> int | None:
    """The largest cap under which the lengths fit the budget together; None if they fit as they are."""
    if sum(lengths) <= budget:
        return None
    ordered = sorted(lengths)
    below = [0]
    for length in ordered:
        below.append(below[-1] + length)
    # Under a cap of its own length, each text costs what is shorter before it and that length for all from it on.
    costs = [below[place] + length * (len(ordered) - place) for place, length in enumerate(ordered)]
    first_cut = bisect.bisect_right(costs, budget)
    return (budget - below[first_cut]) // (len(ordered) - first_cut)


def _least(needed: int) -> int:
    """The smallest setting whose usable share holds `needed` characters."""
    least = int(needed / USABLE_SHARE)
    while int(least * USABLE_SHARE) < needed:
        least += 1
    return least
