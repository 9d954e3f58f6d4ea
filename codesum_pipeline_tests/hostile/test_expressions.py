"""Every regular expression of the package meets texts that are made to break it: names, comments, queries and answers
are written by others."""

import time
from collections import Counter
from collections.abc import Callable
from fnmatch import translate
from functools import cache

import pytest

from codesum_pipeline.languages.ecmascript import workspaces
from codesum_pipeline.languages.python.recovery import LINES
from codesum_pipeline.languages.registry import declarations
from codesum_pipeline.languages.texts import definition_lines
from codesum_pipeline.llm import masking
from codesum_pipeline_tests.support.attacks import LINEAR, attacks_on, growth
from codesum_pipeline_tests.support.expressions import (
    Expression,
    compilations,
    expressions,
    import_modules_with_expressions,
)
