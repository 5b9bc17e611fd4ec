"""Checks the built site: no link leads nowhere, and nothing is loaded from elsewhere.

    python docs/_extensions/check_site.py docs/_build/html

Links to other sites are allowed, and not followed. Scripts, styles, fonts and pictures have to be files of the site.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: What a browser loads by itself: the attribute of each element that says from where.
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "embed": "src"}
LOADING_LINKS = {"stylesheet", "preload", "prefetch", "preconnect", "dns-prefetch", "icon", "modulepreload"}
FOREIGN = re.compile(r"""(?:@import\s+|url\()\s*["']?(?:https?:)?//[^"')\s]+""")


class Page(HTMLParser):
    """The names and links of a page."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.names: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember what an element is called and where it leads."""
        values = {name: value or "" for name, value in attrs}
        self.names.update(values[name] for name in ("id", "name") if name in values)
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in LOADED and LOADED[tag] in values:
            if tag != "link" or LOADING_LINKS & set(values.get("rel", "").split()):
                self.loaded.append(values[LOADED[tag]])
            else:
                self.links.append(values["href"])


@cache
def read(path: Path) -> Page:
    """Return a page of the site."""
    return Page(path.read_text(encoding="utf-8"))


def problems(site: Path) -> Iterator[str]:
    """Yield what is wrong, a line each."""
    site = site.resolve()
    for path in sorted(set(site.rglob("*.html")) - set(site.glob("_static/**/*.html"))):  # a theme's templates
        where, page = path.relative_to(site), read(path)
        for link in page.loaded:
            if urlsplit(link).netloc:
                yield f"{where}: loads {link}"
            elif not link.startswith("data:"):
                yield from dead(site, path, link)
        for link in page.links:
            yield from dead(site, path, link)
    for path in sorted(site.rglob("*.css")):
        for found in FOREIGN.findall(path.read_text(encoding="utf-8", errors="replace")):
            yield f"{path.relative_to(site)}: loads {found}"


def dead(site: Path, path: Path, link: str) -> Iterator[str]:
    """Yield a line if a link into the site leads nowhere."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if site not in target.parents or not target.is_file():
        yield f"{path.relative_to(site)}: {link} leads nowhere"
    elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in read(target).names:
        yield f"{path.relative_to(site)}: {link} names a place that is not there"


def main(site: Path) -> int:
    """Print all problems; return 1 if there is one."""
    found = list(problems(site))
    print("\n".join(found) or f"{len(list(site.rglob('*.html')))} pages: no dead link, nothing loaded from elsewhere")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
