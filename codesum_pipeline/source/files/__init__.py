"""The files of a commit or a work tree: which of them are indexed, their text, language and origin."""
