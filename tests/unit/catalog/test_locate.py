"""Provider, place and capacity type are read, never assumed."""

import pytest

from ksolver_cli.catalog.facts import NodePricingFacts, PricingOptions
from ksolver_cli.catalog.locate import Whereabouts, is_virtual_node, locate
from ksolver_cli.catalog.selectors import parse_selector
from ksolver_cli.domain.money import CapacityType

TYPE = "node.kubernetes.io/instance-type"
ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"


def where(labels: dict[str, str], provider_id: str = "", **options: str) -> Whereabouts:
    return locate(NodePricingFacts("n", labels, provider_id), PricingOptions(**options))


@pytest.mark.parametrize(
    ("provider_id", "provider"),
    [
        ("aws:///us-east-1a/i-0", "aws"),
        ("gce://project/us-central1-a/name", "gcp"),
        ("azure:///subscriptions/x", "azure"),
        ("kind://docker/kind/kind", "kind"),
        ("digitalocean://1", "digitalocean"),
        ("eks-hybrid:///us-east-1/cluster/mi-0", "eks-hybrid"),
    ],
)
def test_provider_of_a_provider_id(provider_id: str, provider: str) -> None:
    assert where({}, provider_id).provider == provider


@pytest.mark.parametrize(
    ("label", "provider"),
    [
        ("eks.amazonaws.com/nodegroup", "aws"),
        ("karpenter.k8s.aws/instance-family", "aws"),
        ("cloud.google.com/gke-nodepool", "gcp"),
        ("kubernetes.azure.com/agentpool", "azure"),
    ],
)
def test_provider_of_a_label(label: str, provider: str) -> None:
    assert where({label: "x"}).provider == provider


@pytest.mark.parametrize(
    ("instance_type", "region", "provider"),
    [
        ("m5.xlarge", "eu-west-1", "aws"),
        ("u-12tb1.112xlarge", "us-gov-west-1", "aws"),
        ("Standard_D4s_v3", "westeurope", "azure"),
        ("n1-standard-4", "us-central1", "gcp"),
        # An OpenStack flavour is spelled like an AWS type; its region is not.
        ("m1.medium", "RegionOne", None),
        ("ecs.g6.large", "cn-hangzhou", None),
        ("bare-metal", "cellar", None),
    ],
)
def test_spelling_tells_the_provider_only_when_type_and_region_agree(
    instance_type: str, region: str, provider: str | None
) -> None:
    found = where({TYPE: instance_type, REGION: region})
    assert found.provider == provider
    assert bool(found.notes) == (provider is not None)


def test_a_provider_id_of_another_cloud_is_not_overruled_by_spelling() -> None:
    assert where({TYPE: "m1.medium", REGION: "us-east-1"}, "openstack:///uuid").provider == "openstack"


@pytest.mark.parametrize(
    ("zone", "provider_id", "region"),
    [
        ("us-east-1a", "aws:///x/i-0", "us-east-1"),
        ("us-gov-west-1b", "aws:///x/i-0", "us-gov-west-1"),
        ("us-central1-a", "gce://p/x/n", "us-central1"),
        ("us-central1-ai1a", "gce://p/x/n", "us-central1"),
        ("eastus-1", "azure:///x", "eastus"),
        ("eastus2-3", "azure:///x", "eastus2"),
        # A fault domain, not a zone; another cloud's zone; a zone ID.
        ("0", "azure:///x", None),
        ("use1-az1", "aws:///x/i-0", None),
        ("nova", "openstack:///x", None),
    ],
)
def test_region_of_a_zone_only_label(zone: str, provider_id: str, region: str | None) -> None:
    assert where({ZONE: zone}, provider_id).region == region


def test_old_labels_are_read() -> None:
    old = where(
        {
            "beta.kubernetes.io/instance-type": "m3.medium",
            "failure-domain.beta.kubernetes.io/region": "us-west-2",
            "failure-domain.beta.kubernetes.io/zone": "us-west-2a",
        },
        "aws:///us-west-2a/i-0",
    )
    assert (old.instance_type, old.region, old.zone) == ("m3.medium", "us-west-2", "us-west-2a")


