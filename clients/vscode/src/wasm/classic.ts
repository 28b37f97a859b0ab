// Takes from the worker what tells Pyodide that it is a classic one. Pyodide refuses these
// because it loads its parts as modules; here they are bundled with it, and classic workers
// are the only ones that an extension of VS Code in a browser can make. Comes first.

Object.assign(globalThis, { importScripts: undefined });
