"""The commands of `codesum`, each in the module of its name; `overview` is beside `show`, and `worker` beside `dev`."""
