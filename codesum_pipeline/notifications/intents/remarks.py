"""What an intent needs outside of its file: templates, channels, repositories.

None of it stops the intent from being matched: a template or channel that is
missing today is there again when somebody put it back, and what changed
meanwhile shall not be lost. Adding an intent that has an error here is refused.
"""

import difflib
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from msgspec import Struct

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.standing_question import Intent
from codesum_pipeline.foundation.settings.channel_settings import DeliverySettings, unknown_channel
from codesum_pipeline.notifications.delivery.sending import open_channel
from codesum_pipeline.texts.llm.digest_templates import load_digest_template
from codesum_pipeline.texts.llm.templates import HISTORY, TemplateKind


class Remark(Struct, frozen=True):
    """Something about an intent that a person should know; with an error, it cannot do its work."""

    text: str
    is_error: bool


class IntentContext(Struct, frozen=True):
    """What intents are checked against. `repositories` are all registered keys."""

    home: Path
    prompts_dir: Path
    repositories: Collection[str]
    delivery: DeliverySettings
    environ: Mapping[str, str]

    def remarks_on(self, intent: Intent) -> list[Remark]:
        """All remarks on an intent, errors first."""
        found = [*self._on_templates(intent), *self._on_channels(intent), *self._on_repositories(intent)]
        return sorted(found, key=lambda remark: not remark.is_error)

    def check(self, intent: Intent) -> None:
        """Raise `ConfigurationError` with all errors of an intent."""
        errors = [remark.text for remark in self.remarks_on(intent) if remark.is_error]
        if errors:
            raise ConfigurationError(f"{intent.name!r}: {'; '.join(errors)}")

    def _on_templates(self, intent: Intent) -> Iterator[Remark]:
        used = {
            TemplateKind.DIGEST_SYSTEM: intent.system_template,
            TemplateKind.DIGEST_INSTRUCTION: intent.instruction_template,
        }
        for kind, name in used.items():
            try:
                template = load_digest_template(self.prompts_dir, kind, name)
            except ConfigurationError as error:
                yield Remark(str(error), is_error=True)
                continue
            if template.has_history:
                message = (
                    f"template {kind}/{name} has {{{HISTORY}}}, which only a roll-up can fill: no digest is written"
                )
                # One that is off may be there for its roll-ups alone.
                yield Remark(message, is_error=intent.enabled)

    def _on_channels(self, intent: Intent) -> Iterator[Remark]:
        if not intent.channels:
            yield Remark("has no channel: its digests are kept and sent to nobody", is_error=False)
        for name in intent.channels:
            if problem := unknown_channel(name, self.delivery):
                yield Remark(problem, is_error=True)
                continue
            try:
                open_channel(name, self.delivery, home=self.home, environ=self.environ)
            except ConfigurationError as error:
                yield Remark(str(error), is_error=False)

    def _on_repositories(self, intent: Intent) -> Iterator[Remark]:
        for glob in intent.repositories:
            if any(fnmatchcase(key, glob) for key in self.repositories):
                continue
            near = difflib.get_close_matches(glob, self.repositories, n=1)
            hint = f"; the nearest is {near[0]!r}" if near else ""
            yield Remark(f"no registered repository fits {glob!r}{hint}", is_error=False)
