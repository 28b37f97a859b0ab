// Version 2 of the Agent Client Protocol, a draft. A message or a thought can be replaced as a
// whole there, so the editor also moves the text that a `reclassify` moves, and removes the
// text that a `retract` removes. All updates of calls are of one kind.

import type { StreamEvent } from "../stream/events.js";
import type { SessionUpdate, SessionUpdateV2 } from "./acp-updates.js";
import type { TurnEnd } from "./turn.js";

type Channel = "agent_message" | "agent_thought";

const CHANNELS: Readonly<Record<string, Channel>> = { text: "agent_message", reasoning: "agent_thought" };

/** Makes updates of version 2; remembers the text that an editor shows for each block. */
export class Upserts {
  readonly #shown = new Map<number, { channel: Channel; text: string }>();
  readonly #idOf: (block: number) => string;

  constructor(idOf: (block: number) => string) {
    this.#idOf = idOf;
  }

  /** The updates for an event; `made` are its updates of version 1. */
  of(event: StreamEvent | TurnEnd, made: readonly SessionUpdate[]): SessionUpdateV2[] {
    switch (event.type) {
      case "text-delta":
        this.#show(event.block, "agent_message", event.text);
        break;
      case "reasoning-delta":
        this.#show(event.block, "agent_thought", event.text);
        break;
      case "reclassify":
        return event.blocks.flatMap((block) => this.#move(block, CHANNELS[event.to]));
      case "retract":
        return [...event.blocks.flatMap((block) => this.#move(block)), ...made.map(asUpsert)];
    }
    return made.map(asUpsert);
  }

  #show(block: number, channel: Channel, text: string): void {
    const shown = this.#shown.get(block);
    this.#shown.set(block, { channel, text: (shown?.text ?? "") + text });
  }

  /** Removes a block from its message, and shows it on another channel if one is given. */
  #move(block: number, channel?: Channel): SessionUpdateV2[] {
    const shown = this.#shown.get(block);
    if (!shown || shown.channel === channel) return [];
    const messageId = this.#idOf(block);
    const gone = { sessionUpdate: shown.channel, messageId, content: [] };
    if (channel === undefined) {
      this.#shown.delete(block);
      return [gone];
    }
    this.#shown.set(block, { ...shown, channel });
    return [gone, { sessionUpdate: channel, messageId, content: [{ type: "text", text: shown.text }] }];
  }
}

function asUpsert(update: SessionUpdate): SessionUpdateV2 {
  return update.sessionUpdate === "tool_call" ? { ...update, sessionUpdate: "tool_call_update" } : update;
}
