"""A web site on this machine, and changes to what is known of the data sets."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

from s2mam.datasets.registry import registry
from s2mam.datasets.routes import all_routes


class _Handler(BaseHTTPRequestHandler):
    """Serves `site.files`; sends at most `site.cut` bytes, `site.ranges` and `site.length`."""

    def do_GET(self):
        site = self.server.site
        path = unquote(self.path.lstrip("/"))
        site.asked.append((path, self.headers.get("Range")))
        if path not in site.files:
            self.send_error(404)
            return
        content, status = site.files[path], 200
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        if asked and site.ranges:
            start = int(asked[1])
            if start >= len(content):
                self.send_error(416)
                return
            content, status = content[start:], 206
        self.send_response(status)
        if site.length:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: site.cut])

    def log_message(self, *arguments):
        pass


class Site:
    """Files by path, and what was asked for."""

    def __init__(self):
        self.files, self.asked = {}, []
        self.ranges, self.length, self.cut = True, True, None
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self.server.site = self
        self.url = f"http://127.0.0.1:{self.server.server_port}/"

    @property
    def mirrors(self):
        return {site: f"{self.url}{site}/" for site in ("uci", "openml", "github")}


@pytest.fixture
def site():
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield site
    site.server.shutdown()
    site.server.server_close()
    thread.join()


@pytest.fixture
def known(monkeypatch):
    """Change facts and routes for one test: known(name, n_rows=3), checksums of routes go."""

    def change(name, **changes):
        monkeypatch.setitem(registry(), name, replace(registry()[name], **changes))
        routes = tuple(replace(route, checksum=None) for route in all_routes().get(name, ()))
        monkeypatch.setitem(all_routes(), name, routes)

    return change
