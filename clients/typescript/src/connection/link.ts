// One connection to one sidecar, from the handshake to its loss. Every request settles: with its
// answer, with the sidecar's refusal, with RequestTimeout, with the reason of an AbortSignal, or
// with ConnectionLost. This module knows no streams and no restarts.

import { ConnectionLost, RefusedError, RequestTimeout, SidecarClosed } from "../errors.js";
import { tokenOf } from "../cancellation.js";
import type { Capabilities, Methods } from "../protocol.js";
import { after } from "../timer.js";

/** The part of a JSON-RPC connection that is needed: a MessageConnection, or a language client. */
export interface RpcConnection {
  sendRequest(method: string, params: unknown, token?: unknown): Promise<unknown>;
}

export interface RequestOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** The caller's time limit is short, so a late answer does not mean that the sidecar hangs. */
  readonly isHurried?: boolean | undefined;
  /** The caller can continue in the next process: if a late answer is a loss, it gets the loss. */
  readonly isResumable?: boolean | undefined;
}

export type Params<M extends string> = M extends keyof Methods ? Methods[M]["params"] : object;
export type Result<M extends string> = M extends keyof Methods ? Methods[M]["result"] : unknown;

export interface ServerInfo {
  readonly name: string;
  readonly version?: string;
}

type Settle = (error: Error) => void;

export class Link {
  readonly #connection: RpcConnection;
  readonly #pending = new Set<Settle>();
  #loss: ConnectionLost | undefined;
  #losing: ((loss: ConnectionLost) => void)[] = [];
  #isEnding = false;
  #hasAnswered = false;

  /** `capabilities`: the sidecar's capabilities, if they are known. */
  constructor(
    connection: RpcConnection,
    public capabilities?: Capabilities | undefined,
    public serverInfo?: ServerInfo | undefined,
  ) {
    this.#connection = connection;
  }

  get isLost(): boolean {
    return this.#loss !== undefined;
  }

  /** Calls `listener` when the connection is lost; immediately if it is lost already. */
  onLost(listener: (loss: ConnectionLost) => void): void {
    if (this.#loss) listener(this.#loss);
    else this.#losing.push(listener);
  }

  /** The connection is lost: all listeners and all waiting requests get `loss`, once. */
  lose(loss: ConnectionLost): void {
    if (this.#loss) return;
    this.#loss = loss;
    for (const listener of this.#losing.splice(0)) listener(loss);
    for (const fail of [...this.#pending]) fail(loss);
  }

  /** Accepts no more requests, and shuts the connection down if it is ours. */
  async end(): Promise<void> {
    this.#isEnding = true;
  }

  /** Called if an answer did not arrive in time. */
  protected timedOut(_error: RequestTimeout): void {}

  /** Called if a request could not be sent, or if its answer could not be read: the connection is lost. */
  protected broken(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    const isFinal = !this.#hasAnswered || CLOSED.has((error as { code?: unknown } | null)?.code);
    this.lose(new ConnectionLost(`the connection to the sidecar is lost: ${why}`, { cause: error }, isFinal));
  }

  request<M extends string>(method: M, params: Params<M>, options: RequestOptions): Promise<Result<M>> {
    const { timeoutMs, signal, isHurried, isResumable } = options;
    return new Promise((resolve, reject) => {
      if (this.#loss) return reject(this.#loss);
      if (this.#isEnding) return reject(new SidecarClosed());
      if (signal?.aborted) return reject(signal.reason as Error);
      const settled = () => {
        endWait();
        this.#pending.delete(fail);
        signal?.removeEventListener("abort", abort);
      };
      const fail: Settle = (error) => {
        settled();
        reject(error);
      };
      const abort = () => fail(signal?.reason as Error);
      const endWait = after(timeoutMs, () => {
        const error = new RequestTimeout(method, timeoutMs);
        if (!isResumable) fail(error);
        if (!isHurried) this.timedOut(error);
        fail(error); // no effect if the request has failed already
      });
      this.#pending.add(fail);
      const sent = this.#send(method, params, signal && tokenOf(signal)); // its listener for aborts is called first
      signal?.addEventListener("abort", abort, { once: true });
      sent.then(
        (result) => {
          this.#hasAnswered = true;
          settled();
          resolve(result as Result<M>);
        },
        (error: unknown) => {
          const refusal = this.#loss ?? refusalOf(error, params);
          this.#hasAnswered ||= refusal instanceof RefusedError;
          if (refusal) fail(refusal);
          else this.broken(error);
        },
      );
    });
  }

  /** `async`, because a closed connection throws instead of rejecting. */
  async #send(method: string, params: unknown, token: unknown): Promise<unknown> {
    return token === undefined
      ? this.#connection.sendRequest(method, params)
      : this.#connection.sendRequest(method, params, token);
  }
}

/** Why a request was refused, by the sidecar or because it is not JSON; undefined: the connection failed. */
function refusalOf(error: unknown, params: unknown): Error | undefined {
  const { code, message = String(error), data } = error as Partial<RefusedError>;
  if (code !== undefined && code < -30_000 && !LOST.has(code)) {
    return new RefusedError({ code, message, ...(data && { data }) });
  }
  if (canBeWritten(params)) return undefined;
  return new TypeError(`the params are not JSON: ${message}`, { cause: error });
}

/** Error codes that a host's connection (vscode-jsonrpc) makes itself if the other side does not answer. */
const LOST: ReadonlySet<number> = new Set([
  -32096, // inactive connection
  -32097, // pending response rejected
  -32098, // read error
  -32099, // write error, also for params that are not JSON
]);

/** Error codes of a connection of vscode-jsonrpc that is closed or disposed. */
const CLOSED: ReadonlySet<unknown> = new Set([1, 2]);

function canBeWritten(params: unknown): boolean {
  try {
    JSON.stringify(params);
    return true;
  } catch {
    return false;
  }
}
