"""Every setting, declared once: stages take these models as they are."""
