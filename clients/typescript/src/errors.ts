// What can go wrong between a host and the sidecar. What a *provider* does wrong is never
// one of these: it is an `error` or `diagnostic` event of the stream.
//
// `kind` is for programs, `message` for people; `retryable`: the same call may succeed
// later. An error that the sidecar answered with is a `RefusedError`, with its code.

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

/** The sidecar refused a request; `data` has what protocol.md, "Errors", says. */
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

/** One way that was tried to start the sidecar. */
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

/** The sidecar cannot be started, or has crashed too often to be started again now. */
export class SidecarUnavailable extends SidecarError {
  readonly attempts: readonly Attempt[];
  /** What is wrong with the Pythons that were tried; undefined: something else is. */
  readonly problem: PythonProblem | undefined;
  /** The Python that is too old, or that has no sidecar. */
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

/** The other side speaks another version of the protocol, or another protocol. */
export class UnsupportedProtocol extends SidecarError {
  /** Its versions; empty: it is no stream-sidecar. */
  readonly supported: readonly number[];

  constructor(message: string, supported: readonly number[]) {
    super("unsupported-version", message);
    this.supported = supported;
  }
}

/** The connection to the sidecar is gone: the process ended, or it spoke nonsense. */
export class ConnectionLost extends SidecarError {
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** The last 64 kB of what the process wrote to standard error. */
  readonly stderr: string;
  /** It was a connection of the host's, and nobody answers on it: it takes another one. */
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

/** No answer within the time that the client allows; a stream goes on in the next process instead. */
export class RequestTimeout extends SidecarError {
  readonly method: string;
  readonly timeoutMs: number;

  /** `said`: what came in place of an answer, if anything did. */
  constructor(method: string, timeoutMs: number, said = "") {
    const more = said === "" ? "" : `; it wrote: ${said}`;
    super("request-timeout", `no answer to ${method} within ${timeoutMs} ms${more}`, { retryable: true });
    this.method = method;
    this.timeoutMs = timeoutMs;
  }
}

/** More requests wait than `maxQueuedRequests` allows. */
export class QueueFull extends SidecarError {
  constructor(limit: number) {
    super("queue-full", `${limit} requests are waiting already`, { retryable: true });
  }
}

/** The client was shut down. */
export class SidecarClosed extends SidecarError {
  constructor() {
    super("sidecar-closed", "the sidecar was shut down");
  }
}

/** The stream was closed before. */
export class StreamClosed extends SidecarError {
  constructor(streamId: string) {
    super("stream-closed", `stream "${streamId}" is closed`);
  }
}

/**
 * Why a stream could not be carried over: more chunks than are kept (`replay-limit`), a
 * sidecar that cannot be had (`unavailable`), one that crashes or hangs on this very stream
 * (`crashing`) or that makes other events of the same chunks (`diverged`), or somebody
 * else closed it (`closed`).
 */
export type LossReason = "replay-limit" | "unavailable" | "crashing" | "diverged" | "closed";

/** An open stream is gone with the process that had it; the events so far were right. */
export class StreamLost extends SidecarError {
  readonly reason: LossReason;
  readonly streamId: string;

  constructor(streamId: string, reason: LossReason, message: string, cause?: unknown) {
    super("stream-lost", `stream "${streamId}" is lost: ${message}`, { cause });
    this.reason = reason;
    this.streamId = streamId;
  }
}
