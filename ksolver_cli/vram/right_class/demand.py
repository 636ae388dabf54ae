"""What a pod asks for beside its GPUs: a cheaper card comes in a machine with other CPUs and memory."""

from dataclasses import dataclass

from ksolver_cli.catalog.tables import InstanceShape
from ksolver_cli.domain.gpu_workload.containers import gpu_count
from ksolver_cli.domain.gpu_workload.raw import RawObject
from ksolver_cli.domain.quantity import QuantityError
from ksolver_cli.normalise.fields import Field, FieldError
from ksolver_cli.normalise.pods.requests import read_resources, rounded

_MILLIS = 1_000


@dataclass(frozen=True)
class Demand:
    """Effective requests of a pod, in millicores and bytes, and its whole GPUs."""

    gpus: int
    millicores: int = 0
    memory_bytes: int = 0

    def fits_its_share_of(self, shape: InstanceShape) -> bool:
        """Tell whether a machine has the GPUs, and the pod takes no more of the rest than its GPUs' part of it.

        A pod that took more would leave GPUs of the machine without CPU or memory, and have to pay for them too. Where
        the provider's allocatable is not known, the machine's all counts.
        """
        if shape.whole_gpus < self.gpus:
            return False
        millicores = shape.allocatable_millicores or shape.vcpu * _MILLIS
        memory = shape.allocatable_memory_bytes or shape.memory_bytes
        return (
            self.millicores * shape.whole_gpus <= millicores * self.gpus
            and self.memory_bytes * shape.whole_gpus <= memory * self.gpus
        )


def demand_of(pod: RawObject) -> Demand | None:
    """Return what a pod asks for, as the scheduler counts it; None where that cannot be read."""
    try:
        found = rounded(read_resources(Field(pod)["spec"]).requests())
    except (FieldError, QuantityError):
        return None
    return Demand(gpu_count(pod), found.get("cpu", 0), found.get("memory", 0))
