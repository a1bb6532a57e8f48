"""The command line: ``s2mam fit``, ``predict``, ``report``, ``info``, ``demo``, ``bench``, ..."""

from s2mam.cli.app import app, main

__all__ = ["app", "main"]
