// A JSON-RPC client: sends requests, and each gets its answer. Requests of the other side are
// refused, its notifications are ignored. This module knows no process and no timeouts.

import type { CancellationToken } from "../cancellation.js";
import { frameOf } from "./frames.js";

interface Pending {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

const METHOD_NOT_FOUND = -32_601;

export class MessageConnection {
  readonly #write: (frame: Uint8Array) => Promise<void>;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;

  /** `write` sends the bytes of one message; it rejects if they cannot be sent. */
  constructor(write: (frame: Uint8Array) => Promise<void>) {
    this.#write = write;
  }

  /** Returns the result. Rejects with the other side's error, with the error of writing, or with a TypeError. */
  async sendRequest(method: string, params?: unknown, token?: CancellationToken): Promise<unknown> {
    const id = ++this.#lastId;
    const frame = frameOf({ jsonrpc: "2.0", id, method, ...(params !== undefined && { params }) });
    const cancelled = token?.onCancellationRequested(() => {
      if (this.#pending.has(id)) this.sendNotification("$/cancelRequest", { id }).catch(() => {});
    });
    try {
      return await new Promise((resolve, reject) => {
        this.#pending.set(id, { resolve, reject });
        this.#write(frame).catch(reject);
      });
    } finally {
      this.#pending.delete(id);
      cancelled?.dispose();
    }
  }

  async sendNotification(method: string, params?: unknown): Promise<void> {
    await this.#write(frameOf({ jsonrpc: "2.0", method, ...(params !== undefined && { params }) }));
  }

  /** Handles a message of the other side. */
  receive(message: unknown): void {
    const { id, method, result, error } = (message ?? {}) as Message;
    if (method !== undefined) return id === undefined ? undefined : this.#refuse(id);
    const pending = this.#pending.get(id as number);
    if (error === undefined || error === null) pending?.resolve(result);
    else pending?.reject(error);
  }

  #refuse(id: unknown): void {
    const error = { code: METHOD_NOT_FOUND, message: "this client has no methods" };
    this.#write(frameOf({ jsonrpc: "2.0", id, error })).catch(() => {});
  }
}
