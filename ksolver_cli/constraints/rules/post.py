"""All rules on counts of a cluster's classes."""

from ksolver_cli.constraints.rules.affinity import affinity_rules
from ksolver_cli.constraints.rules.hosts import disk_rules, gang_rules, port_rules
from ksolver_cli.constraints.rules.spread import spread_rules
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.rules import Rule


def rules(cluster: Cluster, classes: Classes) -> tuple[Rule, ...]:
    """What the families demand of how many pods of which class share a domain, each rule with the object behind it.

    Whenever the rules hold, Filter lets the next pod onto a node exactly where capacity, static feasibility and each
    rule, asked about the counts at that moment, let it. Hence:

    - Cap and Exclude hold in every state that the scheduler reaches from one in which they hold.
    - Require and Spread bind the moment a pod is placed; what goes or comes later may leave them unmet.
    - Gang is no Filter rule: pods that share a ReadWriteOnce volume cannot start on two nodes, though Filter lets them.

    Rules on hosts have the key kubernetes.io/hostname. A node without it is in no domain, which loosens port and disk
    rules there; the referee judges such nodes as they are.
    """
    return (
        *affinity_rules(cluster, classes),
        *spread_rules(classes),
        *port_rules(classes),
        *disk_rules(classes),
        *gang_rules(cluster, classes),
    )
