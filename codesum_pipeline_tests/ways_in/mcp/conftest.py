from codesum_pipeline_tests.ways_in.cli.conftest import codesum as codesum_call

__all__ = ["codesum_call"]
