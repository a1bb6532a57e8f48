"""Data for tests and studies: generators, corruption, loaders."""

from s2mam.datasets.adni import load_adni
from s2mam.datasets.agedb import load_agedb
from s2mam.datasets.celeba import load_celeba
from s2mam.datasets.coil20 import load_coil20_images
from s2mam.datasets.corrupt import corrupt, hide_labels
from s2mam.datasets.harder import (
    make_correlated_regression,
    make_duplicated_regression,
    make_heavy_tailed_regression,
    make_interaction_regression,
    make_wide_regression,
)
from s2mam.datasets.harder_classes import (
    make_imbalanced_classification,
    make_multiclass_additive,
    make_noisy_label_classification,
)
from s2mam.datasets.images import ImageTable
from s2mam.datasets.info import info, list_datasets
from s2mam.datasets.load import load
from s2mam.datasets.registry import DatasetInfo
from s2mam.datasets.synthetic import (
    make_additive_classification,
    make_additive_regression,
    make_friedman,
    make_moons,
)

__all__ = [
    "DatasetInfo",
    "ImageTable",
    "corrupt",
    "hide_labels",
    "info",
    "list_datasets",
    "load",
    "load_adni",
    "load_agedb",
    "load_celeba",
    "load_coil20_images",
    "make_additive_classification",
    "make_additive_regression",
    "make_correlated_regression",
    "make_duplicated_regression",
    "make_friedman",
    "make_heavy_tailed_regression",
    "make_imbalanced_classification",
    "make_interaction_regression",
    "make_moons",
    "make_multiclass_additive",
    "make_noisy_label_classification",
    "make_wide_regression",
]
