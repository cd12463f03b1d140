"""Layers and models."""

from ckgnn.nn.ckgat import CKGAT
from ckgnn.nn.ckgat_conv import CKGATConv
from ckgnn.nn.ckgcn import CKGCN
from ckgnn.nn.ckgcn_conv import CKGCNConv
from ckgnn.nn.composite import Composite, composite
from ckgnn.nn.dropout import dropout
from ckgnn.nn.net import CompositeNet, Inputs, Output, Shared

__all__ = [
    "CKGAT",
    "CKGCN",
    "CKGATConv",
    "CKGCNConv",
    "Composite",
    "CompositeNet",
    "Inputs",
    "Output",
    "Shared",
    "composite",
    "dropout",
]
