"""The version of this package; importing it imports nothing, since what must answer at once asks for it, too."""


def installed_version() -> str:
    """As in `1.2.0`; empty where the package is run from its sources."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("codesum-pipeline")
    except PackageNotFoundError:
        return ""
