"""Pushes as the hosts document them, shortened to what says something, and signed as they sign."""

import base64
import hashlib
import hmac
import json
from typing import Any

SECRET = "an-example-secret-of-32-letters!"
SIGNING_KEY = b"0123456789abcdef0123456789abcdef"
SIGNING_SECRET = "whsec_" + base64.b64encode(SIGNING_KEY).decode()
BEFORE, AFTER, GONE = "28e1879d029cb852e4844d9c718537df08844e03", "bffeb74224043ba2feb48d137756c8a9331c449a", "0" * 40


def github_push(ref: str = "refs/heads/main", *, name: str = "acme/shop", **changed: Any) -> dict[str, Any]:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#push"""
    server = "https://github.com"
    return {
        "ref": ref,
        "before": BEFORE,
        "after": AFTER,
        "created": False,
        "deleted": False,
        "forced": False,
        "compare": f"{server}/{name}/compare/28e1879d029c...bffeb7422404",
        "commits": [{"id": AFTER, "message": "One more line", "added": [], "removed": [], "modified": ["shop.py"]}],
        "repository": {
            "id": 186853002,
            "name": name.rpartition("/")[2],
            "full_name": name,
            "private": True,
            "html_url": f"{server}/{name}",
            "url": f"{server}/{name}",
            "git_url": f"git://github.com/{name}.git",
            "ssh_url": f"git@github.com:{name}.git",
            "clone_url": f"{server}/{name}.git",
            "default_branch": "main",
        },
        "pusher": {"name": "someone", "email": "someone@example.org"},
        "sender": {"login": "someone", "id": 21031067},
    } | changed


def gitlab_push(ref: str = "refs/heads/main", **changed: Any) -> dict[str, Any]:
    """https://docs.gitlab.com/user/project/integrations/webhook_events/#push-events"""
    return {
        "object_kind": "push",
        "event_name": "push",
        "before": BEFORE,
        "after": AFTER,
        "ref": ref,
        "checkout_sha": AFTER,
        "user_username": "someone",
        "project_id": 15,
        "project": {
            "id": 15,
            "name": "Shop",
            "web_url": "https://gitlab.example.org/acme/backend/shop",
            "git_ssh_url": "git@gitlab.example.org:acme/backend/shop.git",
            "git_http_url": "https://gitlab.example.org/acme/backend/shop.git",
            "path_with_namespace": "acme/backend/shop",
            "default_branch": "main",
        },
        "commits": [],
        "total_commits_count": 0,
        "repository": {"name": "Shop", "url": "git@gitlab.example.org:acme/backend/shop.git"},
    } | changed


def gitea_push(ref: str = "refs/heads/main", **changed: Any) -> dict[str, Any]:
    """https://docs.gitea.com/usage/repository/webhooks"""
    return {
        "ref": ref,
        "before": BEFORE,
        "after": AFTER,
        "compare_url": "https://git.example.org/acme/shop/compare/28e1879d...bffeb742",
        "commits": [],
        "repository": {
            "id": 140,
            "name": "shop",
            "full_name": "acme/shop",
            "html_url": "https://git.example.org/acme/shop",
            "ssh_url": "ssh://git@git.example.org:2222/acme/shop.git",
            "clone_url": "https://git.example.org/acme/shop.git",
            "default_branch": "main",
        },
        "pusher": {"id": 1, "login": "someone"},
        "sender": {"id": 1, "login": "someone"},
    } | changed


def encoded(payload: dict[str, Any]) -> bytes:
    """The body as it is sent."""
    return json.dumps(payload).encode()


def hex_hmac(body: bytes, secret: str = SECRET) -> str:
    """What GitHub, Gitea and Forgejo sign with."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def github_headers(body: bytes, *, event: str = "push", secret: str = SECRET, delivery: str = "a-1") -> dict[str, str]:
    """https://docs.github.com/en/webhooks/webhook-events-and-payloads#delivery-headers"""
    return {
        "content-type": "application/json",
        "user-agent": "GitHub-Hookshot/044aadd",
        "x-github-delivery": delivery,
        "x-github-event": event,
        "x-hub-signature-256": f"sha256={hex_hmac(body, secret)}",
    }


def gitea_headers(body: bytes, *, event: str = "push", name: str = "gitea", secret: str = SECRET) -> dict[str, str]:
    """Gitea and Forgejo send GitHub's headers, too."""
    return {
        "content-type": "application/json",
        "x-github-delivery": "b-1",
        "x-github-event": event,
        f"x-{name}-delivery": "b-1",
        f"x-{name}-event": event,
        f"x-{name}-signature": hex_hmac(body, secret),
        "x-hub-signature-256": f"sha256={hex_hmac(body, secret)}",
    }


def gitlab_headers(*, event: str = "Push Hook", secret: str = SECRET) -> dict[str, str]:
    """https://docs.gitlab.com/user/project/integrations/webhooks/#delivery-headers"""
    return {
        "content-type": "application/json",
        "x-gitlab-event": event,
        "x-gitlab-event-uuid": "13792a34-cac6-4fda-95a8-c58e00a3954e",
        "x-gitlab-token": secret,
    }


def signed_gitlab_headers(body: bytes, *, sent_at: int, key: bytes = SIGNING_KEY) -> dict[str, str]:
    """As GitLab signs since it has signing tokens: by the specification of Standard Webhooks."""
    signed = f"c-1.{sent_at}.".encode() + body
    signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {
        "content-type": "application/json",
        "x-gitlab-event": "Push Hook",
        "webhook-id": "c-1",
        "webhook-timestamp": str(sent_at),
        "webhook-signature": f"v1,{signature}",
    }
