"""ONNX text: what a model's network makes of a text, or of two texts together, read one at a time on one thread.

fastembed runs such a model too, and loads what it has for images and for the hub with it: 39 MB and 0.3 s of CPU in
every daemon. It still runs what only it knows: static models, and models by its own names.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from helix.errors import ModelError
from helix.providers.embedder import Vectors

_THREADS = 1
"""Of the runtime for one text: its threads spin while they wait for each other; `WorkerPool` has a text per core."""


class OnnxText:
    """The tokenizer and the network in a model's folder; several threads may ask at once."""

    def __init__(self, folder: Path, model_file: str, max_tokens: int) -> None:
        """Load both; whatever the two libraries raise is for the caller to name."""
        # 25 MB that a lexical-only store and every short command do without.
        from onnxruntime import InferenceSession, SessionOptions
        from tokenizers import Tokenizer

        options = SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = _THREADS
        options.enable_cpu_mem_arena = False  # it keeps 40 MB once a long text was read, and makes nothing faster
        self._network = InferenceSession(str(folder / model_file), options, providers=["CPUExecutionProvider"])
        self._inputs = [one.name for one in self._network.get_inputs()]
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        cut = self._tokenizer.truncation or {}
        self._tokenizer.enable_truncation(max_tokens, direction=cut.get("direction", "right"))

    def output(self, text: str, beside: str | None = None) -> Vectors:
        """Return the model's first output for a text or a pair, float32 (tokens, dimension) or (labels,).

        Raises ModelError for a text that the tokenizer cannot read.
        """
        try:
            (read,) = self._tokenizer.encode_batch([text if beside is None else (text, beside)])
        except BaseException as error:
            if isinstance(error, Exception | KeyboardInterrupt | SystemExit):
                raise
            # A panic of the library's, such as a pattern of the model's that gives up, is no Exception.
            raise ModelError(f"the model's tokenizer cannot read a text: {error}") from error
        given = {"input_ids": read.ids, "attention_mask": read.attention_mask, "token_type_ids": read.type_ids}
        rows = {name: np.array([given[name]], np.int64) for name in self._inputs}
        return np.asarray(self._network.run(None, rows)[0][0], np.float32)
