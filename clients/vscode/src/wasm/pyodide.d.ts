// Pyodide's WebAssembly module, for which the package declares no types.

declare module "pyodide/pyodide.asm.mjs" {
  export default function createModule(settings: object): Promise<never>;
}
