// One stream in the sidecar, which survives the end of the process: it is opened again in the
// next process, the kept chunks are pushed again, and their events are dropped, because the same
// pushes give the same events, `seq` included. A process of ours that hangs is killed by its link,
// and counts as ended. The stream has one call at a time, and a call one request at a time: a
// large push is sent in several requests, and other streams have their turn between them.

import type { Chunk } from "./chunks.js";
import { ConnectionLost, RefusedError, SidecarClosed, StreamLost, type LossReason } from "../errors.js";
import { apart, documentsOf, eventsOf, together, type ClosedStream, type Pushed, type StreamEvent } from "./events.js";
import type { Link, Params, Result } from "../connection/link.js";
import type { Settings } from "../options.js";
import type { CloseParams, CloseResult, OpenParams, OpenResult, PushResult, SnapshotResult } from "../protocol.js";
import type { ReplayLog } from "./replay-log.js";
import { requestsOf } from "./slices.js";
import type { Supervisor } from "../connection/supervisor.js";

/** The core of a stream, with a sidecar or without. */
export interface StreamCore {
  /** Pushes chunks. `isLast`: a plain close will most likely follow, so its request may be sent with the chunks. */
  push(chunks: readonly Chunk[], isLast?: boolean): Promise<Pushed>;
  /** The results of several pushes, sent in one request; undefined: none was applied, and each must be tried alone. */
  pushEach(pushes: readonly (readonly Chunk[])[]): Promise<Pushed[] | undefined>;
  snapshot(): Promise<SnapshotResult>;
  close(params: Omit<CloseParams, "streamId">): Promise<ClosedStream>;
  /** Frees the memory; no calls follow. */
  forget(): void;
}

type StreamMethod = "stream/push" | "stream/snapshot" | "stream/close";

export class RemoteStream implements StreamCore {
  readonly #id: string;
  readonly #params: OpenParams;
  readonly #supervisor: Supervisor;
  readonly #settings: Settings;
  readonly #log: ReplayLog;
  #link: Link | undefined;
  /** The answer to a close that went out with the last push, until something else is asked. */
  #ending: Promise<CloseResult> | undefined;
  #isOpened = false;
  #pushes = 0;
  #lastSeq = 0;

  constructor(id: string, params: OpenParams, supervisor: Supervisor, settings: Settings, log: ReplayLog) {
    this.#id = id;
    this.#params = params;
    this.#supervisor = supervisor;
    this.#settings = settings;
    this.#log = log;
  }

