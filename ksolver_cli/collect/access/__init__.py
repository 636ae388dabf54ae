"""How to reach an API server: kubeconfig or service account, credentials, trust, proxies."""
