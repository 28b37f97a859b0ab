// What `/health` says: whether answers are cleaned, the figures of the requests, and the memory of
// the processes.

import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import type { Sidecar } from "stream-sidecar";
import { phrase } from "./lines.js";
import type { Figures, Removed, Turns } from "./turns.js";

/** The status of a gateway. */
export interface Health {
  /** `ok`, or what is wrong. */
  readonly status: string;
  readonly requests: Figures;
  readonly removed: Removed;
  /** The resident memory of the gateway, in bytes. */
  readonly memoryBytes: number;
  readonly sidecars: readonly SidecarHealth[];
}

interface SidecarHealth {
  readonly state: Sidecar["state"];
  readonly pid?: number;
  /** The resident memory of the process and of those that it started, in bytes; absent where the system does not say. */
  readonly memoryBytes?: number;
}

/** `ok`, or how many of the sidecars are lost. */
export function statusOf(sidecars: readonly Pick<Sidecar, "state">[]): string {
  const lost = sidecars.filter(({ state }) => state === "lost").length;
  if (lost === 0) return "ok";
  return (lost === sidecars.length ? phrase("alone") : phrase("partly", `${lost} of ${sidecars.length}`)).text;
}

export async function healthOf(sidecars: readonly Sidecar[], { figures, removed }: Turns): Promise<Health> {
  const each = await Promise.all(sidecars.map(sidecarHealth));
  return {
    status: statusOf(sidecars),
    requests: figures,
    removed,
    memoryBytes: process.memoryUsage.rss(),
    sidecars: each,
  };
}

async function sidecarHealth({ state, pid }: Sidecar): Promise<SidecarHealth> {
  if (pid === undefined) return { state };
  const memoryBytes = await memoryOf(pid);
  return { state, pid, ...(memoryBytes !== undefined && { memoryBytes }) };
}

/** The resident memory of a process and its children in bytes: a wrapper (`uvx`) has the sidecar as its child. */
async function memoryOf(pid: number): Promise<number | undefined> {
  try {
    return await (process.platform === "linux" ? listedMemory(pid) : printedMemory(pid));
  } catch {
    return undefined; // Windows has no `ps`, or the process has just ended
  }
}

/** By `/proc`, because a small container has no `ps`. */
async function listedMemory(pid: number): Promise<number> {
  const [status, children] = await Promise.all([
    readFile(`/proc/${pid}/status`, "utf8"),
    readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => ""),
  ]);
  const own = Number(/^VmRSS:\s*(\d+)/m.exec(status)?.[1] ?? 0) * 1024;
  const others = await Promise.all(
    children
      .split(" ")
      .filter(Boolean)
      .map((child) => listedMemory(Number(child))),
  );
  return others.reduce((sum, each) => sum + each, own);
}

async function printedMemory(pid: number): Promise<number | undefined> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,rss="]);
  return memoryIn(stdout, pid);
}

/** The memory in the output of `ps`: lines of process, parent and kilobytes; undefined if the process is not there. */
export function memoryIn(printed: string, pid: number): number | undefined {
  const rows = printed.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  const own = rows.find(([id]) => id === pid)?.[2];
  if (own === undefined) return undefined;
  const children = rows.filter(([, parent]) => parent === pid).map(([id = 0]) => memoryIn(printed, id) ?? 0);
  return children.reduce((sum, each) => sum + each, own * 1024);
}
