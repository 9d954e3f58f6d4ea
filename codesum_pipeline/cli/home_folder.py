"""The folder that the first `codesum` command makes."""

import shutil
import tempfile
from pathlib import Path

from codesum_pipeline.cli.failures import complain
from codesum_pipeline.homes.folders import record_home
from codesum_pipeline.homes.loading import HOME_FOLDER, SETTINGS_FILE
from codesum_pipeline.model.errors import ConfigurationError
from codesum_pipeline.settings.models import Settings
from codesum_pipeline.store.refusals import writing

_IGNORE_ALL = "# Made by codesum: what is built here can be built again.\n*\n"


def make_home(settings: Settings) -> None:
    """Create the home if it is not there, and record it as the user's own.

    It is made aside and moved into place, so that another process finds no home or one that is recorded. One inside a
    project is no part of that project's repository.
    """
    home = settings.home
    if home.exists():
        return
    with writing(home):
        aside = _folder_beside(home)
        try:
            _fill(aside, settings)
            record = _record(aside, home)
            try:
                aside.rename(home)
            except OSError:
                if record:
                    record.unlink(missing_ok=True)
                # Another process was first.
                if not home.is_dir():
                    raise
        finally:
            shutil.rmtree(aside, ignore_errors=True)


def _folder_beside(home: Path) -> Path:
    try:
        if not home.parent.is_file():
            home.parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f"{home.name}.new-", dir=home.parent))
    except OSError as error:
        # It is the home that was asked for.
        raise OSError(error.errno, error.strerror, str(home)) from error


def _fill(folder: Path, settings: Settings) -> None:
    folder.chmod(settings.folder_mode)
    if settings.home.name == HOME_FOLDER:
        (folder / ".gitignore").write_text(_IGNORE_ALL, encoding="utf-8")
    if settings.home_mode != Settings.model_fields["home_mode"].default:
        (folder / SETTINGS_FILE).write_text(f'home_mode = "{settings.home_mode}"\n', encoding="utf-8")


def _record(folder: Path, home: Path) -> Path | None:
    """A home that cannot be recorded is made all the same: it can be named."""
    try:
        return record_home(folder, at=home)
    except ConfigurationError as error:
        complain(str(error))
        return None
