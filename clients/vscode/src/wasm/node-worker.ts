// The worker for a VS Code with processes, but without a sidecar and without a Python.

import "./in-node.js";
import "./worker.js";