  /** Opens the stream. Rejects with the sidecar's refusal, or with the error of its start. */
  async open(): Promise<OpenResult> {
    for (let losses = 0; ; losses++) {
      const link = await this.#supervisor.link();
      try {
        const opened = await this.#openOn(link);
        this.#link = link;
        return opened;
      } catch (error) {
        const mayReturn = error instanceof ConnectionLost && !error.isFinal;
        if (!mayReturn || losses >= this.#settings.restarts.max) throw error;
      }
    }
  }

  /** Pushes all of the chunks, or none of them if a part is refused. */
  async push(chunks: readonly Chunk[], isLast = false): Promise<Pushed> {
    const [kept, lastSeq] = [this.#log.length, this.#lastSeq];
    const answers: Pushed[] = [];
    try {
      const requests = requestsOf(chunks, this.#params.framing !== "json");
      for (let next = requests.next(); !next.done;) {
        const request = next.value;
        next = requests.next();
        const isEnd = isLast && next.done === true;
        answers.push((isEnd && (await this.#pushedWithEnd(request))) || (await this.#pushed(request)));
      }
    } catch (error) {
      if (answers.length > 0 && error instanceof RefusedError) this.#undo(kept, lastSeq);
      throw error;
    }
    this.#pushes += 1;
    return together(answers);
  }

  async #pushed(chunks: readonly Chunk[]): Promise<Pushed> {
    const answer = await this.#ask("stream/push", inOne(chunks));
    this.#log.add(chunks);
    return this.#pushedBy(answer);
  }

  #pushedBy(answer: PushResult): Pushed {
    const { chunks } = answer;
    return { events: this.#delivered(answer), ...(chunks && { chunks }) };
  }

  /**
   * Sends the close right after the push, if all chunks can be kept: the close may have to be
   * undone. undefined: the push was not applied, and must be tried again.
   */
  async #pushedWithEnd(chunks: readonly Chunk[]): Promise<Pushed | undefined> {
    const [link, kept] = [this.#link, this.#log.length];
    if (!link || link.isLost) return undefined;
    this.#log.add(chunks);
    if (!this.#log.isWhole) return undefined;
    const pushed = this.#request(link, "stream/push", { ...inOne(chunks), streamId: this.#id });
    this.#ending = this.#request(link, "stream/close", { streamId: this.#id });
    this.#ending.catch(() => {});
    const answer = await pushed.catch((error: unknown) => {
      this.#log.shorten(kept);
      return triedAgain(error);
    });
    return answer && this.#pushedBy(answer);
  }

  async pushEach(pushes: readonly (readonly Chunk[])[]): Promise<Pushed[] | undefined> {
    const chunks = pushes.flat();
    const answer = await this.#askOnce(chunks);
    if (!answer) return undefined;
    this.#log.add(chunks);
    this.#pushes += pushes.length;
    return apart({ ...answer, events: this.#delivered(answer) }, pushes);
  }

  /** undefined: the request was refused, or its process ended; none of the chunks was applied. */
  async #askOnce(chunks: readonly Chunk[]): Promise<PushResult | undefined> {
    const link = this.#link;
    if (!link || link.isLost) return undefined;
    const params = { streamId: this.#id, chunks: chunks.map(({ value }) => value) };
    return this.#request(link, "stream/push", params).catch((error: unknown) => {
      const isRefused = error instanceof RefusedError;
      if (isRefused && error.kind === "internal-error") this.#undo(this.#log.length, this.#lastSeq);
      return triedAgain(error);
    });
  }

  /** Restores the state before a push whose requests were partly answered: the stream is closed, and opened again at its next use. */
  #undo(kept: number, lastSeq: number): void {
    const link = this.#link;
    const params = { streamId: this.#id, reason: "cancelled" } as const;
    if (link) this.#request(link, "stream/close", params).catch(() => {});
    this.#link = undefined;
    this.#log.shorten(kept);
    this.#lastSeq = lastSeq;
  }

  async snapshot(): Promise<SnapshotResult> {
    const { stats, ...answer } = await this.#ask("stream/snapshot", {});
    return { ...answer, stats: { ...stats, pushes: this.#pushes } };
  }

  async close(params: Omit<CloseParams, "streamId">): Promise<ClosedStream> {
    const { stats, chunks, ...answer } = (await this.#ended(params)) ?? (await this.#ask("stream/close", params));
    const events = this.#delivered(answer);
    const documents = chunks && documentsOf(chunks);
    const emitted = documents && { chunks: documents, isMarked: chunks.length > documents.length };
    return { ...answer, ...emitted, streamId: this.#id, events, stats: { ...stats, pushes: this.#pushes } };
  }

  /** The answer to the close that was sent already, if this close has no params. */
  async #ended(params: object): Promise<CloseResult | undefined> {
    if (Object.keys(params).length > 0) return undefined;
    const ending = this.#ending;
    this.#ending = undefined;
    return ending?.catch((error: unknown) => void this.#examine(error));
  }

  forget(): void {
    this.#log.drop();
  }

  /** Returns the events of an answer. Throws if they do not follow the last `seq`: the replay was different. */
  #delivered(answer: Pick<PushResult, "events">): StreamEvent[] {
    const [first] = answer.events;
    if (first && first.seq !== this.#lastSeq + 1) {
      throw this.#lost("diverged", `event ${first.seq} came after event ${this.#lastSeq}`);
    }
    this.#lastSeq = answer.events.at(-1)?.seq ?? this.#lastSeq;
    return eventsOf(answer);
  }

  /** Makes a request until it is answered, on as many links as needed. */
  async #ask<M extends StreamMethod>(method: M, what: object): Promise<Result<M>> {
    const { restarts } = this.#settings;
    for (let losses = 0; ; losses++) {
      try {
        const link = await this.#attached();
        return await this.#request(link, method, { ...what, streamId: this.#id } as Params<M>);
      } catch (error) {
        this.#examine(error);
        if (losses >= restarts.max)
          throw this.#lost("crashing", `${losses + 1} sidecars ended or hung in ${method}`, error);
      }
    }
  }

  /** Throws the error, unless the stream can be restored. */
  #examine(error: unknown): void {
    if (error instanceof ConnectionLost) {
      if (error.isFinal) throw this.#lost("unavailable", error.message, error);
      return;
    }
    if (!(error instanceof RefusedError) || error.kind !== "stream-not-found") throw error;
    if (error.data["reason"] === "closed") throw this.#lost("closed", "another client closed it", error);
    this.#link = undefined; // expired, or the host has restarted the process
  }

  /** The link on which the stream is open, with everything pushed so far. */
  async #attached(): Promise<Link> {
    if (this.#ending) this.#link = undefined; // where the stream is closed
    this.#ending = undefined;
    if (this.#link && !this.#link.isLost) return this.#link;
    if (!this.#log.isWhole) throw this.#lost("replay-limit", "it had more chunks than are kept");
    const link = await this.#supervisor.link().catch((error: unknown) => {
      throw error instanceof SidecarClosed ? error : this.#lost("unavailable", (error as Error).message, error);
    });
    await this.#openOn(link);
    await this.#replay(link);
    this.#link = link;
    return link;
  }

  /** Opens the stream under the same id, which other ids contain. A stream of ours left from before is closed first. */
  async #openOn(link: Link): Promise<OpenResult> {
    const params = { ...this.#params, streamId: this.#id };
    const opening = this.#request(link, "stream/open", params);
    const opened = await opening.catch((error: unknown) => {
      const isOwn = error instanceof RefusedError && error.kind === "stream-exists" && this.#isOpened;
      if (!isOwn) throw error;
      this.#request(link, "stream/close", { streamId: this.#id, reason: "cancelled" }).catch(() => {});
      return this.#request(link, "stream/open", params);
    });
    this.#isOpened = true;
    return { ...opened, streamId: this.#id };
  }

  async #replay(link: Link): Promise<void> {
    let reached = 0;
    for (const chunks of this.#log.batches()) {
      const answer = await this.#request(link, "stream/push", { streamId: this.#id, chunks });
      reached = answer.lastSeq;
    }
    if (reached !== this.#lastSeq) {
      throw this.#lost("diverged", `the same chunks gave ${reached} events, not ${this.#lastSeq}`);
    }
  }

  #request<M extends string>(link: Link, method: M, params: Params<M>): Promise<Result<M>> {
    return link.request(method, params, { timeoutMs: this.#settings.requestTimeoutMs, isResumable: true });
  }

  #lost(reason: LossReason, message: string, cause?: unknown): StreamLost {
    return new StreamLost(this.#id, reason, message, cause);
  }
}

/** Returns undefined for an error after which the push is tried in another way; throws any other error. */
function triedAgain(error: unknown): undefined {
  const isMended = [RefusedError, ConnectionLost, TypeError].some((each) => error instanceof each);
  if (!isMended) throw error;
}

/** The params of a push of these chunks. */
function inOne(chunks: readonly Chunk[]) {
  const [first] = chunks;
  return chunks.length === 1 && first ? { chunk: first.value } : { chunks: chunks.map(({ value }) => value) };
}
