"""`python -m codesum_pipeline.cli`, for where the script is not on the path."""

from codesum_pipeline.cli import main

if __name__ == "__main__":
    main()
