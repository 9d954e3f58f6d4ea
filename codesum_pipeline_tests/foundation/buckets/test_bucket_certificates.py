"""A bucket whose certificate is of a company's own authority."""

from pathlib import Path

import pytest

from codesum_pipeline_tests.support.commands import fork_codesum
from codesum_pipeline_tests.support.git_server import make_certificate
from codesum_pipeline_tests.support.moto_server import BUCKET, moto_server, s3_environment
from codesum_pipeline_tests.support.repositories import GitRepo
from codesum_pipeline_tests.support.tls_front import tls_front

pytestmark = pytest.mark.distributed


def test_a_bucket_is_reached_with_the_authorities_of_the_setting(tmp_path: Path) -> None:
    made = GitRepo.create(tmp_path / "made", {"shop.py": "x = 1\n"}).path
    certificate = make_certificate(tmp_path)
    with moto_server(tmp_path) as plain, tls_front(int(plain.rpartition(":")[2]), certificate) as address:
        environment = {**s3_environment(address), "XDG_CACHE_HOME": str(tmp_path / "cache")}
        home = ("--home", f"s3://{BUCKET}/home")
        trusted = {**environment, "CODESUM_CA_BUNDLE": str(certificate / "ca.pem")}
        added = fork_codesum(*home, "add", made, cwd=tmp_path, env=trusted)
        elsewhere = {**environment, "XDG_CACHE_HOME": str(tmp_path / "untrusted")}
        untrusted = fork_codesum(*home, "repos", cwd=tmp_path, env=elsewhere)

    assert added.returncode == 0, added.stderr
    assert untrusted.returncode != 0
    assert "the bucket cannot be reached" in untrusted.stderr
