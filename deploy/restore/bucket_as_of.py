"""Put a bucket with versioning back to what it held at a moment: `python bucket_as_of.py s3://BUCKET/PREFIX MOMENT`.

MOMENT is as `2027-01-31T09:30:00+00:00`. Nothing is lost by it: what the bucket holds now stays as an earlier version
of each object. Needs boto3 and its credentials. Stop everything that writes the home first: docs/deploy.md.
"""

import sys
from datetime import datetime
from typing import Any

import boto3


def put_back(url: str, moment: datetime) -> tuple[int, int]:
    """How many objects were put back, and how many that came later were deleted."""
    bucket, _, prefix = url.removeprefix("s3://").partition("/")
    s3 = boto3.client("s3")
    if s3.get_bucket_versioning(Bucket=bucket).get("Status") != "Enabled":
        raise SystemExit(f"{bucket}: versioning is not enabled, so there is nothing to go back to")
    now: dict[str, dict[str, Any]] = {}
    then: dict[str, dict[str, Any]] = {}
    pages = s3.get_paginator("list_object_versions").paginate(Bucket=bucket, Prefix=f"{prefix.rstrip('/')}/")
    for page in pages:
        # Of each object the newest comes first; a deletion is a version without a tag.
        found = [*page.get("Versions", ()), *page.get("DeleteMarkers", ())]
        for version in sorted(found, key=lambda each: (each["LastModified"], each["IsLatest"]), reverse=True):
            if version["IsLatest"]:
                now[version["Key"]] = version
            if version["LastModified"] <= moment:
                then.setdefault(version["Key"], version)
    copied = deleted = 0
    # What heads name comes before them.
    for key in sorted(now, key=lambda each: (each.endswith("/head.json"), each)):
        wanted = then.get(key)
        if wanted is not None and "ETag" in wanted:
            if wanted["VersionId"] != now[key]["VersionId"]:
                s3.copy({"Bucket": bucket, "Key": key, "VersionId": wanted["VersionId"]}, bucket, key)
                copied += 1
        elif "ETag" in now[key]:
            s3.delete_object(Bucket=bucket, Key=key)
            deleted += 1
    return copied, deleted


if __name__ == "__main__":
    if len(sys.argv) != 3 or not sys.argv[1].startswith("s3://"):
        raise SystemExit(__doc__)
    at = datetime.fromisoformat(sys.argv[2])
    if at.tzinfo is None:
        raise SystemExit(f"{sys.argv[2]}: say which time zone, as in {sys.argv[2]}+00:00")
    copied, deleted = put_back(sys.argv[1], at)
    sys.stdout.write(f"put back {copied}, deleted {deleted}\n")
