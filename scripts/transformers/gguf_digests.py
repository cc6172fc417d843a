"""SHA-256 of every tensor of a GGUF file, as the package gguf dequantises it to float32: python gguf_digests.py FILE OUT.json"""

import hashlib
import json
import sys
from pathlib import Path

import gguf
import numpy as np

digests = {}
for tensor in gguf.GGUFReader(sys.argv[1]).tensors:
    numbers = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
    digests[tensor.name] = hashlib.sha256(np.ascontiguousarray(numbers).tobytes()).hexdigest()
Path(sys.argv[2]).write_text(json.dumps(digests))
