// The options of a host, and their defaults. Times are milliseconds, sizes bytes (a UTF-16 unit
// of a string counts as two); `Infinity` is no limit.

import {
  anything,
  callback,
  count,
  data,
  eitherOf,
  filled,
  finite,
  flag,
  limits,
  listOf,
  objectOf,
  oneOf,
  pause,
  policy,
  text,
  time,
} from "./checks.js";
import type { Checks } from "./checks.js";
import type { ConnectionLost } from "./errors.js";
import type { LimitsPatch, OpenParams, PolicyPatch } from "./protocol.js";
import { Warnings } from "./warnings.js";

/** Returns the text of a chunk, for streams without a sidecar. */
export type ReadText = (chunk: unknown, params: OpenParams) => string;

/** The state of the sidecar; `lost`: it could not be started, or was shut down. */
export type SidecarState = "idle" | "starting" | "running" | "restarting" | "lost";

export interface ClientOptions {
  /** How long an answer may take. Default: 30,000. */
  requestTimeoutMs?: number;
  /** How long an answer to `normalize`, `inspect` and `repair` may take: their work has no limit. Default: 300,000. */
  batchTimeoutMs?: number;
  /** How many requests may be in flight; further requests wait. Default: 64. */
  maxConcurrentRequests?: number;
  /** How many bytes the chunks of pushes in flight may have; a larger push is sent alone. Default: 16 MiB. */
  maxConcurrentBytes?: number;
  /**
   * How many requests may wait; a further request fails with `QueueFull`. Pipes and the ends of
   * streams always wait. Default: 1,024.
   */
  maxQueuedRequests?: number;
  /** How often a lost connection is made again. Default: 4 times in 180,000 ms, after 100, 200, 400 and 800 ms. */
  restarts?: { max?: number; windowMs?: number; delayMs?: number };
  /** How many bytes of chunks are kept, so that a stream survives a crash. Default: 16 MiB for each stream, 128 MiB for all. */
  replay?: { maxStreamBytes?: number; maxBytes?: number };
  /** How far `pipe` reads ahead while it waits for an answer. Default: 64 chunks, 1 MiB. */
  readAhead?: { maxChunks?: number; maxBytes?: number };
  /** Called whenever the connection is lost, for the host's log. */
  onLost?: (error: ConnectionLost) => void;
  /** Called with each new state of the sidecar. */
  onState?: (state: SidecarState) => void;
  /**
   * Called with what a host should know although no call failed, each once: a parameter that the
   * sidecar does not know, answers that pass uncleaned while nobody listens, an error that a
   * listener throws. Default: `console.warn`.
   */
  onWarning?: (message: string) => void;
}

/** Options for a connection of the host. */
export interface SharedOptions extends ClientOptions {
  /** The sidecar's result of `initialize`, whose version is checked. */
  initializeResult?: unknown;
}

/** Options for starting a sidecar, as a process or in a worker. */
export interface StartOptions extends ClientOptions {
  /** The level of the sidecar's log. Default: "warning". */
  logLevel?: "error" | "warning" | "info" | "debug";
  /** Called with everything that the sidecar writes to standard error, or logs in a worker, as it arrives. */
  onStderr?: (text: string) => void;
  /** Defaults for every stream (protocol.md, "Policy"). */
  policy?: PolicyPatch;
  /** Limits for the process and for every stream (protocol.md, "Limits"). */
  limits?: LimitsPatch;
  /** How long a start may take, including the answer to `initialize`. Default: 60,000. */
  startTimeoutMs?: number;
  /** How long a sidecar may take to exit at a shutdown. Default: 5,000. */
  shutdownTimeoutMs?: number;
  /**
   * What `openStream` does if the sidecar cannot be started. `true`: it returns a stream whose
   * text passes raw (strings unchanged, documents as JSON); `stream.passThrough` is true. A
   * function: the same, and the function returns the text of a chunk. `false`, the default: it
   * rejects with `SidecarUnavailable`.
   */
  passThrough?: boolean | ReadText;
}

