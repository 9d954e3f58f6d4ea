"""A template of digests that intents use is not deleted."""

from pathlib import Path

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.notifications.intents.intents_file import Intents
from codesum_pipeline.texts.llm.digest_templates import ROLLUP_SUFFIX
from codesum_pipeline.texts.llm.templates import TemplateKind, delete_template, own_template, template_exists

# In which field of an intent a template of a kind is named.
FIELDS = {TemplateKind.DIGEST_SYSTEM: "system", TemplateKind.DIGEST_INSTRUCTION: "instruction"}


def delete_digest_template(intents: Intents, prompts_dir: Path, kind: TemplateKind, name: str) -> list[str]:
    """Delete a template of one's own; the names of the intents that use the package's one of that name from now on.

    Raises `ConfigurationError`, which names the intents, where they would have none.
    """
    own_template(prompts_dir, kind, name)
    with intents.locked():
        # One for roll-ups is used by those who name the one beside it.
        names = dict.fromkeys((name, name.removesuffix(ROLLUP_SUFFIX)))
        try:
            users = [user for each in names for user in intents.users_of_template(FIELDS[kind], each)]
        except ConfigurationError as error:
            raise ConfigurationError(f"cannot tell which intents use template {kind}/{name}: {error}") from error
        if users and not template_exists(None, kind, name):
            raise ConfigurationError(
                f"template {kind}/{name} is used by {', '.join(users)}: have them use another one in "
                f"{intents.file.name} first"
            )
        delete_template(prompts_dir, kind, name)
    return users
