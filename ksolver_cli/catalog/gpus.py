"""GPUs by the many names that labels give them."""

import re
from collections.abc import Mapping

from ksolver_cli.catalog.tables import Catalog, Gpu, GpuCard

PRODUCT = "nvidia.com/gpu.product"
GKE_ACCELERATOR = "cloud.google.com/gke-accelerator"
_COUNT = "nvidia.com/gpu.count"
_REPLICAS = "nvidia.com/gpu.replicas"
# GPU feature discovery appends how a card is shared: `-MIG-1g.5gb`, `-SHARED`.
_SHARING = re.compile(r"-(MIG-.*|SHARED)$", re.IGNORECASE)


def plain_product(product: str) -> str:
    """The product label without how the card is shared, in lower case with dashes for spaces."""
    return re.sub(r"[\s_]+", "-", _SHARING.sub("", product.strip())).casefold()


def gpu_named(product: str, catalog: Catalog) -> Gpu | None:
    """The GPU of a product label, a managed service's accelerator label, or a plain name; None when not known."""
    name = catalog.gpu_spellings.get(plain_product(product)) or catalog.gpu_spellings.get(product.casefold())
    return catalog.gpus.get(name) if name else None


def gpu_product(labels: Mapping[str, str]) -> str | None:
    """The product that the labels name, as spelled there."""
    return labels.get(PRODUCT) or labels.get(GKE_ACCELERATOR) or labels.get("alibabacloud.com/gpu-card-model")


def physical_gpu_count(labels: Mapping[str, str], capacity: int) -> int | None:
    """Cards in a node, given `capacity`, what it offers of `nvidia.com/gpu`; None when it cannot be told.

    `nvidia.com/gpu.count` counts cards, but MIG devices under the *single* strategy (the product then ends in
    `-MIG-…`), and under *mixed* MIG it may be absent; time-slicing and MPS multiply the offer by `gpu.replicas`.
    """
    product = labels.get(PRODUCT, "")
    if "-MIG-" in product:
        return None
    counted = labels.get(_COUNT, "")
    if counted.isdecimal():
        return int(counted)
    if labels.get("nvidia.com/mig.strategy") == "mixed" and capacity == 0:
        return None
    replicas = labels.get(_REPLICAS, "1")
    if not replicas.isdecimal() or int(replicas) == 0 or capacity % int(replicas):
        return None
    return capacity // int(replicas)


def card_matches(card: str, product: str, catalog: Catalog) -> bool:
    """Whether a card as a person spells it (product label, TensorFusion model or full name, or a GPU of the catalog)
    is the product of a node. A GPU such as `a100-80gb` matches every card with it.
    """
    wanted, have = plain_product(card), plain_product(product)
    gpu = gpu_named(product, catalog)
    if wanted == have or (gpu is not None and wanted == gpu.name):
        return True
    return any(wanted == plain_product(c.model) and have == plain_product(c.full_name) for c in catalog.gpu_cards)


def bundled_card(product: str, catalog: Catalog) -> GpuCard | None:
    """The TensorFusion card whose full name or model is the product; the chart's row wins over the legacy list's."""
    have = plain_product(product)
    return next((c for c in catalog.gpu_cards if have in {plain_product(c.full_name), plain_product(c.model)}), None)
