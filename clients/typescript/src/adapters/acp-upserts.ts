// Version 2 of the Agent Client Protocol, a draft: a message, or a thought, can be sent
// anew as a whole. So what a `reclassify` moves, or a `retract` takes back, is taken back
// in the editor, too. A call has one kind of update there.

import type { StreamEvent } from "../stream/events.js";
import type { SessionUpdate, SessionUpdateV2 } from "./acp-updates.js";
import type { TurnEnd } from "./turn.js";

type Channel = "agent_message" | "agent_thought";

const CHANNELS: Readonly<Record<string, Channel>> = { text: "agent_message", reasoning: "agent_thought" };

/** What an editor shows of each block. */
export class Upserts {
  readonly #shown = new Map<number, { channel: Channel; text: string }>();
  readonly #idOf: (block: number) => string;

  constructor(idOf: (block: number) => string) {
    this.#idOf = idOf;
  }

  /** The updates of an event, of which `made` are those of version 1. */
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

  /** Takes a block out of its message, and shows it on another channel, if there is one. */
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
