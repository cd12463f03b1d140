"""The learned kernel: codes, kernel values, MMD, losses."""

from ckgnn.kernels.autoencoder import Affine, AutoEncoder
from ckgnn.kernels.fourier import fourier_features, fourier_means
from ckgnn.kernels.gaussian import edge_kernel, extreme_pairs, pair_kernel, scale_to_median
from ckgnn.kernels.kernel import LearnedKernel, oracle_kernel
from ckgnn.kernels.layers import ACTIVATIONS
from ckgnn.kernels.losses import final_loss, loss_d, loss_k, spread
from ckgnn.kernels.mmd import Classes, class_means, mmd2, mmd_sum, pairwise_loss
from ckgnn.kernels.reconstruction import dense_reconstruction_loss, reconstruction_loss
from ckgnn.kernels.watch import KernelWatch, edge_auc, verdict, watch

__all__ = [
    "ACTIVATIONS",
    "Affine",
    "AutoEncoder",
    "Classes",
    "KernelWatch",
    "LearnedKernel",
    "class_means",
    "dense_reconstruction_loss",
    "edge_auc",
    "edge_kernel",
    "extreme_pairs",
    "final_loss",
    "fourier_features",
    "fourier_means",
    "loss_d",
    "loss_k",
    "mmd2",
    "mmd_sum",
    "oracle_kernel",
    "pair_kernel",
    "pairwise_loss",
    "reconstruction_loss",
    "scale_to_median",
    "spread",
    "verdict",
    "watch",
]
