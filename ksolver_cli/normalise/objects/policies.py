"""Namespaces, disruption budgets, services and priority classes."""

from ksolver_cli.domain.cluster import DisruptionBudget
from ksolver_cli.domain.labels import Labels, LabelSelector
from ksolver_cli.normalise.fields import Field, FieldError, Problems, Raw, object_name
from ksolver_cli.normalise.selectors import read_equality_selector, read_selector

_POLICIES = frozenset({"IfHealthyBudget", "AlwaysAllow"})
NAME_LABEL = "kubernetes.io/metadata.name"


def read_namespace(raw: Field) -> tuple[str, Labels]:
    """Name and labels of a namespace, with the name label that the API server sets on every one."""
    metadata = raw["metadata"]
    name = metadata["name"].some_text()
    return name, {NAME_LABEL: name} | metadata["labels"].text_map()


def read_service(raw: Field) -> tuple[str, LabelSelector] | None:
    """(namespace, selector) of a Service; None for one without a selector."""
    selector = read_equality_selector(raw["spec"]["selector"])
    return None if selector is None else (raw["metadata"]["namespace"].text() or "default", selector)


def read_priority_class(raw: Field) -> tuple[str, int]:
    """Name and value of a PriorityClass."""
    return raw["metadata"]["name"].some_text(), raw["value"].whole()


def read_budgets(raws: tuple[Raw, ...], problems: Problems) -> tuple[DisruptionBudget, ...]:
    """PodDisruptionBudgets. One that cannot be read counts as allowing nothing, for it must not look like consent."""
    found = []
    for index, raw in enumerate(raws):
        try:
            found.append(read_budget(Field(raw)))
        except FieldError as error:
            problems.bad_object("PodDisruptionBudget", object_name(raw, index), error)
            found.extend(_strictest(Field(raw)))
    return tuple(found)


def read_budget(raw: Field) -> DisruptionBudget:
    """A PodDisruptionBudget. Raises FieldError."""
    metadata, spec, status = raw["metadata"], raw["spec"], raw["status"]
    return DisruptionBudget(
        namespace=metadata["namespace"].text() or "default",
        name=metadata["name"].some_text(),
        selector=_budget_selector(raw),
        min_available=_count_or_share(spec["minAvailable"]),
        max_unavailable=_count_or_share(spec["maxUnavailable"]),
        disruptions_allowed=status["disruptionsAllowed"].maybe_whole(),
        current_healthy=status["currentHealthy"].maybe_whole(),
        desired_healthy=status["desiredHealthy"].maybe_whole(),
        expected_pods=status["expectedPods"].maybe_whole(),
        always_allow_unhealthy=spec["unhealthyPodEvictionPolicy"].one_of(_POLICIES, "IfHealthyBudget") == "AlwaysAllow",
    )


def _budget_selector(raw: Field) -> LabelSelector | None:
    """The selector; an empty one selects every pod in policy/v1 and none in policy/v1beta1."""
    selector = read_selector(raw["spec"]["selector"])
    if raw["apiVersion"].text() == "policy/v1beta1" and selector == LabelSelector():
        return None
    return selector


def _strictest(raw: Field) -> list[DisruptionBudget]:
    """A budget that lets nothing go: over the pods it selects, or over its namespace where even that cannot be read."""
    try:
        namespace, name = raw["metadata"]["namespace"].text() or "default", raw["metadata"]["name"].some_text()
    except FieldError:
        return []
    try:
        selector = _budget_selector(raw)
    except FieldError:
        selector = LabelSelector()
    return [DisruptionBudget(namespace, name, selector, max_unavailable="0", disruptions_allowed=0)]


def _count_or_share(field: Field) -> str | None:
    """An IntOrString: a count that is not negative, or a share such as `30%`."""
    if field.absent:
        return None
    if isinstance(field.value, str):
        digits = field.value.removesuffix("%")
        if digits == field.value or not (digits.isascii() and digits.isdigit()) or len(digits) > 9:
            raise field.bad("a count or a percentage")
        return field.value
    return str(field.natural())
