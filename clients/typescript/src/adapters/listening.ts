// What a host hears of an answer that its SDK has no place for: a call that the model wrote
// as text, what was taken out, usage that nobody asked for.

import type { StreamEvent } from "../stream/events.js";
import type { Message } from "../protocol.js";

export interface ListeningOptions {
  /** Called with each event of an answer, before the SDK sees what it means. */
  onEvent?: (event: StreamEvent, answer: AnswerInfo) => void;
  /** Called at the end of an answer with its message: `toolCalls` has those found in text, too. */
  onMessage?: (message: Message, answer: AnswerInfo) => void;
  /** Called with what one of them throws. */
  onLost?: (error: unknown) => void;
}

/** Which answer it is, among several at once. */
export interface AnswerInfo {
  readonly streamId: string;
  readonly model?: string;
}

export class Listening {
  readonly #options: ListeningOptions;
  readonly #answer: AnswerInfo;

  constructor(options: ListeningOptions, streamId: string, model?: string | null) {
    this.#options = options;
    this.#answer = { streamId, ...(model && { model }) };
  }

  /** Tells the event, and gives it. */
  readonly event = (event: StreamEvent): StreamEvent => {
    this.#tell(() => this.#options.onEvent?.(event, this.#answer));
    return event;
  };

  message(message: Message): void {
    this.#tell(() => this.#options.onMessage?.(message, this.#answer));
  }

  /** A listener that throws breaks no answer. */
  #tell(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#options.onLost?.(error);
    }
  }
}
