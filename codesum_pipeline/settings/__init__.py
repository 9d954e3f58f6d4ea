"""Every knob, read once."""

from codesum_pipeline.settings.loading import (
    HOME_FOLDER,
    SETTINGS_FILE,
    check_is_settable_by_run,
    find_home,
    load_settings,
    nearest_home,
)
from codesum_pipeline.settings.models import Settings
from codesum_pipeline.settings.own_homes import check_may_be_own, record_home, user_home

__all__ = [
    "HOME_FOLDER",
    "SETTINGS_FILE",
    "Settings",
    "check_is_settable_by_run",
    "check_may_be_own",
    "find_home",
    "load_settings",
    "nearest_home",
    "record_home",
    "user_home",
]
