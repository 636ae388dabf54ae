"""Clusters that are drained for real: made on the control plane, analysed, and emptied by the printed commands."""
