// The calls of a turn as parts of the Vercel AI SDK.
//
// The SDK runs the client's tool at `tool-input-available`, so this part waits for the end of
// the turn, which says which calls are run. A call that has begun and is not run ends with
// `tool-input-error`, as the SDK itself ends calls of unknown tools. A call found in text is
// not a call for the SDK, but data.

import type { Retract, ToolCall, ToolCallDelta, ToolResult } from "../protocol.js";
import type { Claim, SidecarUIMessageChunk } from "./ai-sdk-chunks.js";
import { isOfServer, objection, objectionOfEnd, type TurnEnd } from "./turn.js";

/** A call whose input has begun and not ended; `text`: its arguments so far. */
interface OpenInput {
  readonly toolName: string;
  text: string;
  /** The end of `text` that no part has carried yet. */
  unsent: string;
  /** The call's output, if the server's result arrived before its call. */
  output?: SidecarUIMessageChunk;
  /** The complete call, which is executable unless the turn's end says otherwise. */
  call?: ToolCall;
}

const LONG_ID = 256;

export class Calls {
  readonly #dynamic: boolean;
  readonly #sendReasoning: boolean;
  /** Ids of calls that have a tool's part, by block. */
  readonly #calls = new Map<number, string>();
  readonly #used = new Set<string>();
  /** Blocks of calls by the provider's id; if an id repeats, the last block. */
  readonly #latest = new Map<string, number>();
  readonly #open = new Map<number, OpenInput>();
  readonly #claims = new Map<number, Claim>();

  constructor({ dynamicTools, sendReasoning }: { dynamicTools: boolean; sendReasoning: boolean }) {
    this.#dynamic = dynamicTools;
    this.#sendReasoning = sendReasoning;
  }

