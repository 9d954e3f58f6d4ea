"""A repository that attacks whoever looks at its pages: names, docstrings, a README, sources."""

SCRIPT = "<script>document.title='owned'</script>"
IMAGE = "<img src=x onerror=document.title='owned'>"
NAME = f"\"{IMAGE}&amp;' {{{{7777*7}}}}.py"

FILES = {
    "README.md": (
        f"# {SCRIPT}\n\nA trap {IMAGE} with [a link](javascript:alert(1)) and ![one](https://evil.example/x.png).\n"
    ),
    NAME: f'''"""{SCRIPT} lays a trap."""


def trap(victim):
    """Catch the {IMAGE} victim. \u202e"""
    caught = "{SCRIPT}" + victim
    return caught


def lure(victim):
    """Lead the victim to the trap."""
    return trap(victim)
''',
}
