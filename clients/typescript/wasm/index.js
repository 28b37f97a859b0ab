// Where the files of this package are, and those of Pyodide: URLs of folders.

export const files = new URL("./", import.meta.url).href;
export const pyodide = new URL("./", import.meta.resolve("pyodide")).href;
