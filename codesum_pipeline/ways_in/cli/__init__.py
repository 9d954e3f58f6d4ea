"""`codesum`: the command line. It translates arguments, calls one function of a stage and shows the result."""