def test_the_zone_in_a_provider_id_is_the_last_resort() -> None:
    assert where({}, "aws:///eu-west-1c/i-0").region == "eu-west-1"
    assert where({}, "gce://p/europe-west4-b/n").region == "europe-west4"
    assert where({REGION: "us-east-2"}, "aws:///us-east-1a/i-0").region == "us-east-2"


def test_no_region_is_ever_made_up() -> None:
    assert where({TYPE: "m5.xlarge"}, "aws:///i-0").region is None
    given = where({TYPE: "m5.xlarge"}, "aws:///i-0", region="eu-west-1")
    assert given.region == "eu-west-1"
    assert "eu-west-1" in given.notes[0]
    assert where({REGION: "us-east-1"}, "aws:///i-0", region="eu-west-1").region == "us-east-1"


@pytest.mark.parametrize(
    ("labels", "capacity"),
    [
        ({"karpenter.sh/capacity-type": "spot"}, CapacityType.SPOT),
        ({"karpenter.sh/capacity-type": "on-demand"}, CapacityType.ON_DEMAND),
        ({"karpenter.sh/capacity-type": "reserved"}, CapacityType.RESERVED),
        ({"eks.amazonaws.com/capacityType": "SPOT"}, CapacityType.SPOT),
        ({"eks.amazonaws.com/capacityType": "ON_DEMAND"}, CapacityType.ON_DEMAND),
        ({"eks.amazonaws.com/capacityType": "CAPACITY_BLOCK"}, CapacityType.RESERVED),
        ({"cloud.google.com/gke-spot": "true"}, CapacityType.SPOT),
        ({"cloud.google.com/gke-spot": "false"}, CapacityType.ON_DEMAND),
        ({"cloud.google.com/gke-preemptible": "true"}, CapacityType.SPOT),
        ({"kubernetes.azure.com/scalesetpriority": "spot"}, CapacityType.SPOT),
        ({"kubernetes.azure.com/scalesetpriority": "regular"}, CapacityType.ON_DEMAND),
        ({"lifecycle": "Ec2Spot"}, CapacityType.ON_DEMAND),
        ({}, CapacityType.ON_DEMAND),
    ],
)
def test_capacity_type(labels: dict[str, str], capacity: CapacityType) -> None:
    assert where(labels).capacity_type is capacity


def test_spot_by_a_label_of_ones_own() -> None:
    options = PricingOptions(spot_labels=(parse_selector("lifecycle=Ec2Spot"),))
    assert locate(NodePricingFacts("n", {"lifecycle": "Ec2Spot"}), options).capacity_type is CapacityType.SPOT
    assert locate(NodePricingFacts("n", {"lifecycle": "normal"}), options).capacity_type is CapacityType.ON_DEMAND


def test_on_demand_without_a_label_is_said_to_be_an_assumption_on_aws_only() -> None:
    assert "on-demand" in where({}, "aws:///us-east-1a/i-0").notes[-1]
    assert where({}, "gce://p/us-central1-a/n").notes == ()
    assert where({"karpenter.sh/capacity-type": "on-demand"}, "aws:///us-east-1a/i-0").notes == ()


@pytest.mark.parametrize("zone", ["us-east-1-bos-1a", "us-east-1-wl1-bos-wlz-1"])
def test_local_zones_are_told_apart(zone: str) -> None:
    assert where({ZONE: zone, REGION: "us-east-1"}, "aws:///x/i-0").local_zone
    assert not where({ZONE: "us-east-1a"}, "aws:///x/i-0").local_zone


@pytest.mark.parametrize(
    ("labels", "taints", "provider_id", "virtual"),
    [
        ({"type": "virtual-kubelet"}, (), "", True),
        ({}, ("virtual-kubelet.io/provider",), "", True),
        ({"eks.amazonaws.com/compute-type": "fargate"}, (), "", True),
        ({}, (), "aws:///us-east-1c/0a1b/fargate-ip-10-0-0-1.ec2.internal", True),
        ({"eks.amazonaws.com/compute-type": "ec2"}, (), "aws:///us-east-1a/i-0", False),
        ({"type": "worker"}, ("dedicated",), "", False),
    ],
)
def test_virtual_nodes(labels: dict[str, str], taints: tuple[str, ...], provider_id: str, virtual: bool) -> None:
    assert is_virtual_node(labels, taints, provider_id) is virtual
