/** The URL of the folder with the files of this package. */
export declare const files: string;
/** The URL of the folder with Pyodide's files. */
export declare const pyodide: string;
