// The worker where there are processes, but neither a sidecar nor a Python.

import "./in-node.js";
import "./worker.js";
