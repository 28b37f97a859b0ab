// The errors between a host and the sidecar. A *provider's* mistake is never an error here: it
// is an `error` or `diagnostic` event of the stream.
//
// `kind` is for programs, `message` for people; `retryable`: the same call may succeed later.
// An error answer of the sidecar is a `RefusedError`, with its code.

import type { ErrorData, ResponseError } from "./protocol.js";

export interface ErrorOptions {
  readonly cause?: unknown;
  readonly retryable?: boolean;
}

/** The base of all errors of this package. */
export class SidecarError extends Error {
  readonly kind: string;
  readonly retryable: boolean;

  constructor(kind: string, message: string, { cause, retryable = false }: ErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.kind = kind;
    this.retryable = retryable;
  }
}

/** The sidecar refused a request; protocol.md, "Errors", describes `data`. */
export class RefusedError extends SidecarError {
  readonly code: number;
  readonly data: ErrorData & Record<string, unknown>;

  constructor({ code, message, data }: Partial<ResponseError> & { message: string }) {
    const known = { kind: "unknown", retryable: false, ...data };
    super(known.kind, message, { retryable: known.retryable });
    this.code = code ?? 0;
    this.data = known;
  }
}

/** A command that was tried to start the sidecar, and its error. */
export interface Attempt {
  readonly command: readonly string[];
  readonly error: Error;
}

/** A Python that was found: "3.10" at "/usr/bin/python3". */
export interface FoundPython {
  readonly version: string;
  readonly path: string;
}

export type PythonProblem = "python-missing" | "python-too-old" | "package-missing";

/** The sidecar cannot be started, or has crashed too often to be restarted now. */
export class SidecarUnavailable extends SidecarError {
  readonly attempts: readonly Attempt[];
  /** The problem with the Pythons that were tried; undefined if the problem is another. */
  readonly problem: PythonProblem | undefined;
  /** The Python that is too old, or that cannot run the sidecar. */
  readonly python: FoundPython | undefined;

  constructor(
    message: string,
    attempts: readonly Attempt[],
    cause?: unknown,
    problem?: { readonly kind: PythonProblem; readonly python?: FoundPython | undefined },
  ) {
    super("sidecar-unavailable", message, { cause, retryable: true });
    this.attempts = attempts;
    this.problem = problem?.kind;
    this.python = problem?.python;
  }
}

/** The sidecar has failed too often to be started again automatically; `restart()` starts it all the same. */
export class GaveUp extends SidecarUnavailable {
  /** After how many milliseconds it is started again at the next use; `Infinity`: never. */
  readonly retryAfterMs: number;

  constructor(last: unknown, retryAfterMs: number) {
    const { message, attempts, problem, python } = (last ?? {}) as Partial<SidecarUnavailable>;
    const next =
      retryAfterMs === Infinity
        ? "it is not started again"
        : `the next start is in ${Math.ceil(retryAfterMs / 1_000)} s`;
    const words = `the sidecar failed too often; ${next}, unless restart() is called; the last time: ${message ?? String(last)}`;
    super(words, attempts ?? [], last, problem && { kind: problem, python });
    this.retryAfterMs = retryAfterMs;
  }
}

/** The other side speaks another version of the protocol, or another protocol. */
export class UnsupportedProtocol extends SidecarError {
  /** The versions that it speaks; empty if it is not a stream-sidecar. */
  readonly supported: readonly number[];

  constructor(message: string, supported: readonly number[]) {
    super("unsupported-version", message);
    this.supported = supported;
  }
}

/** The connection to the sidecar is lost: the process ended, or did not speak the protocol. */
export class ConnectionLost extends SidecarError {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The last 64 kB that the process wrote to standard error. */
  readonly stderr: string;
  /** The connection was the host's and cannot be made again by the client: the host must make a new one. */
  readonly isFinal: boolean;

  constructor(
    message: string,
    { exitCode = null, signal = null, stderr = "", cause }: Partial<Ending> = {},
    isFinal = false,
  ) {
    super("connection-lost", message, { cause, retryable: true });
    this.exitCode = exitCode;
    this.signal = signal;
    this.stderr = stderr;
    this.isFinal = isFinal;
  }
}

export interface Ending {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stderr: string;
  readonly cause: unknown;
}

/** No answer within the time limit. A stream does not fail with it, but continues in the next process. */
export class RequestTimeout extends SidecarError {
  readonly method: string;
  readonly timeoutMs: number;

  /** `stderr`: the last line of standard error, if there is one. */
  constructor(method: string, timeoutMs: number, stderr = "") {
    const more = stderr === "" ? "" : `; standard error: ${stderr}`;
    super("request-timeout", `no answer to ${method} within ${timeoutMs} ms${more}`, { retryable: true });
    this.method = method;
    this.timeoutMs = timeoutMs;
  }
}

/** More requests wait than `maxQueuedRequests` allows. */
export class QueueFull extends SidecarError {
  constructor(limit: number) {
    super("queue-full", `${limit} requests are already waiting`, { retryable: true });
  }
}

/** The client was shut down. */
export class SidecarClosed extends SidecarError {
  constructor() {
    super("sidecar-closed", "the sidecar was shut down");
  }
}

/** The stream is closed already. */
export class StreamClosed extends SidecarError {
  constructor(streamId: string) {
    super("stream-closed", `stream "${streamId}" is closed`);
  }
}

/** The stream is being read by another `pipe`. */
export class StreamInUse extends SidecarError {
  constructor(streamId: string) {
    super("stream-in-use", `stream "${streamId}" is already piped; open a stream for each response`);
  }
}

/**
 * Why a stream could not continue in the next process: it had more chunks than are kept
 * (`replay-limit`), no sidecar can be started (`unavailable`), every process crashes or hangs on
 * this stream (`crashing`), the same chunks gave different events (`diverged`), or another
 * client closed the stream (`closed`).
 */
export type LossReason = "replay-limit" | "unavailable" | "crashing" | "diverged" | "closed";

/** An open stream is lost with its process; the events so far were right. */
export class StreamLost extends SidecarError {
  readonly reason: LossReason;
  readonly streamId: string;

  constructor(streamId: string, reason: LossReason, message: string, cause?: unknown) {
    super("stream-lost", `stream "${streamId}" is lost: ${message}`, { cause });
    this.reason = reason;
    this.streamId = streamId;
  }
}
