"""One run as one HTML file that opens anywhere: no server, no network, nothing to install."""

from __future__ import annotations

from ckgnn.report.page.build import page
from ckgnn.report.page.others import Others, find_others

__all__ = ["Others", "find_others", "page"]
