"""A data set from the first site that has it: UCI, OpenML, a public copy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sklearn.utils import Bunch

from s2mam.datasets.convert import convert
from s2mam.datasets.download import NoConnectionError, download
from s2mam.datasets.registry import DatasetInfo
from s2mam.datasets.routes import SITES, Route, all_routes
from s2mam.exceptions import InvalidInputError, S2MAMError

_DOWNLOADS = "downloads"


def fetch(facts: DatasetInfo, home: Path, mirrors: Mapping[str, str] | None = None) -> Bunch:
    """Fetch a data set, or say in one sentence why not.

    Files are kept below ``<home>/downloads`` and used again.

    Parameters
    ----------
    facts : DatasetInfo
        The data set.
    home : Path
        Folder of data sets.
    mirrors : mapping, optional
        Other addresses for the sites "uci", "openml" and "github".

    Returns
    -------
    Bunch
        As `convert` makes it, with ``origin``, the site.
    """
    sites = {**SITES, **(mirrors or {})}
    unknown = sites.keys() - SITES.keys()
    if unknown:
        raise InvalidInputError(f"mirrors names {sorted(unknown)}; known are {sorted(SITES)}.")
    troubles: dict[str, list[str]] = {}
    for site in _sites_of(facts):
        try:
            data = _fetch_from(site, facts, home / _DOWNLOADS, sites)
        except NoConnectionError as error:
            # Off line all sites have the same trouble, which is told once.
            troubles.setdefault(f"no connection, {error.reason}", []).append(site)
        except S2MAMError as error:
            troubles.setdefault(str(error).rstrip("."), []).append(site)
        else:
            data.origin = site
            return data
    told = "; ".join(f"{', '.join(where)}: {what}" for what, where in troubles.items())
    raise S2MAMError(by_hand(facts, home, f"could not be fetched ({told})"))


def by_hand(facts: DatasetInfo, home: Path, trouble: str | None = None) -> str:
    """One sentence: what went wrong, and how to get the data set without this function."""
    route = all_routes()[facts.name][0]
    return (
        f"The data set {facts.name!r} {trouble or 'is not on this machine'}: download "
        f"{_address(route, SITES)} elsewhere and put it at {_place(route, home / _DOWNLOADS)}, or "
        f"set S2MAM_DATA_HOME to a folder that has {facts.name}/data.npz."
    )


def _address(route: Route, sites: Mapping[str, str]) -> str:
    return sites[route.site] + quote(route.path, safe="/+")


def _place(route: Route, store: Path) -> Path:
    return store / route.site / Path(route.path)


def _sites_of(facts: DatasetInfo) -> list[str]:
    with_route = [route.site for route in all_routes().get(facts.name, ())]
    offers = {"openml"} if facts.openml_id is not None else set()
    return [site for site in SITES if site in offers or site in with_route]


def _fetch_from(site: str, facts: DatasetInfo, store: Path, sites: Mapping[str, str]) -> Bunch:
    if site == "openml":
        route, url = _openml_route(facts, store / site, sites[site])
    else:
        route = next(r for r in all_routes()[facts.name] if r.site == site)
        url = _address(route, sites)
    target = _place(route, store)
    content = download(url, target, checksum=route.checksum).read_bytes()
    try:
        return convert(content, route, facts)
    except InvalidInputError:
        if route.checksum is None:
            # Perhaps a page that says "try later": it must not be taken for the file next time.
            target.unlink()
        raise


def _openml_route(facts: DatasetInfo, store: Path, base: str) -> tuple[Route, str]:
    """OpenML describes a data set in one file and keeps the table in another."""
    path = download(f"{base}{facts.openml_id}", store / f"{facts.openml_id}.json")
    try:
        about = json.loads(path.read_bytes())["data_set_description"]
        name, url = about["name"], about["url"]
    except (ValueError, KeyError, TypeError) as error:
        path.unlink()
        raise S2MAMError(f"the description of data set {facts.openml_id} is unreadable") from error
    if name != facts.openml_name:
        raise S2MAMError(f"data set {facts.openml_id} is {name!r}, not {facts.openml_name!r}")
    target = about.get("default_target_attribute") or ""
    if not target or "," in target:
        raise S2MAMError(f"data set {facts.openml_id} has no single target")
    route = Route(
        site="openml",
        path=f"{facts.openml_id}.arff",
        checksum=about.get("md5_checksum"),
        format="arff",
        target=target,
        drop=(*_listed(about.get("ignore_attribute")), *_listed(about.get("row_id_attribute"))),
    )
    return route, url


def _listed(value: Any) -> list[str]:
    """OpenML gives one name as text and several as a list or with commas."""
    if value is None:
        return []
    return [part.strip() for part in (value.split(",") if isinstance(value, str) else value)]
