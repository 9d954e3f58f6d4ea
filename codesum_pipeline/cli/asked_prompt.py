"""What a model would be asked about a document, for a person."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from codesum_pipeline.cli.invocation import Invocation
from codesum_pipeline.cli.render import fields
from codesum_pipeline.cli.safe_text import clean, one_line
from codesum_pipeline.model.documents import Level
from codesum_pipeline.summaries.by_model.prompt_of import PromptTurns, prompt_of
from codesum_pipeline.wiring import Home


def asked_prompt(called: Invocation, key: str, id_: str, level: str) -> PromptTurns:
    """Both turns, from the tables of the last build; nobody is asked."""
    return prompt_of(Home(called.settings).workspace(key, run_id="prompt"), id_, Level(level))


def prompt_sections(repo: str, id_: str, asked: PromptTurns) -> Iterator[RenderableType]:
    """The user's turn, as it is sent; of the system turn, which is the same for every document, where to read it."""
    yield Text.assemble((one_line(id_), "bold"), (f"  prompt · {repo}", "dim"))
    kind, _, name = asked.templates[0].partition("/")
    masked = ", ".join(f"{number} {kind}" for kind, number in asked.masked.items())
    yield fields(
        {
            "system turn": f"{len(asked.system):,} characters: `codesum prompts show {kind} {name}`",
            "user's turn": f"{len(asked.user):,} characters: {asked.templates[1]}, filled in as below",
            "secrets masked": masked or None,
        }
    )
    yield Text(f"\n{clean(asked.user)}")
