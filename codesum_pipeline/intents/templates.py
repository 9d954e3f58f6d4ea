"""Templates that intents use are renamed together with `intents.yaml`, and not deleted.

A rename has two phases: the text is written under its new name, then all
intents that use it are changed in one write; the new name goes away if that
fails. Only then the old name does. So at each moment, also after a crash,
every intent names a template that is there, and the same rename finishes what
a crash left.
"""

from pathlib import Path

from codesum_pipeline.intents.file import Intents
from codesum_pipeline.llm.templates import (
    TemplateKind,
    delete_template,
    load_template,
    own_template,
    save_template_atomic,
    template_exists,
)
from codesum_pipeline.model.errors import ConfigurationError

# In which field of an intent a template of a kind is named.
FIELDS = {TemplateKind.DIGEST_SYSTEM: "system", TemplateKind.DIGEST_INSTRUCTION: "instruction"}


def rename_digest_template(
    intents: Intents, prompts_dir: Path, kind: TemplateKind, old: str, new: str
) -> tuple[Path, list[str]]:
    """Give a template of one's own another name; its file and the names of the intents that use it."""
    own_template(prompts_dir, kind, old)
    with intents.locked():
        _users(intents, kind, old)
        text = load_template(prompts_dir, kind, old)
        is_new = _check_free(prompts_dir, kind, old, new, text)
        path = save_template_atomic(prompts_dir, kind, new, text)
        try:
            users = intents.rename_template(FIELDS[kind], old, new)
        except BaseException:
            if is_new and not intents.users_of_template(FIELDS[kind], new):
                delete_template(prompts_dir, kind, new)
            raise
        delete_template(prompts_dir, kind, old)
    return path, users


def delete_digest_template(intents: Intents, prompts_dir: Path, kind: TemplateKind, name: str) -> list[str]:
    """Delete a template of one's own; the names of the intents that use the package's one of that name from now on.

    Raises `ConfigurationError`, which names the intents, where they would have none.
    """
    own_template(prompts_dir, kind, name)
    with intents.locked():
        users = _users(intents, kind, name)
        if users and not template_exists(None, kind, name):
            raise ConfigurationError(
                f"template {kind}/{name} is used by {', '.join(users)}: have them use another one in "
                f"{intents.file.name} first"
            )
        delete_template(prompts_dir, kind, name)
    return users


def _users(intents: Intents, kind: TemplateKind, name: str) -> list[str]:
    try:
        return intents.users_of_template(FIELDS[kind], name)
    except ConfigurationError as error:
        raise ConfigurationError(f"nobody can see which intents use template {kind}/{name}: {error}") from error


def _check_free(prompts_dir: Path, kind: TemplateKind, old: str, new: str, text: str) -> bool:
    """Whether the new name is free; a rename that was cut short left the same text under it."""
    try:
        path = own_template(prompts_dir, kind, new)
    except ConfigurationError:
        return True
    if path.samefile(own_template(prompts_dir, kind, old)) or load_template(prompts_dir, kind, new) != text:
        raise ConfigurationError(f"template {kind}/{new} is there already, in {path}: delete it first")
    return False
