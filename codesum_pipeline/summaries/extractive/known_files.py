"""Files that the whole world names alike, and what they are for."""

import re

from codesum_pipeline.summaries.documentation.word_lists import word_set

# By the file's lower-case name.
BY_NAME = {
    "pyproject.toml": "Configures the Python project: its metadata, build and tools",
    "setup.cfg": "Configures the Python package and its tools", "setup.py": "Builds and installs the Python package",
    "tox.ini": "Configures test environments for tox", "pytest.ini": "Configures pytest",
    "mypy.ini": "Configures the type checker mypy", "ruff.toml": "Configures the linter ruff",
    ".flake8": "Configures the linter flake8", ".pylintrc": "Configures the linter pylint",
    ".coveragerc": "Configures test coverage", ".editorconfig": "Sets editor conventions",
    ".pre-commit-config.yaml": "Configures checks that run before each commit",
    ".gitignore": "Lists what git leaves out", ".gitattributes": "Tells git how to treat files",
    ".dockerignore": "Lists what Docker leaves out of an image's context",
    ".gitmodules": "Lists the repository's submodules", ".mailmap": "Maps contributors' names and addresses",
    "dockerfile": "Builds a container image", "containerfile": "Builds a container image",
    "docker-compose.yml": "Starts the project's services together with Docker Compose",
    "docker-compose.yaml": "Starts the project's services together with Docker Compose",
    "compose.yaml": "Starts the project's services together with Docker Compose",
    "compose.yml": "Starts the project's services together with Docker Compose",
    "makefile": "Defines the project's make targets", "justfile": "Defines the project's just recipes",
    "taskfile.yml": "Defines the project's tasks", "cmakelists.txt": "Configures the CMake build",
    "meson.build": "Configures the Meson build", "build.gradle": "Configures the Gradle build",
    "pom.xml": "Configures the Maven build",
    "package.json": "Describes the JavaScript package, its scripts and dependencies",
    "tsconfig.json": "Configures the TypeScript compiler",
    "cargo.toml": "Describes the Rust package and its dependencies",
    "go.mod": "Names the Go module and its dependencies", "gemfile": "Lists the Ruby dependencies",
    "pipfile": "Lists the Python dependencies for pipenv", "environment.yml": "Describes the conda environment",
    "environment.yaml": "Describes the conda environment", "manifest.in": "Lists what a source distribution includes",
    "codeowners": "Names who reviews which files", "license": "License under which the code may be used",
    "licence": "License under which the code may be used", "copying": "License under which the code may be used",
    "notice": "Notices of copyright and of third-party work", "changelog": "Lists the changes of each release",
    "changes": "Lists the changes of each release", "history": "Lists the changes of each release",
    "news": "Lists the changes of each release", "releases": "Lists the changes of each release",
    "authors": "Names the authors", "contributors": "Names the contributors",
    "contributing": "Explains how to contribute", "code_of_conduct": "States how contributors treat each other",
    "security": "Explains how to report security problems", "support": "Explains where to get help",
    "todo": "Lists what is still to be done", "citation.cff": "Says how to cite the project",
    "mkdocs.yml": "Configures the documentation site", ".readthedocs.yaml": "Configures the documentation build",
    ".readthedocs.yml": "Configures the documentation build", "codecov.yml": "Configures coverage reports",
    ".travis.yml": "Configures continuous integration on Travis",
    ".gitlab-ci.yml": "Configures continuous integration on GitLab",
    "azure-pipelines.yml": "Configures continuous integration on Azure",
    "jenkinsfile": "Configures continuous integration on Jenkins",
    "dependabot.yml": "Configures automatic dependency updates",
    "renovate.json": "Configures automatic dependency updates",
    "procfile": "Lists the processes that run the application",
    ".env.example": "Shows which environment variables the project reads", "py.typed": "Marks the package as typed",
    "constraints.txt": "Pins the versions of dependencies", "dagster.yaml": "Configures the Dagster instance",
    "workspace.yaml": "Tells Dagster which code to load", "alembic.ini": "Configures database migrations",
    "robots.txt": "Tells web crawlers what to visit", "vercel.json": "Configures the deployment on Vercel",
    "netlify.toml": "Configures the deployment on Netlify",
}  # fmt: skip
_BY_PATTERN = (
    (re.compile(r"(?:^|/)\.github/workflows/[^/]+\.ya?ml$"), "Runs continuous integration on GitHub"),
    (re.compile(r"(?:^|/)\.github/issue_template", re.I), "Template for new issues"),
    (re.compile(r"(?:^|/)\.github/.*pull_request_template", re.I), "Template for pull requests"),
    (re.compile(r"(?:^|/)\.circleci/config\.yml$"), "Configures continuous integration on CircleCI"),
    (
        re.compile(r"(?:^|/)(?:[\w.-]*requirements[\w.-]*|requirements/[\w.-]+)\.(?:txt|in)$", re.I),
        "Lists the Python packages that are needed",
    ),
    (re.compile(r"(?:^|/)[\w.-]*dockerfile[\w.-]*$", re.I), "Builds a container image"),
)
_STEMMED = word_set(
    """
    license licence copying notice changelog changes history news releases authors contributors contributing
    code_of_conduct security support todo
    """
)


def known_purpose(path: str) -> str:
    """What a file with this path is for, or empty where its name does not tell."""
    name = path.rpartition("/")[2].lower()
    for pattern, purpose in _BY_PATTERN:
        if pattern.search(path):
            return purpose
    if name in BY_NAME:
        return BY_NAME[name]
    stem = name.partition(".")[0].replace("-", "_")
    return BY_NAME[stem] if stem in _STEMMED and name.rpartition(".")[2] in (stem, "md", "rst", "txt") else ""
