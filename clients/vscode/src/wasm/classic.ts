// Hides from Pyodide that this is a classic worker. Pyodide refuses classic workers because
// it loads its parts as modules; here the parts are bundled, and an extension of VS Code in a
// browser can make no other workers. Must be imported first.

Object.assign(globalThis, { importScripts: undefined });
