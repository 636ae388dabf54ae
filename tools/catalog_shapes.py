"""Hardware facts that the price extracts do not carry: GCP machine families, and the GPUs of Azure and AWS sizes.

Every table is read from the providers' public machine type pages. A size that no rule here describes gets no shape: a
price without a shape is still a price, but fleet choice passes over it.
"""

import re
from dataclasses import dataclass, replace
from decimal import Decimal


@dataclass(frozen=True)
class Shape:
    """What a machine of one type has. `gpu_share` is the part of a card that one device of the type is."""

    vcpu: int
    memory_mib: int
    arch: str = "amd64"
    gpu: str = ""
    gpu_count: int = 0
    gpu_share: str = "1"
    accelerators: int = 0
    allocatable_millicores: int | None = None
    allocatable_memory_mib: int | None = None
    max_pods: int | None = None


# GiB for each vCPU, by family and class.
GCP_GIB_PER_VCPU = {
    ("c2", "standard"): "4",
    ("c2d", "highcpu"): "2",
    ("c2d", "highmem"): "8",
    ("c2d", "standard"): "4",
    ("c3", "highcpu"): "2",
    ("c3", "highmem"): "8",
    ("c3", "standard"): "4",
    ("c3d", "highmem"): "8",
    ("c3d", "standard"): "4",
    ("e2", "highcpu"): "1",
    ("e2", "highmem"): "8",
    ("e2", "standard"): "4",
    ("g2", "standard"): "4",
    ("h3", "standard"): "4",
    ("n1", "highcpu"): "0.9",
    ("n1", "highmem"): "6.5",
    ("n1", "standard"): "3.75",
    ("n2", "highcpu"): "1",
    ("n2", "highmem"): "8",
    ("n2", "standard"): "4",
    ("n2d", "highcpu"): "1",
    ("n2d", "highmem"): "8",
    ("n2d", "standard"): "4",
    ("n4", "highcpu"): "2",
    ("n4", "highmem"): "8",
    ("n4", "standard"): "4",
    ("t2a", "standard"): "4",
    ("t2d", "standard"): "4",
}
# Types that their family's rule does not describe: vCPU, GiB.
GCP_ODD = {
    "c3d-highcpu-16": (16, "32"),
    "c3d-highcpu-180": (180, "354"),
    "c3d-highcpu-30": (30, "59"),
    "c3d-highcpu-360": (360, "708"),
    "c3d-highcpu-4": (4, "8"),
    "c3d-highcpu-60": (60, "118"),
    "c3d-highcpu-8": (8, "16"),
    "c3d-highcpu-90": (90, "177"),
    "m1-megamem-96": (96, "1433.6"),
    "m1-ultramem-160": (160, "3844"),
    "m1-ultramem-40": (40, "961"),
    "m1-ultramem-80": (80, "1922"),
    "m2-hypermem-416": (416, "8832"),
    "m2-megamem-416": (416, "5888"),
    "m2-ultramem-208": (208, "5888"),
    "m2-ultramem-416": (416, "11776"),
    "m3-megamem-128": (128, "1952"),
    "m3-megamem-64": (64, "976"),
    "m3-ultramem-128": (128, "3904"),
    "m3-ultramem-32": (32, "976"),
    "m3-ultramem-64": (64, "1952"),
    "n2-highmem-128": (128, "864"),
}
# GPUs of the types that come with them: GPU, number, vCPU, GiB.
GCP_GPU = {
    "a2-highgpu-1g": ("a100-40gb", 1, 12, "85"),
    "a2-highgpu-2g": ("a100-40gb", 2, 24, "170"),
    "a2-highgpu-4g": ("a100-40gb", 4, 48, "340"),
    "a2-highgpu-8g": ("a100-40gb", 8, 96, "680"),
    "a2-megagpu-16g": ("a100-40gb", 16, 96, "1360"),
    "a2-ultragpu-1g": ("a100-80gb", 1, 12, "170"),
    "a2-ultragpu-2g": ("a100-80gb", 2, 24, "340"),
    "a2-ultragpu-4g": ("a100-80gb", 4, 48, "680"),
    "a2-ultragpu-8g": ("a100-80gb", 8, 96, "1360"),
    "a3-highgpu-1g": ("h100-80gb", 1, 26, "234"),
    "a3-highgpu-2g": ("h100-80gb", 2, 52, "468"),
    "a3-highgpu-4g": ("h100-80gb", 4, 104, "936"),
    "a3-highgpu-8g": ("h100-80gb", 8, 208, "1872"),
    "g2-standard-12": ("l4", 1, 12, "48"),
    "g2-standard-16": ("l4", 1, 16, "64"),
    "g2-standard-24": ("l4", 2, 24, "96"),
    "g2-standard-32": ("l4", 1, 32, "128"),
    "g2-standard-4": ("l4", 1, 4, "16"),
    "g2-standard-48": ("l4", 4, 48, "192"),
    "g2-standard-8": ("l4", 1, 8, "32"),
    "g2-standard-96": ("l4", 8, 96, "384"),
}
_GCP_TYPE = re.compile(r"(?P<family>[a-z]\w+)-(?P<klass>[a-z]+)-(?P<vcpu>\d+)(?P<disk>-lssd)?")


