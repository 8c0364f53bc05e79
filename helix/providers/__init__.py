"""The seams to models: embedding texts, and installing what that needs."""

from helix.processes import keep_quiet

keep_quiet()  # before anything here can load ONNX Runtime, which reads its variable at that moment and never again
