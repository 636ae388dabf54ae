"""How much memory a GPU has: by node, by product name, and the largest there is."""

from collections.abc import Mapping
from dataclasses import dataclass

from ksolver_cli.catalog.files import CatalogError
from ksolver_cli.catalog.gpus import gpu_named, gpu_product, plain_product
from ksolver_cli.catalog.tables import Catalog, bundled_catalog
from ksolver_cli.domain.gpu_workload.hints import parse_number
from ksolver_cli.domain.gpu_workload.raw import RawObject, annotations_of, labels_of

MIB = 2**20
GIB_IN_MIB = 1024

_BYTES_KEY = "ksolver.dev/gpu-vram-bytes"
_GIB_KEY = "ksolver.dev/gpu-vram-gib"
_GFD_MEMORY = "nvidia.com/gpu.memory"
# 288 GB of HBM3E: Blackwell Ultra and Instinct MI355X, the largest cards announced when this was written.
_LARGEST_KNOWN_MIB = 294_912


@dataclass(frozen=True)
class Cards:
    """The hardware catalog's GPUs; without a catalog nothing is known but the largest card."""

    catalog: Catalog | None

    @classmethod
    def bundled(cls) -> "Cards":
        """Return the cards of the catalogs that come with ksolver."""
        try:
            return cls(bundled_catalog())
        except CatalogError:
            return cls(None)

    def memory_mib(self, product: str | None) -> int | None:
        """Return the memory a node reports for a product at least, in MiB; None for products not known.

        `product` is a label of GPU feature discovery (`NVIDIA-H100-80GB-HBM3`, `…-SHARED`) or the exporter's
        `modelName` (with blanks). MIG devices have only their profile's part and answer None.
        """
        if self.catalog is None or not product or "-MIG-" in product:
            return None
        gpu = gpu_named(plain_product(product), self.catalog)
        return gpu.memory_low_mib if gpu is not None else None

    @property
    def largest_mib(self) -> int:
        """The memory of the largest card there is; no single GPU can be asked for more."""
        known = self.catalog.gpus.values() if self.catalog is not None else ()
        return max([_LARGEST_KNOWN_MIB, *(gpu.memory_mib for gpu in known)])


def node_gpu_memory_mib(node: RawObject, cards: Cards) -> int | None:
    """Return the memory per GPU of a node in MiB; None where nothing tells it (such a node stays eligible).

    In order: `ksolver.dev/gpu-vram-bytes` and `ksolver.dev/gpu-vram-gib` (annotation or label), `nvidia.com/gpu.memory`
    (MiB, GPU feature discovery), then the hardware catalog by product.
    """
    labels = labels_of(node)
    told = _told({**labels, **annotations_of(node)})
    if told is not None:
        return told
    discovered = _positive(labels.get(_GFD_MEMORY))
    return int(discovered) if discovered is not None else cards.memory_mib(gpu_product(labels))


def _told(facts: Mapping[str, str]) -> int | None:
    in_bytes, in_gib = _positive(facts.get(_BYTES_KEY)), _positive(facts.get(_GIB_KEY))
    if in_bytes is not None:
        return int(in_bytes // MIB)
    return int(in_gib * GIB_IN_MIB) if in_gib is not None else None


def _positive(text: str | None) -> float | None:
    number = parse_number(text) if text is not None else None
    return number if number is not None and number > 0 else None