  retract({ blocks, reason }: Retract): SidecarUIMessageChunk[] {
    const toolCallIds = blocks.flatMap((block) => this.#calls.get(block) ?? []);
    const ids = blocks.filter((block) => !this.#calls.has(block)).map(String);
    const ended = blocks.flatMap((block) => this.#endInput(block, `the call was retracted: ${reason}`));
    const claims = blocks.flatMap((block) => {
      const claim = this.#claims.get(block);
      return claim ? [this.#claim({ ...claim, retracted: reason })] : [];
    });
    return [...ended, ...claims, { type: "data-retract", data: { ids, toolCallIds } }];
  }

  /** The provider's id, unless another call of this message has it already. */
  #idOf(block: number, toolCallId: string): string {
    const known = this.#calls.get(block);
    if (known !== undefined) return known;
    let id = toolCallId;
    while (this.#used.has(id)) id += `#${block}`;
    this.#calls.set(block, id);
    this.#used.add(id);
    this.#latest.set(toolCallId, block);
    return id;
  }

  delta({ block, toolCallId = "", name = "", argumentsDelta: text }: ToolCallDelta): SidecarUIMessageChunk[] {
    const input = this.#open.get(block);
    if (!input) return this.#begin(block, { toolCallId, name, text });
    input.text += text;
    input.unsent += text;
    return this.#send(block, input);
  }

  #begin(block: number, { toolCallId, name, text }: { toolCallId: string; name: string; text: string }) {
    const input: OpenInput = { toolName: name, text, unsent: text };
    this.#open.set(block, input);
    const start = { type: "tool-input-start", toolCallId: this.#idOf(block, toolCallId), toolName: name } as const;
    return [{ ...start, dynamic: this.#dynamic }, ...this.#send(block, input)];
  }

  /** Every delta repeats the id, so a delta with a long id waits until it has as much input. */
  #send(block: number, input: OpenInput): SidecarUIMessageChunk[] {
    const toolCallId = this.#calls.get(block) ?? "";
    if (toolCallId.length > LONG_ID && input.unsent.length < toolCallId.length) return [];
    const inputTextDelta = input.unsent;
    input.unsent = "";
    return [{ type: "tool-input-delta", toolCallId, inputTextDelta }];
  }

  call(call: ToolCall): SidecarUIMessageChunk[] {
    const { block = -1, origin, toolCallId, name, arguments: text } = call;
    const input = this.#open.get(block);
    if (input?.output) return [this.#available(call, true), input.output];
    if (origin !== "structured" && !input) return this.#isShown(call) ? [this.#claim(claimOf(call))] : [];
    if (isOfServer(call)) return [this.#available(call)];
    if (!call.executable) return [this.#unavailable(call, objection(call))];
    const begun = input ? [] : this.#begin(block, { toolCallId, name, text });
    this.#open.set(block, { toolName: name, text, unsent: "", call });
    return begun;
  }

  /** A claim found in the reasoning is shown only if the reasoning is. */
  #isShown({ channel }: ToolCall): boolean {
    return channel !== "reasoning" || this.#sendReasoning;
  }

  #claim(claim: Claim): SidecarUIMessageChunk {
    this.#claims.set(claim.block, claim);
    return { type: "data-claim", id: String(claim.block), data: claim };
  }

  #available(call: ToolCall, providerExecuted = call.executor === "server"): SidecarUIMessageChunk {
    const input = call.input ?? call.arguments;
    return { type: "tool-input-available", input, ...this.#part(call), providerExecuted };
  }

  #unavailable(call: ToolCall, errorText: string): SidecarUIMessageChunk {
    const input = call.state === "complete" ? (call.input ?? call.arguments) : call.arguments;
    const providerExecuted = call.executor === "server";
    return { type: "tool-input-error", input, errorText, ...this.#part(call), providerExecuted };
  }

  /** The fields that all ends of an input share; closes the input. */
  #part({ block = -1, toolCallId, name, kind, executable, awaits }: ToolCall) {
    this.#open.delete(block);
    return {
      toolCallId: this.#idOf(block, toolCallId),
      toolName: name,
      dynamic: this.#dynamic,
      providerMetadata: { streamSidecar: { block, kind, executable, awaits } },
    };
  }

  /** Ends an input that will never be available; nothing if none is open. */
  #endInput(block: number, errorText: string): SidecarUIMessageChunk[] {
    const input = this.#open.get(block);
    if (!input) return [];
    if (input.call) return [this.#unavailable({ ...input.call, executable: false }, errorText)];
    this.#open.delete(block);
    const { toolName, text, output } = input;
    const toolCallId = this.#calls.get(block) ?? "";
    const end = { toolCallId, toolName, input: text, errorText, dynamic: this.#dynamic };
    return [{ type: "tool-input-error", ...end }, ...(output ? [output] : [])];
  }

  /** The output of a call that the server has run; a result without such a call is data. */
  result({ toolCallId, name, content, isError, source }: ToolResult): SidecarUIMessageChunk[] {
    const block = toolCallId === undefined ? undefined : this.#latest.get(toolCallId);
    if (source !== "server" || block === undefined) {
      return [{ type: "data-tool-result", data: { toolCallId, name, content, isError, source } }];
    }
    const part = { toolCallId: this.#calls.get(block) ?? "", dynamic: this.#dynamic, providerExecuted: true };
    const output: SidecarUIMessageChunk = isError
      ? { type: "tool-output-error", errorText: textOf(content), ...part }
      : { type: "tool-output-available", output: content ?? null, ...part };
    const input = this.#open.get(block);
    if (!input) return [output];
    if (input.call) return [this.#available({ ...input.call, executable: false, awaits: "none" }, true), output];
    input.output = output;
    return [];
  }

  /** Ends all open inputs. After a cancelled turn they stay open: `abort` ends them. */
  end({ finish, executable }: TurnEnd): SidecarUIMessageChunk[] {
    const isCancelled = finish?.reason === "cancelled";
    return [...this.#open].flatMap(([block, { call }]) => {
      if (call && executable.has(block)) return [this.#available(call)];
      return isCancelled ? [] : this.#endInput(block, objectionOfEnd(finish));
    });
  }
}

function claimOf(call: ToolCall): Claim {
  const { block = -1, toolCallId, name, state, origin, kind, declared, dialect } = call;
  const input = call.input ?? call.arguments;
  const more = { ...(declared === undefined ? {} : { declared }), ...(dialect === undefined ? {} : { dialect }) };
  return { block, toolCallId, toolName: name, input, state, origin, kind, ...more };
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content ?? null);
}
