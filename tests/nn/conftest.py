"""Settings for all tests of layers and models."""

import pytest
import torch


@pytest.fixture(autouse=True)
def _same_weights() -> None:
    """Layers draw their weights from torch's own generator unless told otherwise."""
    torch.manual_seed(0)
