"""Templates that intents use are renamed together with `intents.yaml`, and not deleted.

A rename has two phases: the text is written under its new name, then all
intents that use it are changed in one write; the new name goes away if that
fails. Only then the old name does. So at each moment, also after a crash,
every intent names a template that is there, and the same rename finishes what
a crash left.
"""

from contextlib import suppress
from pathlib import Path

from codesum_pipeline.foundation.data_model.errors import ConfigurationError, TemplateNotFound
from codesum_pipeline.notifications.intents.intents_file import Intents
from codesum_pipeline.texts.llm.digest_templates import ROLLUP_SUFFIX
from codesum_pipeline.texts.llm.templates import (
    TemplateKind,
    delete_template,
    find_template,
    load_template,
    own_template,
    save_template_atomic,
    template_exists,
)

# In which field of an intent a template of a kind is named.
FIELDS = {TemplateKind.DIGEST_SYSTEM: "system", TemplateKind.DIGEST_INSTRUCTION: "instruction"}


def rename_digest_template(
    intents: Intents, prompts_dir: Path, kind: TemplateKind, old: str, new: str
) -> tuple[Path, list[str]]:
    """Give a template of one's own another name; its file and the names of the intents that use it.

    The one for roll-ups beside it, which has its name, goes along.
    """
    own_template(prompts_dir, kind, old)
    with intents.locked():
        rolled_up = _users(intents, kind, old.removesuffix(ROLLUP_SUFFIX))
        if rolled_up and old.endswith(ROLLUP_SUFFIX):
            raise ConfigurationError(
                f"template {kind}/{old} is used for roll-ups of {', '.join(rolled_up)}: rename "
                f"{kind}/{old.removesuffix(ROLLUP_SUFFIX)}, and it goes along"
            )
        names = _with_rollups(prompts_dir, kind, old, new)
        texts = {each: load_template(prompts_dir, kind, each) for each in names}
        free = [names[each] for each in names if _check_free(prompts_dir, kind, each, names[each], texts[each])]
        try:
            paths = [save_template_atomic(prompts_dir, kind, names[each], texts[each]) for each in names]
            users = intents.rename_template(FIELDS[kind], old, new)
        except BaseException:
            _take_back(intents, prompts_dir, kind, new, free)
            raise
        for each in names:
            delete_template(prompts_dir, kind, each)
    return paths[0], users


def delete_digest_template(intents: Intents, prompts_dir: Path, kind: TemplateKind, name: str) -> list[str]:
    """Delete a template of one's own; the names of the intents that use the package's one of that name from now on.

    Raises `ConfigurationError`, which names the intents, where they would have none.
    """
    own_template(prompts_dir, kind, name)
    with intents.locked():
        users = _users(intents, kind, name)
        if name.endswith(ROLLUP_SUFFIX):
            users += _users(intents, kind, name.removesuffix(ROLLUP_SUFFIX))
        if users and not template_exists(None, kind, name):
            raise ConfigurationError(
                f"template {kind}/{name} is used by {', '.join(users)}: have them use another one in "
                f"{intents.file.name} first"
            )
        delete_template(prompts_dir, kind, name)
    return users


def _with_rollups(prompts_dir: Path, kind: TemplateKind, old: str, new: str) -> dict[str, str]:
    """The new names by the old ones."""
    rollup = f"{old}{ROLLUP_SUFFIX}"
    has_rollup = template_exists(prompts_dir, kind, rollup) and not find_template(prompts_dir, kind, rollup).is_packaged
    return {old: new} | ({rollup: f"{new}{ROLLUP_SUFFIX}"} if has_rollup else {})


def _users(intents: Intents, kind: TemplateKind, name: str) -> list[str]:
    try:
        return intents.users_of_template(FIELDS[kind], name)
    except ConfigurationError as error:
        raise ConfigurationError(f"cannot tell which intents use template {kind}/{name}: {error}") from error


def _check_free(prompts_dir: Path, kind: TemplateKind, old: str, new: str, text: str) -> bool:
    """Whether the new name is free; a rename that was cut short left the same text under it."""
    try:
        path = own_template(prompts_dir, kind, new)
    except ConfigurationError:
        return True
    if path.samefile(own_template(prompts_dir, kind, old)) or load_template(prompts_dir, kind, new) != text:
        raise ConfigurationError(f"template {kind}/{new} is there already, in {path}: delete it first")
    return False


def _take_back(intents: Intents, prompts_dir: Path, kind: TemplateKind, new: str, made: list[str]) -> None:
    """Remove the new names, unless the intents have them already."""
    if not intents.users_of_template(FIELDS[kind], new):
        for name in made:
            with suppress(TemplateNotFound):
                delete_template(prompts_dir, kind, name)
