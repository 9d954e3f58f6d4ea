"""Which model a name means.

| name | model |
|---|---|
| `static` | the one that ships with the package |
| `minilm` | all-MiniLM-L6-v2 from the extra `minilm` |
| `sentence-transformers/ORG/NAME[@REVISION]` | one of the Hugging Face hub; without ORG, of the organisation sentence-transformers |
| `/FOLDER`, `~/FOLDER` | a sentence-transformers model in a folder, or one in the format of `static` |
| `litellm/MODEL` | whatever LiteLLM calls so: `litellm/voyage/voyage-code-3` |
| `text-embedding-…` | short for `litellm/text-embedding-…` |

The part before the first slash decides; nothing is guessed, so that a typo never causes costs.
"""  # noqa: E501

import difflib
import threading
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from codesum_pipeline.foundation.data_model.errors import ConfigurationError
from codesum_pipeline.foundation.data_model.extras import way_to_install
from codesum_pipeline.foundation.settings.home_settings import Settings
from codesum_pipeline.indexes.embedders.model_folders import from_hub, packaged_minilm
from codesum_pipeline.indexes.embedders.protocol import Embedder
from codesum_pipeline.indexes.embedders.sentence_models import SentenceEmbedder
from codesum_pipeline.indexes.embedders.static import STATIC, StaticEmbedder, is_static_model

MINILM = "minilm"
SENTENCE_PREFIX = "sentence-transformers/"
LITELLM_PREFIX = "litellm/"
OPENAI_PREFIX = "text-embedding-"

CHOICES = (
    STATIC,
    MINILM,
    f"{SENTENCE_PREFIX}ORG/NAME[@REVISION]",
    "/FOLDER",
    f"{LITELLM_PREFIX}MODEL",
    f"{OPENAI_PREFIX}… (of OpenAI)",
)
# What a typo may have been meant for.
_WORDS = (STATIC, MINILM, SENTENCE_PREFIX, LITELLM_PREFIX, OPENAI_PREFIX)


def embedder_of(settings: Settings) -> Embedder:
    """The embedder that a build's or a query's settings name."""
    return load_embedder(settings.embedder, offline=settings.offline, api_base=settings.embedder_api_base)


def check_embedder(settings: Settings) -> None:
    """Raise `ConfigurationError` for an embedder that a build would fail on as soon as it embeds something. For a
    provider's model LiteLLM is imported, which takes seconds; no call is made."""
    embedder = embedder_of(settings)
    if is_asked_over_the_network(settings):
        # With httpx it takes 0.1 s, which every search would wait for.
        from codesum_pipeline.indexes.embedders.litellm_models import LiteLlmEmbedder

        assert isinstance(embedder, LiteLlmEmbedder)
        embedder.check_provider()


def is_asked_over_the_network(settings: Settings) -> bool:
    """Whether each text is sent to a provider."""
    return settings.embedder.startswith((LITELLM_PREFIX, OPENAI_PREFIX))


_making = threading.Lock()


def load_embedder(name: str, *, offline: bool = False, api_base: str | None = None) -> Embedder:
    """Return the embedder of a name, made once a process and for several threads, or raise `ConfigurationError`. A
    model that runs here is found and checked now, and loaded when something is embedded. With `offline`, nothing is
    downloaded and no provider is asked. `api_base` is where a LiteLLM model is asked."""
    with _making:
        return make_embedder(name, offline, api_base)


@cache
def make_embedder(name: str, offline: bool, api_base: str | None) -> Embedder:
    """As `load_embedder`, for one thread at a time."""
    if name == STATIC:
        return StaticEmbedder()
    if name.startswith((LITELLM_PREFIX, OPENAI_PREFIX)) and name != LITELLM_PREFIX:
        # As above.
        from codesum_pipeline.indexes.embedders.litellm_models import LiteLlmEmbedder

        return LiteLlmEmbedder(name.removeprefix(LITELLM_PREFIX), api_base=api_base, offline=offline)
    folder = _folder_of(name, offline=offline)
    if folder is None:
        near = difflib.get_close_matches(name.lower(), _WORDS, n=1)
        hint = f"; the nearest is {near[0]!r}" if near and near[0] != name else ""
        raise ConfigurationError(f"embedder: {name!r} is not known{hint}; known are: {', '.join(CHOICES)}")
    if is_static_model(folder):
        return StaticEmbedder(folder, name=name)
    if find_spec("sentence_transformers") is None:
        raise ConfigurationError(
            f"embedder {name!r}: it is run by sentence-transformers, which is not installed: "
            f"{way_to_install(with_torch=True)}"
        )
    return SentenceEmbedder(name, folder)


def _folder_of(name: str, *, offline: bool) -> Path | None:
    if name == MINILM:
        return packaged_minilm()
    if name.startswith(("/", "~")):
        folder = Path(name).expanduser()
        if not folder.is_dir():
            raise ConfigurationError(f"embedder {name!r}: there is no folder {folder}")
        return folder
    if name.startswith(SENTENCE_PREFIX) and name != SENTENCE_PREFIX:
        return from_hub(name, name.removeprefix(SENTENCE_PREFIX), offline=offline)
    return None
