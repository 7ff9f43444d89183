"""One comment on a pull request at GitHub, which each run replaces."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

MARKER: Final = "<!-- dialect-playground: check-changed -->"
_SECONDS: Final = 30
_PAGE: Final = 100  # comments in each answer of GitHub


class Comments(NamedTuple):
    """The comments of one pull request: `address` is that of GitHub's API."""

    address: str
    repository: str  # owner/name
    number: int
    token: str

    @classmethod
    def of_this_job(cls) -> Comments:
        """Read the environment of a GitHub job. Raises InputFault if something is missing."""
        from playground.base.errors import InputFault

        values = {}
        for name in ("GITHUB_TOKEN", "GITHUB_REPOSITORY", "GITHUB_EVENT_PATH"):
            values[name] = os.environ.get(name, "")
            if not values[name]:
                raise InputFault(f"--comment without ${name}", expected="a job of GitHub Actions")
        path = Path(values["GITHUB_EVENT_PATH"])
        try:
            number = json.loads(path.read_bytes())["pull_request"]["number"]
        except (OSError, ValueError, KeyError, TypeError):
            problem = f"--comment: {path} names no pull request"
            raise InputFault(problem, expected="a job that runs on pull_request") from None
        address = os.environ.get("GITHUB_API_URL", "https://api.github.com")
        return cls(address, values["GITHUB_REPOSITORY"], int(number), values["GITHUB_TOKEN"])

    def put(self, text: str) -> str:
        """Write the comment, or replace that of an earlier run. Return in words what was done.

        If the job may not comment, as on a pull request from a fork, the words say so.
        """
        import httpx2

        body = f"{MARKER}\n{text}"
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        issues = f"/repos/{self.repository}/issues"
        try:
            with httpx2.Client(base_url=self.address, headers=headers, timeout=_SECONDS) as client:
                earlier = next(self._earlier(client, f"{issues}/{self.number}/comments"), None)
                if earlier is None:
                    place = f"{issues}/{self.number}/comments"
                    client.post(place, json={"body": body}).raise_for_status()
                    return "comment written"
                if earlier["body"] == body:
                    return "comment is up to date"
                place = f"{issues}/comments/{int(earlier['id'])}"
                client.patch(place, json={"body": body}).raise_for_status()
                return "comment replaced"
        except httpx2.HTTPStatusError as error:
            return f"no comment: GitHub answered {error.response.status_code}"
        except httpx2.HTTPError as error:
            return f"no comment: {type(error).__name__} at {self.address}"

    def _earlier(self, client: Any, place: str) -> Iterator[Mapping[str, Any]]:
        """Yield the comments of earlier runs, page by page of GitHub's answers."""
        page = 1
        while True:
            answer = client.get(place, params={"per_page": _PAGE, "page": page})
            comments = answer.raise_for_status().json()
            yield from (each for each in comments if (each["body"] or "").startswith(MARKER))
            if len(comments) < _PAGE:
                return
            page += 1
