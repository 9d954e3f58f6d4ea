"""The HTML of a mail in a real Chromium, 600 px wide. Run by `make test-browser`; PICTURES=FOLDER leaves pictures."""

import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from codesum_pipeline.notifications.delivery.dialects import html_mail
from codesum_pipeline_tests.notifications.delivery.test_rendering import HOSTILE, post_of
from codesum_pipeline_tests.support.browsing import CONTRAST
from codesum_pipeline_tests.support.chromium import launch
from codesum_pipeline_tests.support.delivery_desk import RESULT

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

WRITTEN = """Session cookies are now signed with **Ed25519** instead of HMAC [1]. Old ones stay valid for a day [1].

## What changed

- `Login.sign` takes a key, and `Login.verify` refuses a cookie without one [1]
- the module `old.py` is gone; nothing calls it any more [2]

```python
def sign(self, session: Session, key: Ed25519PrivateKey) -> bytes:
    return key.sign(session.to_bytes())
```

```diff
 def sign(self, session):
-    return hmac(session)
+    return self.key.sign(session, algorithm="Ed25519", encoding="utf-8", and_so_on="and on")
@@
+    # done
```

> Keys come from the environment, never from the repository.
"""
SHOWN = ("> *", "p", "a", "span", "pre span", "td")
LONG = f"{'a' * 300} `{'b' * 300}`\n\n```\n{'c' * 300}\n```\n"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_mail_fits_is_readable_and_fetches_nothing(scheme: str, playwright_driver: Any) -> None:
    hostile = replace(RESULT.citations[0], name="<b onclick=alert(9)>[n](javascript:x)")
    mails = {"written": post_of(WRITTEN), "hostile": post_of(HOSTILE, hostile), "long": post_of(LONG)}
    acts: list[object] = []
    chromium = launch(playwright_driver)
    context = chromium.new_context(viewport={"width": 600, "height": 500}, color_scheme=scheme)  # type: ignore[arg-type]
    for name, post in mails.items():
        page = context.new_page()
        page.on("request", lambda request: acts.append(request))
        page.on("dialog", lambda dialog: acts.append(dialog))
        page.set_content(html_mail(post, is_repeat=name == "hostile"))
        contrast = page.evaluate(CONTRAST.replace("main *", f".page {', .page '.join(SHOWN)}"))

        assert acts == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 600
        assert contrast >= 4.5
        if folder := os.environ.get("PICTURES"):
            page.screenshot(path=Path(folder) / f"mail-{name}-{scheme}.png", full_page=True)
    chromium.close()
