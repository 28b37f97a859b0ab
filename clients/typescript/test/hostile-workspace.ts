// A folder as anybody may have made it, for the tests of what is started for one.

import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
export const PYTHON = process.env["SIDECAR_TEST_PYTHON"] ?? join(ROOT, ".venv", "bin", "python");

/** A Python that looks there runs what is in it, which leaves a mark. */
export function hostileWorkspace(): { readonly folder: string; readonly mark: string } {
  const folder = mkdtempSync(join(tmpdir(), "workspace-"));
  const mark = join(folder, "ran");
  const program = `open(${JSON.stringify(mark)}, "a").write(__name__ + "\\n")\n`;
  for (const name of ["types", "sitecustomize", "usercustomize", "stream_sidecar"]) {
    writeFileSync(join(folder, `${name}.py`), program);
  }
  return { folder, mark };
}
