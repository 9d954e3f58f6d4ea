"""The form in which each model is made to answer, found out by calling it.

Servers differ in what they can: some refuse a tool that is named, or tools at all; others ignore them and answer in
text. Where a server refuses or ignores the first form, the next one is taken, for all later calls of the run.
"""

import logging
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from codesum_pipeline.foundation.data_model.errors import (
    BackendNotConfigured,
    CallFailure,
    SummaryCallFailed,
    SummaryError,
    SummaryOutputInvalid,
)
from codesum_pipeline.foundation.settings.llm_settings import BackendName, LlmSettings
from codesum_pipeline.texts.llm.pins import (
    CALL_OF,
    CALLING_FORMS,
    AnswerEnd,
    AnswerForm,
    SummaryRequest,
    SummaryResponse,
    forms_from,
    parse_json_object,
)
from codesum_pipeline.texts.llm.prices import has_capability

_log = logging.getLogger(__name__)


class FormIgnored(SummaryOutputInvalid):
    """An answer in another form than the one that was asked for, of a server that has not yet followed it."""

    kind = "form-ignored"


def first_form(settings: LlmSettings, model: str) -> AnswerForm:
    """How a model is asked first: as `llm.form` says, or under `auto` by what LiteLLM's list declares of it.

    A model that the list does not have is asked for JSON in its text, which every model can give.
    """
    if settings.form != "auto":
        return AnswerForm(settings.form)
    if has_capability(model, "supports_function_calling") and has_capability(model, "supports_tool_choice"):
        return AnswerForm.TOOL
    if has_capability(model, "supports_response_schema"):
        return AnswerForm.JSON_SCHEMA
    return AnswerForm.JSON_TEXT


class AnswerForms:
    """The forms of one run's models; `followed` are those in which they have answered in it before."""

    def __init__(self, settings: LlmSettings, followed: Mapping[str, AnswerForm] = MappingProxyType({})) -> None:
        self._settings = settings
        # A recording has each answer under the form of its request, and no server that could refuse one.
        self._is_recording = settings.backend is BackendName.REPLAY
        self._followed = dict(followed)
        self._left: dict[str, Sequence[AnswerForm]] = {model: forms_from(form) for model, form in followed.items()}

    def of(self, model: str) -> AnswerForm:
        """The form in which a model is asked now."""
        return self._forms(model)[0]

    def is_ignored(self, request: SummaryRequest, response: SummaryResponse) -> bool:
        """Whether an answer that could not be taken shows that the server ignores the form, and there is another."""
        form, model = request.parameters.form, request.model_name
        has_next = len(self._forms(model)) > 1 or self.of(model) is not form
        if not has_next or self._followed.get(model) is form or response.ended is not AnswerEnd.STOP:
            return False
        if form in CALLING_FORMS:
            # Nothing, or a call of another tool, says nothing about what the server can do.
            is_text = bool(response.claim.strip()) and not response.claim.startswith(CALL_OF)
            return is_text and not response.has_tool_call
        return form is AnswerForm.JSON_SCHEMA and parse_json_object(response.claim) is None

    def note_followed(self, request: SummaryRequest, response: SummaryResponse) -> None:
        """The model may have answered in its form: then an answer in another one is that answer's fault from now on."""
        model, form = request.model_name, request.parameters.form
        if form is self.of(model) and (response.has_tool_call or form not in CALLING_FORMS):
            self._followed[model] = form

    def has_followed(self, model: str) -> bool:
        """Whether the model has answered in its form."""
        return model in self._followed

    def after(self, model: str, form: AnswerForm, error: SummaryError) -> AnswerForm | None:
        """The form in which to ask a model again that was asked in `form` and failed so; None if there is none."""
        is_missing = self._is_recording and isinstance(error, BackendNotConfigured)
        is_refused = isinstance(error, SummaryCallFailed) and error.failure is CallFailure.FORM
        if is_missing:
            return next(iter(forms_from(form)[1:]), None)
        if not (is_refused or isinstance(error, FormIgnored)):
            return None
        left = self._forms(model)
        if left[0] is form:
            if len(left) == 1 or self.has_followed(model):
                return None
            self._left[model] = left[1:]
            is_chosen = self._settings.form != "auto"
            said = f"{form.value!r} (llm.form)" if is_chosen else repr(form.value)
            level = logging.WARNING if is_chosen else logging.INFO
            _log.log(level, "%s does not answer in the form %s: %r is tried", model, said, left[1].value)
        return self.of(model)

    def _forms(self, model: str) -> Sequence[AnswerForm]:
        return self._left.setdefault(model, forms_from(first_form(self._settings, model)))
