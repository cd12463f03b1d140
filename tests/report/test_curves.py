from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

from ckgnn.errors import RunError
from ckgnn.report import training_curves


def rows(n: int, *keys: str) -> list[dict[str, Any]]:
    return [{"epoch": i + 1, **dict.fromkeys(keys, (i + 1) / n)} for i in range(n)]


def line(ax: Axes, label: str) -> tuple[list[float], list[float]]:
    (found,) = [x for x in ax.lines if x.get_label() == label]
    return np.asarray(found.get_xdata()).tolist(), np.asarray(found.get_ydata()).tolist()


def test_a_kernel_model_has_four_panels_with_its_numbers() -> None:
    keys = ("train_loss", "val_loss", "train_accuracy", "val_accuracy", "k_inside", "k_across")
    figure = training_curves(rows(4, *keys), best_epoch=3, title="run")
    names = ["Training objective", "Validation loss", "Accuracy", "k on training edges"]
    assert [ax.get_title(loc="left") for ax in figure.axes] == names
    assert all(ax.get_title(loc="right") == "best: epoch 3" for ax in figure.axes)
    assert line(figure.axes[1], "validation") == ([1, 2, 3, 4], [0.25, 0.5, 0.75, 1.0])
    assert line(figure.axes[3], "inside a class")[1] == [0.25, 0.5, 0.75, 1.0]
    assert figure.get_suptitle() == "run"


def test_a_model_without_kernel_or_training_accuracy_has_two() -> None:
    figure = training_curves(rows(50, "train_loss", "val_loss", "val_accuracy"))
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["Loss", "Accuracy"]
    assert [x.get_label() for x in figure.axes[1].lines] == ["validation"]


def test_missing_values_leave_gaps() -> None:
    history = rows(5, "train_loss")
    history[2]["train_loss"] = None
    del history[3]["train_loss"]
    history[0]["k_inside"] = float("nan")
    figure = training_curves(history, best_epoch=3)
    assert len(figure.axes) == 1
    assert line(figure.axes[0], "training")[0] == [1, 2, 5]


@pytest.mark.parametrize("history", [[], [{"epoch": 1}]])
def test_nothing_to_draw_is_said(history: list[dict[str, Any]]) -> None:
    with pytest.raises(RunError, match="nothing to draw"):
        training_curves(history)
