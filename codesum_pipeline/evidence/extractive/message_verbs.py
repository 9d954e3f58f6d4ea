"""The verbs that a message may begin with, by the forms in which it has them: `saving`, `saved`, `save`, `saves`."""

from functools import cache

from codesum_pipeline.evidence.extractive.verb_forms import gerund, third_person
from codesum_pipeline.evidence.packaged_tables import packaged_table

MESSAGE_LISTS = packaged_table(__package__, "own_messages")


@cache
def words_of(name: str) -> frozenset[str]:
    """The words of a list of `own_messages.toml`."""
    return frozenset(MESSAGE_LISTS[name].split())


@cache
def gerunds() -> dict[str, str]:
    """The verbs by their gerunds: `saving` is of `save`."""
    return {
        **{gerund(verb): verb for verb in sorted(words_of("verbs"))},
        **MESSAGE_LISTS["gerunds"],
    }


@cache
def past_forms() -> dict[str, str]:
    """The verbs by their past participles, as far as no other word is written so: `saved` is of `save`."""
    irregular = MESSAGE_LISTS["participles"]
    verbs = sorted(words_of("verbs") - {*irregular.values()} - words_of("participles_like_verbs"))
    return {**{_participle(verb): verb for verb in verbs}, **irregular}


@cache
def base_forms() -> dict[str, str]:
    """The verbs by themselves and by their third person."""
    return {form: verb for verb in sorted(words_of("verbs")) for form in (verb, third_person(verb))}


def _participle(verb: str) -> str:
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ied"
    return f"{gerund(verb).removesuffix('ing')}ed"
