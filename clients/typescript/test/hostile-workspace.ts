// An untrusted folder, for the tests of processes that are started for it.

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
export const PYTHON = process.env["SIDECAR_TEST_PYTHON"] ?? join(ROOT, ".venv", "bin", "python");

/** A Python that imports from the folder runs its modules, which leave a mark. */
export function hostileWorkspace(): { readonly folder: string; readonly mark: string } {
  const folder = mkdtempSync(join(tmpdir(), "workspace-"));
  const mark = join(folder, "ran");
  const program = `open(${JSON.stringify(mark)}, "a").write(__name__ + "\\n")\n`;
  for (const name of ["types", "sitecustomize", "usercustomize", "stream_sidecar"]) {
    writeFileSync(join(folder, `${name}.py`), program);
  }
  return { folder, mark };
}
