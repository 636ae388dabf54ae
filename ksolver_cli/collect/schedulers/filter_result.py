"""Results that kube-scheduler-simulator writes on a pod: which plugin said what of which node."""

from collections.abc import Mapping

import orjson

from ksolver_cli.snapshot.model import RawObject

PREFIX = "kube-scheduler-simulator.sigs.k8s.io/"
SELECTED_NODE = PREFIX + "selected-node"
FILTER_RESULT = PREFIX + "filter-result"
PASSED = "passed"


def filter_result(pod: RawObject, node_name: str) -> tuple[str, ...] | None:
    """Objections to the node as `Plugin: words`; empty when every plugin passed, None when nothing is recorded."""
    annotations = _annotations(pod)
    if annotations.get(SELECTED_NODE) == node_name:
        return ()
    recorded = _parsed(annotations.get(FILTER_RESULT))
    plugins = recorded.get(node_name) if recorded is not None else None
    if not isinstance(plugins, Mapping) or not plugins:
        return None
    return tuple(f"{plugin}: {words}" for plugin, words in sorted(plugins.items()) if words != PASSED)


def _annotations(pod: RawObject) -> Mapping[str, object]:
    metadata = pod.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    return annotations if isinstance(annotations, Mapping) else {}


def _parsed(text: object) -> Mapping[str, object] | None:
    if not isinstance(text, str):
        return None
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    return document if isinstance(document, dict) else None
