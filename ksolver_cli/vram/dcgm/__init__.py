"""GPU memory as dcgm-exporter reports it and Prometheus relabels it."""
