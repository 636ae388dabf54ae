"""Volume families: disk conflicts, attach limits, binding, zones; and which nodes a pod's volumes tie it to."""
