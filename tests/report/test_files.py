from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from ckgnn.report import illustration, kernel_histograms, save
from ckgnn.report.files import DPI


def test_both_files_are_written_with_the_right_size_and_nothing_else(tmp_path: Path) -> None:
    figure = illustration()
    paths = save(figure, tmp_path / "deep" / "fig.v1")
    assert [p.name for p in paths] == ["fig.v1.png", "fig.v1.svg"]
    assert sorted(p.name for p in (tmp_path / "deep").iterdir()) == ["fig.v1.png", "fig.v1.svg"]
    with Image.open(paths[0]) as image:
        image.load()
        assert image.size == tuple(int(v * DPI) for v in figure.get_size_inches())
    assert "<svg" in paths[1].read_text(encoding="utf-8")


def test_the_same_data_give_the_same_bytes(tmp_path: Path) -> None:
    k = np.random.default_rng(0).random(50)
    first = save(kernel_histograms(k, k / 2, "t"), tmp_path / "a")
    second = save(kernel_histograms(k, k / 2, "t"), tmp_path / "b")
    for one, two in zip(first, second, strict=True):
        assert one.read_bytes() == two.read_bytes()
    assert b"<dc:date>" not in first[1].read_bytes()


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fig.png").write_bytes(b"old")

    def broken(_handle: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", broken)
    with pytest.raises(OSError, match="disk full"):
        save(Figure(), tmp_path / "fig")
    assert [p.name for p in tmp_path.iterdir()] == ["fig.png"]
    assert (tmp_path / "fig.png").read_bytes() == b"old"


def test_settings_of_the_caller_survive(tmp_path: Path) -> None:
    before = dict(matplotlib.rcParams)
    save(kernel_histograms([0.5], [0.2], "price: $5 and $6"), tmp_path / "fig")
    assert dict(matplotlib.rcParams) == before
