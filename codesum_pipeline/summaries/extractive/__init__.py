"""The writer that needs nothing but the code: deterministic, free and offline.

Each function turns one input into one text and depends on nothing else; the
order in which children are listed does not matter.
"""

from codesum_pipeline.summaries.extractive.classes import write_class
from codesum_pipeline.summaries.extractive.files import write_file
from codesum_pipeline.summaries.extractive.functions import write_function
from codesum_pipeline.summaries.extractive.modules import write_module
from codesum_pipeline.summaries.extractive.text_files import write_text_file
from codesum_pipeline.summaries.extractive.written import EXTRACTIVE_VERSION, ExtractiveText

__all__ = [
    "EXTRACTIVE_VERSION",
    "ExtractiveText",
    "write_class",
    "write_file",
    "write_function",
    "write_module",
    "write_text_file",
]
