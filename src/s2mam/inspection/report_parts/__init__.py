"""Pieces of the HTML report: facts, notices, scores, curves, and the page that shows them."""
