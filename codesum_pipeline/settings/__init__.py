"""Every knob, read once."""

from codesum_pipeline.settings.loading import HOME_FOLDER, SETTINGS_FILE, find_home, load_settings
from codesum_pipeline.settings.models import Settings

__all__ = ["HOME_FOLDER", "SETTINGS_FILE", "Settings", "find_home", "load_settings"]