def _mib(gib: str) -> int:
    return int(Decimal(gib) * 1024)


def gcp_shape(machine_type: str) -> Shape | None:
    """The shape of a GCP machine type, or None where no rule is known.

    Shared-core types are left out: the kubelet sees more CPU than may be used.
    """
    if machine_type in GCP_GPU:
        gpu, count, vcpu, gib = GCP_GPU[machine_type]
        return Shape(vcpu, _mib(gib), gpu=gpu, gpu_count=count)
    if machine_type in GCP_ODD:
        vcpu, gib = GCP_ODD[machine_type]
        return Shape(vcpu, _mib(gib))
    match = _GCP_TYPE.fullmatch(machine_type)
    gib_per_vcpu = GCP_GIB_PER_VCPU.get((match["family"], match["klass"])) if match else None
    if match is None or gib_per_vcpu is None:
        return None
    vcpu = int(match["vcpu"])
    arch = "arm64" if match["family"] == "t2a" else "amd64"
    return Shape(vcpu, int(Decimal(gib_per_vcpu) * vcpu * 1024), arch)


# Azure names GPUs in the size; where a device is part of a card, how large a part.
AZURE_GPU = (
    (r"NC\d+r?s_v3", "v100-16gb"),
    (r"NC\d+as_T4_v3", "t4"),
    (r"NC\d+ads_A100_v4", "a100-80gb"),
    (r"NC\d+ads_A10_v4", "a10"),
    (r"NCC?\d+adi?s_H100_v5", "h100-nvl"),
    (r"ND40rs_v2", "v100-32gb"),
    (r"ND96asr_v4", "a100-40gb"),
    (r"ND96amsr_A100_v4", "a100-80gb"),
    (r"ND96isr_H100_v5", "h100-80gb"),
    (r"ND96isr_H200_v5", "h200"),
    (r"ND96isr?_MI300X_v5", "mi300x"),
    (r"NV\d+s_v[23]", "m60"),
    (r"NV\d+as_v4", "mi25"),
    (r"NV\d+adm?s_A10_v5", "a10"),
    (r"NV\d+adm?s_V710_v5", "v710"),
    (r"NG\d+adm?s_V620_v1", "v620"),
)
AZURE_SHARES = {
    "Standard_NV4as_v4": "1/8",
    "Standard_NV8as_v4": "1/4",
    "Standard_NV16as_v4": "1/2",
    "Standard_NV6ads_A10_v5": "1/6",
    "Standard_NV12ads_A10_v5": "1/3",
    "Standard_NV18ads_A10_v5": "1/2",
    "Standard_NV4ads_V710_v5": "1/6",
    "Standard_NV8ads_V710_v5": "1/3",
    "Standard_NV12ads_V710_v5": "1/2",
    "Standard_NG8ads_V620_v1": "1/4",
    "Standard_NG16ads_V620_v1": "1/2",
}
# The extract says 0 GPUs for these.
AZURE_GPU_COUNTS = {"Standard_ND96is_MI300X_v5": 8}


def azure_gpu(size: str, shape: Shape, listed_count: int) -> Shape:
    """The shape with its GPUs; NP sizes carry FPGAs, which the extract counts as GPUs."""
    name = size.removeprefix("Standard_")
    if name.startswith("NP"):
        return replace(shape, accelerators=listed_count)
    gpu = next((gpu for pattern, gpu in AZURE_GPU if re.fullmatch(pattern, name)), "")
    if not gpu:
        return replace(shape, gpu_count=listed_count)
    count = AZURE_GPU_COUNTS.get(size, max(listed_count, 1))
    return replace(shape, gpu=gpu, gpu_count=count, gpu_share=AZURE_SHARES.get(size, "1"))


AWS_GPU = {
    ("a100", 40960): "a100-40gb",
    ("a100", 81920): "a100-80gb",
    ("h100", 81920): "h100-80gb",
    ("v100", 32768): "v100-32gb",
}
# Named in the provider's pages, missing from the extract.
AWS_GPU_BY_FAMILY = {"p3": "v100-16gb"}
AWS_ACCELERATOR_FAMILIES = {"dl1"}


def aws_gpu(instance_type: str, shape: Shape, gpu_name: str, memory_mib: int | None) -> Shape:
    """The shape with its GPUs named by model and memory.

    A type with a GPU name and no GPU is sold with part of one (g6f, gr6f): one device, its share read from its memory.
    """
    family = instance_type.partition(".")[0]
    if family in AWS_ACCELERATOR_FAMILIES:
        return replace(shape, gpu_count=0, accelerators=shape.gpu_count)
    if family in AWS_GPU_BY_FAMILY:
        return replace(shape, gpu=AWS_GPU_BY_FAMILY[family])
    if not gpu_name or memory_mib is None:
        return shape
    gpu = AWS_GPU.get((gpu_name, memory_mib), gpu_name)
    if shape.gpu_count:
        return replace(shape, gpu=gpu)
    return replace(shape, gpu=gpu, gpu_count=1, gpu_share=f"1/{round(22888 / memory_mib)}")
