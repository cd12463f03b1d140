"""Settings for all tests of layers and models."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True, scope="package")
def _one_thread() -> Iterator[None]:
    """Threads cost more than they bring on matrices this small."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def _same_weights() -> None:
    """Layers draw their weights from torch's own generator unless told otherwise."""
    torch.manual_seed(0)
