"""A template of digests that intents use is renamed together with `intents.yaml`, and not deleted."""

from contextlib import suppress
from pathlib import Path

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.notifications.intents.intents_file import Intents
from codesum_pipeline.texts.llm.digest_templates import ROLLUP_SUFFIX
from codesum_pipeline.texts.llm.templates import (
    TemplateKind,
    delete_template,
    own_template,
    rename_templates,
    template_exists,
)

# In which field of an intent a template of a kind is named.
FIELDS = {TemplateKind.DIGEST_SYSTEM: "system", TemplateKind.DIGEST_INSTRUCTION: "instruction"}


def rename_digest_template(intents: Intents, prompts_dir: Path, kind: TemplateKind, old: str, new: str) -> None:
    """Give a template of one's own another name, and the intents that use it, too.

    The one for roll-ups beside it, which has its name, goes along. At each moment every intent names a template that is
    there.
    """
    own_template(prompts_dir, kind, old)
    with intents.locked():
        used_as = old.removesuffix(ROLLUP_SUFFIX)
        users = _users(intents, kind, used_as)
        if users and used_as != old:
            raise ConfigurationError(
                f"template {kind}/{old} is used for roll-ups of {', '.join(users)}: rename {kind}/{used_as}, and it "
                "goes along"
            )
        names, rollup = {}, f"{old}{ROLLUP_SUFFIX}"
        with suppress(ConfigurationError):
            own_template(prompts_dir, kind, rollup)
            names[rollup] = f"{new}{ROLLUP_SUFFIX}"
        # Last, so that its old name goes last, by which a rename that was cut short is called again.
        names[old] = new
        rename_templates(prompts_dir, kind, names, lambda: intents.rename_template(FIELDS[kind], old, new))


def delete_digest_template(intents: Intents, prompts_dir: Path, kind: TemplateKind, name: str) -> list[str]:
    """Delete a template of one's own; the names of the intents that use the package's one of that name from now on.

    Raises `ConfigurationError`, which names the intents, where they would have none.
    """
    own_template(prompts_dir, kind, name)
    with intents.locked():
        # One for roll-ups is used by those who name the one beside it.
        names = dict.fromkeys((name, name.removesuffix(ROLLUP_SUFFIX)))
        users = [user for each in names for user in _users(intents, kind, each)]
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
        raise ConfigurationError(f"cannot tell which intents use template {kind}/{name}: {error}") from error
