// What a host may choose, and what happens when it does not. Times are milliseconds,
// sizes bytes (a UTF-16 unit of a string counts as two).

import type { ConnectionLost } from "./errors.js";
import type { LimitsPatch, OpenParams, PolicyPatch } from "./protocol.js";

/** The visible text of a chunk, for when there is no sidecar to find it. */
export type ReadText = (chunk: unknown, params: OpenParams) => string;

/** What the sidecar is doing; `lost`: it cannot be had, or was shut down. */
export type SidecarState = "idle" | "starting" | "running" | "restarting" | "lost";

export interface ClientOptions {
  /** Bounds the wait for an answer. 30,000. */
  requestTimeoutMs?: number;
  /** The same for `normalize`, `inspect` and `repair`, which do any amount of work. 300,000. */
  batchTimeoutMs?: number;
  /** Requests on their way at once; further ones wait. 64. */
  maxConcurrentRequests?: number;
  /** Bytes of the chunks of pushes on their way at once; a larger push goes alone. 16 MiB. */
  maxConcurrentBytes?: number;
  /**
   * Requests that may wait before further ones are refused with `QueueFull`; pipes and the
   * ends of streams wait in any case. 1,024.
   */
  maxQueuedRequests?: number;
  /** How often a lost connection is made again. 4 times in 180,000 ms, after 100, 200, 400 and 800 ms. */
  restarts?: { max?: number; windowMs?: number; delayMs?: number };
  /** Raw chunks that are kept so that a stream outlives a crash. 16 MiB a stream, 128 MiB in all. */
  replay?: { maxStreamBytes?: number; maxBytes?: number };
  /** How far `pipe` reads ahead while an answer is awaited. 64 chunks, 1 MiB. */
  readAhead?: { maxChunks?: number; maxBytes?: number };
  /** Called whenever the connection is lost, for the host's log. */
  onLost?: (error: ConnectionLost) => void;
  /** Called with each new state of the sidecar. */
  onState?: (state: SidecarState) => void;
}

/** What a sidecar is started with, as a process or in a worker. */
export interface StartOptions extends ClientOptions {
  /** What the sidecar logs. "warning". */
  logLevel?: "error" | "warning" | "info" | "debug";
  /** Called with what the sidecar writes to standard error, or logs in a worker, as it comes. */
  onStderr?: (text: string) => void;
  /** Defaults for every stream (protocol.md, "Policy"). */
  policy?: PolicyPatch;
  /** protocol.md, "Limits". */
  limits?: LimitsPatch;
  /** Bounds a start, up to the answer of `initialize`. 60,000. */
  startTimeoutMs?: number;
  /** How long a sidecar may take to end by itself. 5,000. */
  shutdownTimeoutMs?: number;
  /**
   * Work without a sidecar that cannot be started: text is handed through raw, flagged
   * by `stream.passThrough`. `true`: strings as they are, documents as JSON; a function
   * finds the text. false: `openStream` rejects with `SidecarUnavailable`.
   */
  passThrough?: boolean | ReadText;
}

export interface SidecarOptions extends StartOptions {
  /**
   * In place of looking for the sidecar: a string is the path of one program (`--stdio` is
   * added), an array a whole command line.
   */
  command?: string | readonly string[];
  /** A Python in which the sidecar is installed: `[python, "-I", "-m", "stream_sidecar"]`, else with `-P`. */
  python?: string;
  /** Let `uvx` or `pipx` fetch the package from the index when it is nowhere else. false. */
  allowDownload?: boolean;
  /** Run it as WebAssembly where the package `@stream-sidecar/wasm` is installed and nothing else is there. true. */
  allowWebAssembly?: boolean;
  /**
   * Where it works, and what relative paths in the arguments of `command` are below. The folder
   * of the program that runs: never the one that the host works in, which may be anybody's.
   */
  cwd?: string;
  /** Added to what the sidecar has of the environment of this process. */
  env?: Readonly<Record<string, string>>;
  /** The names of the variables that the sidecar has of this process's environment. All but PYTHONHOME. */
  inheritEnv?: readonly string[];
}

const MiB = 1 << 20;

/** All options of `ClientOptions` with their values. */
export function settled(options: ClientOptions) {
  return {
    requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
    batchTimeoutMs: options.batchTimeoutMs ?? 300_000,
    maxConcurrentRequests: options.maxConcurrentRequests ?? 64,
    maxConcurrentBytes: options.maxConcurrentBytes ?? 16 * MiB,
    maxQueuedRequests: options.maxQueuedRequests ?? 1_024,
    restarts: { max: 4, windowMs: 180_000, delayMs: 100, ...options.restarts },
    replay: { maxStreamBytes: 16 * MiB, maxBytes: 128 * MiB, ...options.replay },
    readAhead: { maxChunks: 64, maxBytes: MiB, ...options.readAhead },
    onLost: options.onLost ?? (() => {}),
    onState: options.onState ?? (() => {}),
  };
}

export type Settings = ReturnType<typeof settled>;
