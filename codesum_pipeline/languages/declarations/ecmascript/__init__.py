"""JavaScript and TypeScript, with and without markup."""
