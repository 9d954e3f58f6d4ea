"""A repository with a secret in every place that texts are made of, and a way to look for them in a home."""

import json
import random
import sqlite3
import zipfile
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq

from codesum_pipeline_tests.support.planted_secrets import TOKENS

PASSWORD = "hunter2!x" + "9"


class SecretShop:
    """Files, and what is secret in them."""

    def __init__(self, seed: int = 5) -> None:
        rng = random.Random(seed)
        self.pem = TOKENS["private-key"](rng)
        self._rng, self.secrets = rng, [PASSWORD, self.pem.split("\n")[1]]
        self.files = self._files()

    def token(self, kind: str = "github-token") -> str:
        """Another token, of which the files hold one each."""
        made = TOKENS[kind](self._rng)
        self.secrets.append(made)
        return made

    def _files(self) -> dict[str, str]:
        token, pem = self.token, self.pem
        escaped, encoded = pem.replace("\n", "\\n"), b64encode(pem.encode()).decode()
        return {
            "keys/server.pem": f"{pem}\n",
            "keys/master.key": f"{rng_hex(self._rng)}\n",
            "app/pay.py": f'''"""Payments. The live token is {token()} for now."""
API = "{token()}"
PASSWORD = "{PASSWORD}"

class Client:
    """Talks to the shop with {token()}."""
    token: str = "{token()}"
    def charge(self, amount, token="{token()}", password="{PASSWORD}"):
        """Charge with token {token()} at once."""
        if amount < 0:
            raise ValueError("refused: password={PASSWORD} {token()}")
        return self.post("/charge", "{token("slack-token")}", amount)

def main():
    print("connect with {PASSWORD}")
    open("/etc/{token()}").read()

if __name__ == "__main__":
    main()
''',
            "README.md": f"# Shop\n\nRun with token {token()} or password: {PASSWORD}\n\nThe shop takes orders.\n",
            ".env": f"STRIPE={token('stripe-key')}\nDB_PASSWORD={PASSWORD}\nDB=postgres://bob:{PASSWORD}@db/x\n",
            ".npmrc": f"//registry.npmjs.org/:_authToken={token('npm-token')}\n",
            ".netrc": f"machine shop.invalid login bob password {PASSWORD}\n",
            "package.json": json.dumps(
                {"name": "shop", "scripts": {"deploy": f"curl -H 'Authorization: Bearer {token()}' https://x.invalid"}}
            ),
            "app.js": (
                f"const express = require('express');\n/** Uses {token()}. */\nfunction start(token = '{token()}') {{\n"
                "  const app = express();\n  app.get('/x', (q, s) => s.send(token));\n  return process.env.SHOP;\n}\n"
            ),
            "Dockerfile": f"FROM python:3\nENV TOKEN={token()}\nCMD curl -H 'X: {token()}' https://x.invalid\n",
            "Makefile": f"deploy:\n\tcurl -u bob:{PASSWORD} -H 'X: {token()}' https://x.invalid\n",
            "pyproject.toml": f'[project]\nname = "shop"\ndescription = "Shop with {token()}"\n',
            "pay_test.exs": (
                f'defmodule PayTest do\n  test "uses {token()}" do\n    run(1)\n    other(2)\n  end\n\n'
                f'  test "uses {token()}" do\n    run(3)\n    other(4)\n  end\nend\n'
            ),
            "account.json": f'{{"type": "service_account", "private_key": "{escaped}", "client_email": "a@b.c"}}',
            "cluster.yaml": f"users:\n- name: a\n  user:\n    client-key-data: {encoded}\n",
        }

    def found_in(self, text: str) -> list[str]:
        """The beginnings of the secrets in a text, whatever their case, and escaped or not."""
        plain = text.replace("\\", "").lower()
        return [secret[:9] for secret in self.secrets if secret.lower() in plain]

    def kept_in(self, home: Path) -> dict[str, list[str]]:
        """By place the secrets in all that a home holds, but for git's own objects."""
        places = {place: self.found_in(text) for place, text in texts_of(home)}
        return {place: found for place, found in places.items() if found}


def rng_hex(rng: random.Random) -> str:
    return f"{rng.getrandbits(128):032x}"


def texts_of(home: Path) -> Iterator[tuple[str, str]]:
    """Everything in a home as texts: columns of tables, rows of databases, members of archives, plain files."""
    for file in sorted(home.rglob("*")):
        if not file.is_file() or "objects" in file.parts:
            continue
        name = str(file.relative_to(home))
        if file.suffix == ".parquet":
            for column in (table := pq.read_table(file)).column_names:
                yield f"{name} {column}", json.dumps(table[column].to_pylist(), ensure_ascii=False, default=str)
        elif zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                yield from ((f"{name} {one}", archive.read(one).decode("latin-1")) for one in archive.namelist())
        else:
            yield name, file.read_bytes().decode("latin-1")
        if file.suffix in (".db", ".sqlite"):
            with closing(sqlite3.connect(file)) as connection:
                yield f"{name} rows", "\n".join(connection.iterdump())
