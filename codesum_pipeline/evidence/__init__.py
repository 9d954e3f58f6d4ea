"""Evidence in the code becomes sentences: what authors wrote, and what names, calls and types say."""
