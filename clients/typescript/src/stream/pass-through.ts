// A stream without a sidecar: the text of every chunk, unchanged. Tags, calls and framing stay in
// the text, and the first event reports this.

import type { Chunk } from "./chunks.js";
import type { SidecarUnavailable } from "../errors.js";
import type { ClosedStream, Pushed, StreamEvent } from "./events.js";
import type { ReadText } from "../options.js";
import type { CloseParams, Finish, Message, OpenParams, SnapshotResult, Stats } from "../protocol.js";
import type { StreamCore } from "./remote-stream.js";

export class PassThroughStream implements StreamCore {
  readonly #id: string;
  readonly #params: OpenParams;
  readonly #readText: ReadText;
  readonly #error: SidecarUnavailable;
  readonly #stats: Stats = {
    pushes: 0,
    chunks: 0,
    chars: 0,
    events: 0,
    delimitersStripped: 0,
    reasoningExtracted: 0,
    toolResultsStripped: 0,
    toolCallsFromText: 0,
    malformedChunks: 0,
    heldPeak: 0,
  };
  #text = "";

  constructor(id: string, params: OpenParams, mode: true | ReadText, error: SidecarUnavailable) {
    this.#id = id;
    this.#params = params;
    this.#readText = mode === true ? asItIs : mode;
    this.#error = error;
  }

  async push(chunks: readonly Chunk[]): Promise<Pushed> {
    const events = this.#stats.events === 0 ? [this.#warning()] : [];
    this.#stats.pushes += 1;
    for (const { value } of chunks) {
      const text = this.#readText(value, this.#params);
      this.#stats.chunks += 1;
      this.#stats.chars += [...text].length;
      this.#text += text;
      if (text !== "") events.push({ type: "text-delta", seq: this.#next(), block: 0, text });
    }
    return { events };
  }

  pushEach(pushes: readonly (readonly Chunk[])[]): Promise<Pushed[]> {
    return Promise.all(pushes.map((chunks) => this.push(chunks)));
  }

  async snapshot(): Promise<SnapshotResult> {
    return { message: this.#message(), stats: { ...this.#stats }, lastSeq: this.#stats.events };
  }

  async close({ reason, error }: Omit<CloseParams, "streamId">): Promise<ClosedStream> {
    const events = this.#stats.events === 0 ? [this.#warning()] : [];
    if (this.#text !== "") events.push({ type: "block-end", seq: this.#next(), block: 0, channel: "text" });
    const finish: Finish = {
      type: "finish",
      seq: this.#next(),
      reason: reason === "cancelled" || reason === "error" ? reason : error ? "error" : "unknown",
      emptyAnswer: this.#text.trim() === "",
      complete: false,
    };
    const message = { ...this.#message(), finish };
    return { streamId: this.#id, events: [...events, finish], message, stats: { ...this.#stats } };
  }

  forget(): void {
    this.#text = "";
  }

  #warning(): StreamEvent {
    const message = `The text is not checked: ${this.#error.message}`;
    return { type: "diagnostic", seq: this.#next(), code: "sidecar-unavailable", severity: "warning", message };
  }

  #next(): number {
    return (this.#stats.events += 1);
  }

  #message(): Message {
    const text = this.#text;
    return {
      role: "assistant",
      text,
      reasoning: "",
      blocks: text === "" ? [] : [{ type: "text", block: 0, text }],
      toolCalls: [],
      toolResults: [],
      citations: [],
      sources: [],
      errors: [],
    };
  }
}

function asItIs(chunk: unknown): string {
  return typeof chunk === "string" ? chunk : JSON.stringify(chunk);
}
