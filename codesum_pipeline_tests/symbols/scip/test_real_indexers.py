"""The commands of docs/scip.md, with the indexers that they name."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from codesum_pipeline_tests.symbols.scip.making import SANDBOXES, Shop

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not shutil.which("npm"), reason="needs npm")]
PAGE = Path(__file__).parents[3] / "docs" / "scip.md"
SHOP = {
    "shop/__init__.py": "",
    "shop/prices.py": "def price():\n    return 1\n",
    "shop/cart.py": "from shop.prices import price\n\n\ndef total():\n    return price()\n",
    "web/src/prices.ts": "export function price(): number {\n  return 1;\n}\n",
    "web/src/cart.ts": "import { price } from './prices';\nexport const total = () => price();\n",
}


@pytest.fixture(scope="module")
def indexers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both indexers, installed as the page says."""
    folder = tmp_path_factory.mktemp("indexers")
    for line in re.findall(r"^(npm install .*|echo .* >.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE):
        subprocess.run(["sh", "-c", line.replace("/opt/scip", shlex.quote(str(folder)))], check=True, timeout=300)
    return folder


def command_of_page(indexer: str, indexers: Path) -> str:
    """What the page gives to `--scip-command`."""
    found = re.findall(rf"--scip-command '({indexer} .*)'", PAGE.read_text(encoding="utf-8"))
    return str(found[0]).replace("/opt/scip", str(indexers))


@pytest.mark.parametrize("sandbox", SANDBOXES)
@pytest.mark.parametrize(
    ("indexer", "subdir", "paths"),
    [
        ("scip-python", "", (b"shop/prices.py", b"shop/cart.py")),
        ("scip-typescript", "web", (b"src/prices.ts", b"src/cart.ts")),
    ],
)
def test_the_page_s_commands_make_an_index(
    tmp_path: Path, indexers: Path, sandbox: str, indexer: str, subdir: str, paths: tuple[bytes, ...]
) -> None:
    shop = Shop.create(tmp_path, SHOP, sandbox=sandbox, read_only=(str(indexers),))

    made = shop.make(command_of_page(indexer, indexers), subdir=subdir)

    assert made.problem == ""
    assert made.path is not None
    assert all(path in made.path.read_bytes() for path in paths)
