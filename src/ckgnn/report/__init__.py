"""Figures: arrays in, a matplotlib Figure out; :func:`save` writes it."""

from __future__ import annotations

from ckgnn.report.curves import training_curves
from ckgnn.report.files import save
from ckgnn.report.histograms import kernel_histograms
from ckgnn.report.illustration import illustration
from ckgnn.report.panels import kernel_panels
from ckgnn.report.run import run_figures

__all__ = ["illustration", "kernel_histograms", "kernel_panels", "run_figures", "save", "training_curves"]
