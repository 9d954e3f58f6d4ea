"""What is fixed for a build: templates, model and parameters, and the keys under which texts are cached."""

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

from codesum_pipeline.llm.answers import answer_tool
from codesum_pipeline.llm.backend import form_of
from codesum_pipeline.llm.budgets import prompt_chars
from codesum_pipeline.llm.cache import AnswerCache, SharedTexts
from codesum_pipeline.llm.fitting_templates import fitting_templates
from codesum_pipeline.llm.masking import MASKING_VERSION
from codesum_pipeline.llm.pins import blake3_of
from codesum_pipeline.llm.prices import Price, price_of
from codesum_pipeline.llm.templates import ResolvedTemplate
from codesum_pipeline.model.documents import Level, TextContext, WrittenBy
from codesum_pipeline.model.hashing import hash_of
from codesum_pipeline.settings.llm import LlmSettings
from codesum_pipeline.settings.models import Settings
from codesum_pipeline.settings.stages import GraphPolicy
from codesum_pipeline.store.workspace import Workspace
from codesum_pipeline.summaries.by_model.contexts import hash_of_shown
from codesum_pipeline.summaries.decide import RequiredDocument


class ModelSetup(Struct, frozen=True, dict=True):
    """A build with a model, as its settings and the templates on disk say."""

    settings: Settings
    templates: Mapping[Level, ResolvedTemplate]

    @classmethod
    def of(cls, workspace: Workspace) -> "ModelSetup | None":
        """None where no model writes."""
        settings = workspace.settings
        return cls(settings, templates_of(settings)) if settings.llm.enabled else None

    @property
    def llm(self) -> LlmSettings:
        return self.settings.llm

    @property
    def models(self) -> tuple[str, ...]:
        """The models whose texts are kept: the first one, and those that are called where it fails."""
        return (self.llm.model, *self.llm.fallback_models)

    @cached_property
    def price(self) -> Price:
        """The price of the first model; raises `ConfigurationError` where it is unknown. A recording costs nothing."""
        if self.llm.asks_nobody:
            return Price(0.0, 0.0, 0.0, 0.0)
        return price_of(self.llm.model, self.llm)

    @cached_property
    def max_prompt_chars(self) -> int:
        """How long a prompt may be; the number, so that another setting with the same effect changes no key."""
        return prompt_chars(self.llm)

    @cached_property
    def parameters(self) -> str:
        """A hash of what an answer depends on besides messages, templates and model."""
        llm = self.llm
        form = form_of(llm, llm.model)
        return hash_of([0.0, llm.max_tokens, form, self.max_prompt_chars, llm.max_attempts, MASKING_VERSION])

    def writer(self, level: Level) -> str:
        """The template that writes a level's texts: system, instruction and the shape of the answer."""
        return writer_of(self.templates[level])

    def keys(self, wanted: RequiredDocument, level: Level, context: TextContext | None) -> tuple[str, str]:
        """The keys of a text in the cache: with the document's id, and without it."""
        body = [wanted.summary_hash, level, self.llm.model, self.parameters, self.llm.language]
        if self.settings.graph_policy is GraphPolicy.STRICT and context is not None:
            body.append(hash_of_shown(context))
        return hash_of([wanted.id, body]), hash_of(body)

    def cache(self, workspace: Workspace) -> AnswerCache:
        bucket = workspace.layout.bucket
        shared = SharedTexts(bucket.objects()) if bucket else None
        return AnswerCache(self.settings.summary_cache_dir, now=workspace.now, shared=shared)


def templates_of(settings: Settings) -> dict[Level, ResolvedTemplate]:
    """The templates of all levels as they are now; raises `ConfigurationError` where one cannot be used."""
    llm = settings.llm
    return fitting_templates(settings.prompts_dir, Level, language=llm.language, max_prompt_chars=prompt_chars(llm))


def writer_of(template: ResolvedTemplate) -> str:
    """A writer's name: it changes with the template and with the shape of the answer."""
    digest = blake3_of(f"{template.digest}\n{answer_tool(template.level).schema_blake3}")
    return f"{WrittenBy.LLM}/{digest.removeprefix('blake3:')[:16]}"
