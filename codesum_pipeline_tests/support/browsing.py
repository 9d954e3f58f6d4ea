"""What tests of pages in a browser have in common."""

import os
import re
from pathlib import Path
from typing import Any

PHONE = {"width": 360, "height": 740}
# The least contrast of any text to what it stands on.
CONTRAST = r"""() => {
  const light = color => {
    const [r, g, b] = color.match(/[\d.]+/g).map(value => {
      const share = value / 255;
      return share <= .03928 ? share / 12.92 : ((share + .055) / 1.055) ** 2.4;
    });
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const ground = each => {
    for (let at = each; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (!color.endsWith(', 0)')) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  const isText = each => !each.closest('svg') || each.matches('svg text');
  const shown = [...document.querySelectorAll('main *')].filter(
    each => each.textContent.trim() && each.checkVisibility() && isText(each));
  return Math.min(...shown.map(each => {
    const style = getComputedStyle(each);
    const text = light(each.closest('svg') ? style.fill : style.color), behind = light(ground(each));
    return (Math.max(text, behind) + .05) / (Math.min(text, behind) + .05);
  }));
}"""


def take_picture(page: Any, name: str) -> None:
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=Path(folder) / f"{re.sub('[^a-z0-9]+', '-', name)[:80]}.png", full_page=True)


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.textContent || document.activeElement.name"))


def wait_for_end_of_answer(page: Any) -> None:
    """Wait until the answer that has begun is over, and another question may be asked."""
    page.get_by_role("button", name="Cancel").wait_for(state="hidden")


def typed(page: Any, text: str, shown: str) -> None:
    """Type into the field of the search once it has the focus, and wait for a hit of this name."""
    page.wait_for_function("document.activeElement.name === 'q'")
    page.keyboard.type(text, delay=15)
    page.locator(".hits h2 a", has_text=re.compile(f"^{shown}$")).wait_for()
