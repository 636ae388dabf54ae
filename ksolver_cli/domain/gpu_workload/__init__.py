"""What a pod says about the GPU memory it will use: its GPU container, fingerprint and hints.

Standard library only, so that redaction can take these facts before it drops command lines and env values.
"""
