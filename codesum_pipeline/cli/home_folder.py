"""The folder that the first `codesum` command makes."""

from codesum_pipeline.settings import HOME_FOLDER
from codesum_pipeline.store.layout import HomeLayout
from codesum_pipeline.store.refusals import writing

_IGNORE_ALL = "# Made by codesum: what is built here can be built again.\n*\n"


def make_home(layout: HomeLayout) -> None:
    """Create the home if it is not there; one inside a project is no part of that project's repository."""
    if layout.home.exists():
        return
    with writing(layout.home):
        # Another command may begin at the same moment.
        layout.home.mkdir(parents=True, exist_ok=True)
        if layout.home.name == HOME_FOLDER:
            (layout.home / ".gitignore").write_text(_IGNORE_ALL, encoding="utf-8")