export interface SidecarOptions extends StartOptions {
  /**
   * The command that starts the sidecar: a string is the path of a program (`--stdio` is added),
   * an array a whole command line. Default: the sidecar is looked for.
   */
  command?: string | readonly string[];
  /** A Python in which the sidecar is installed: `[python, "-I", "-m", "stream_sidecar"]`, else the same with `-P`. */
  python?: string;
  /** Whether `uvx` or `pipx` may download the package if no sidecar is installed. Default: false. */
  allowDownload?: boolean;
  /** Whether the sidecar may run as WebAssembly, if nothing else is found and `@stream-sidecar/wasm` is installed. Default: true. */
  allowWebAssembly?: boolean;
  /**
   * The process's working directory, which relative paths in the arguments of `command` start
   * from. Default: the folder of the host's program. The host's own working directory is never
   * the default, because its content may be untrusted.
   */
  cwd?: string;
  /** Variables that are added to the inherited environment. */
  env?: Readonly<Record<string, string>>;
  /** The names of the only variables that the process inherits. Default: all except PYTHONHOME. */
  inheritEnv?: readonly string[];
}

const MiB = 1 << 20;

/** All options of `ClientOptions` with their values. */
export function settled(options: ClientOptions) {
  const warnings = new Warnings(options.onWarning);
  return {
    requestTimeoutMs: options.requestTimeoutMs ?? 30_000,
    batchTimeoutMs: options.batchTimeoutMs ?? 300_000,
    maxConcurrentRequests: options.maxConcurrentRequests ?? 64,
    maxConcurrentBytes: options.maxConcurrentBytes ?? 16 * MiB,
    maxQueuedRequests: options.maxQueuedRequests ?? 1_024,
    restarts: { max: 4, windowMs: 180_000, delayMs: 100, ...given(options.restarts) },
    replay: { maxStreamBytes: 16 * MiB, maxBytes: 128 * MiB, ...given(options.replay) },
    readAhead: { maxChunks: 64, maxBytes: MiB, ...given(options.readAhead) },
    onLost: warnings.guarded("onLost", options.onLost),
    onState: warnings.guarded("onState", options.onState),
    warnings,
  };
}

/** The members that have a value. */
function given<T extends object>(options: T | null | undefined) {
  const found = Object.entries(options ?? {}).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(found) as { [K in keyof T]?: NonNullable<T[K]> };
}

export type Settings = ReturnType<typeof settled>;

/** The options, with a listener for standard error that never throws. */
export function guarded<T extends StartOptions>(options: T, { warnings }: Settings): T {
  return options.onStderr ? { ...options, onStderr: warnings.guarded("onStderr", options.onStderr) } : options;
}

const CLIENT: Checks<ClientOptions> = {
  requestTimeoutMs: time,
  batchTimeoutMs: time,
  maxConcurrentRequests: count(1),
  maxConcurrentBytes: count(1),
  maxQueuedRequests: count(0),
  restarts: objectOf({ max: count(0), windowMs: pause, delayMs: finite(pause) }),
  replay: objectOf({ maxStreamBytes: count(0), maxBytes: count(0) }),
  readAhead: objectOf({ maxChunks: count(1), maxBytes: count(1) }),
  onLost: callback,
  onState: callback,
  onWarning: callback,
};

export const SHARED: Checks<SharedOptions> = { ...CLIENT, initializeResult: anything };

export const START: Checks<StartOptions> = {
  ...CLIENT,
  logLevel: oneOf("error", "warning", "info", "debug"),
  onStderr: callback,
  policy,
  limits,
  startTimeoutMs: time,
  shutdownTimeoutMs: time,
  passThrough: eitherOf([callback, flag]),
};

export const SIDECAR: Checks<SidecarOptions> = {
  ...START,
  command: filled(eitherOf([listOf(text), text])),
  python: text,
  allowDownload: flag,
  allowWebAssembly: flag,
  cwd: text,
  env: data,
  inheritEnv: listOf(text),
};
