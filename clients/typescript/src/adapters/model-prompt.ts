// Prepares the prompt of a model of the Vercel AI SDK. A prompt is not a request of a wire: the
// provider makes a request from it, and sends reasoning without state of its own as
// `reasoning_content`. So the sidecar repairs the texts of earlier answers. A request made only
// of their reasoning and calls shows which reasoning and which ids of calls may be sent.
// Parts with `providerOptions` (signatures, ids of items) belong to the provider and stay, except
// for reasoning whose signature binds it to text that had to be changed: the provider would refuse
// the conversation. Versions of the SDK's providers that do not know the option with which it can
// be asked to drop such reasoning remove the option silently, so nobody asks here.

import type { Edit, HistoryParams, Repair } from "../protocol.js";
import type { Sidecar } from "../sidecar.js";
import type { PromptMessage, PromptPart } from "./language-model.js";
import { sealsIn } from "./provider-state.js";

type About = Omit<HistoryParams, "messages">;

export interface PreparedPrompt {
  /** The given array if nothing needs to change. */
  readonly prompt: readonly PromptMessage[];
  /** Whether reasoning is left out because its seal is bound to text that was changed. */
  readonly isUnsealed: boolean;
}

/** The prepared prompt. `dropsSeals`: the provider is asked to drop reasoning whose seal no longer fits. */
export async function preparedPrompt(
  sidecar: Sidecar,
  prompt: readonly PromptMessage[],
  about: About,
  dropsSeals: boolean,
): Promise<PreparedPrompt> {
  const [{ repairs, edit }, turns] = await Promise.all([
    mended(sidecar, prompt, about, dropsSeals),
    turnsOf(sidecar, prompt, about),
  ]);
  const ids = new Map(turns.flatMap(({ ids: renamed }) => renamed));
  const refused = new Set(turns.filter(({ isRefused }) => isRefused).map(({ at }) => at));
  const made = prompt.map((message, at) =>
    repaired(message, {
      ...{ repair: repairs.get(at), ids, isRefused: refused.has(at) },
      unsealedFrom: edit === undefined || at < edit.at ? Infinity : at === edit.at ? edit.part : 0,
    }),
  );
  const isUnsealed = edit !== undefined;
  if (made.every((message, at) => message === prompt[at])) return { prompt, isUnsealed };
  return { prompt: made.filter(({ role, content }) => role !== "assistant" || content.length > 0), isUnsealed };
}

interface Mended {
  readonly repairs: ReadonlyMap<number, Repair>;
  /** The place of the first edit, if sealed reasoning behind it is bound to what was there. */
  readonly edit?: { readonly at: number; readonly part: number };
}

/**
 * The repairs, and whether they break seals. A text is repaired even if a later seal is bound to
 * it: it was when that seal did not exist yet, and what the provider is sent of a turn must not change.
 */
async function mended(
  sidecar: Sidecar,
  prompt: readonly PromptMessage[],
  about: About,
  dropsSeals: boolean,
): Promise<Mended> {
  const withSeals = dropsSeals ? undefined : await repairsOf(sidecar, prompt, about, withSeal);
  if (withSeals && ![...withSeals.values()].some(({ bound }) => bound)) return { repairs: withSeals };
  const repairs = await repairsOf(sidecar, prompt, about, textOnly);
  const [at, first] = [...repairs].find(([, { changed }]) => changed) ?? [];
  if (dropsSeals || at === undefined) return { repairs };
  return { repairs, edit: { at, part: Number(first?.edits[0]?.path.split("/")[2]) } };
}

/** The repairs of the texts of answers, by their places in the prompt. */
async function repairsOf(
  sidecar: Sidecar,
  prompt: readonly PromptMessage[],
  about: About,
  shown: (part: PromptPart) => object,
) {
  const places = placesOf(prompt, (part) => isOurText(part) || isSealed(part));
  if (places.length === 0) return new Map<number, Repair>();
  const messages = places.map((at) => ({ role: "assistant", content: partsOf(prompt[at]).map(shown) }));
  const { results } = await sidecar.repair({ ...about, messages });
  return new Map(places.flatMap((at, index) => (results[index] ? [[at, results[index]] as const] : [])));
}

/** What the provider accepts of an answer: whether its reasoning, and new ids of its calls. */
interface Accepted {
  readonly at: number;
  readonly isRefused: boolean;
  readonly ids: readonly (readonly [string, string])[];
}

async function turnsOf(sidecar: Sidecar, prompt: readonly PromptMessage[], about: About): Promise<Accepted[]> {
  if (placesOf(prompt, (part) => isOurReasoning(part) || isOurCall(part)).length === 0) return [];
  const messages = prompt.flatMap(skeleton);
  const prepared = await sidecar.prepare({ ...about, wire: "openai-chat", body: { messages } });
  const [asked, sent] = [messages, (prepared.body?.["messages"] ?? messages) as Turn[]].map((all) =>
    all.filter(({ role }) => role === "assistant"),
  );
  if (!prepared.changed || !asked || asked.length !== sent?.length) return [];
  const answers = prompt.flatMap(({ role }, at) => (role === "assistant" ? [at] : []));
  return answers.map((at, index) => accepted(at, asked[index], sent[index]));
}

function accepted(at: number, asked: Turn | undefined, sent: Turn | undefined): Accepted {
  const ids = (asked?.tool_calls ?? []).flatMap(({ id }, index) => {
    const other = sent?.tool_calls?.[index]?.id;
    return other === undefined || other === id ? [] : [[id, other] as const];
  });
  return { at, ids, isRefused: asked?.reasoning_content !== undefined && sent?.reasoning_content === undefined };
}

/** The places of answers with a part for which `matches` is true. */
function placesOf(prompt: readonly PromptMessage[], matches: (part: PromptPart) => boolean): number[] {
  return prompt.flatMap(({ role, content }, at) => {
    const isAnswer = role === "assistant" && typeof content === "object";
    return isAnswer && content.some(matches) ? [at] : [];
  });
}

function partsOf(message: PromptMessage | undefined): readonly PromptPart[] {
  return typeof message?.content === "object" ? message.content : [];
}

const isOurText = ({ type, providerOptions }: PromptPart) => type === "text" && !providerOptions;
const isOurReasoning = ({ type, providerOptions }: PromptPart) => type === "reasoning" && !providerOptions;
const isOurCall = ({ type, providerOptions, providerExecuted }: PromptPart) =>
  type === "tool-call" && !providerOptions && !providerExecuted;

const isSealed = ({ type, providerOptions }: PromptPart) => type === "reasoning" && sealsIn(providerOptions).length > 0;

/** A part of text; other parts only keep their places. */
function textOnly(part: PromptPart) {
  return isOurText(part) ? { type: "text", text: part.text ?? "" } : { type: part.type };
}

/** The same, and reasoning with its seal. */
function withSeal(part: PromptPart) {
  const [signature] = isSealed(part) ? sealsIn(part.providerOptions) : [];
  return signature === undefined ? textOnly(part) : { type: "thinking", thinking: part.text ?? "", signature };
}

/** A message of Chat Completions, without its text. */
interface Turn {
  readonly role: string;
  readonly content: string;
  readonly reasoning_content?: string;
  readonly tool_call_id?: string | undefined;
  readonly tool_calls?: readonly { readonly id: string }[];
}

function skeleton(message: PromptMessage): Turn[] {
  const parts = partsOf(message);
  if (message.role === "tool") {
    return parts.map(({ toolCallId }) => ({ role: "tool", tool_call_id: toolCallId, content: TEXT }));
  }
  if (message.role !== "assistant") return [{ role: "user", content: TEXT }];
  const reasoning = parts.filter(isOurReasoning).map(({ text }) => text);
  const tool_calls = parts.filter(isOurCall).map(({ toolCallId: id = "", toolName: name, input }) => ({
    ...{ id, type: "function" },
    function: { name, arguments: JSON.stringify(input ?? {}) },
  }));
  return [
    {
      ...{ role: "assistant", content: TEXT },
      ...(reasoning.length > 0 && { reasoning_content: reasoning.join("") }),
      ...(tool_calls.length > 0 && { tool_calls }),
    },
  ];
}

const TEXT = "text";

interface Changes {
  readonly repair: Repair | undefined;
  readonly ids: ReadonlyMap<string, string>;
  readonly isRefused: boolean;
  /** The part from which on sealed reasoning is left out. */
  readonly unsealedFrom: number;
}

/** The repaired message; the same object if nothing needs to change. */
function repaired(message: PromptMessage, { repair, ids, isRefused, unsealedFrom }: Changes): PromptMessage {
  const edits = repair?.changed ? repair.edits : [];
  const content = partsOf(message).flatMap((part, index) => {
    if ((isRefused && isOurReasoning(part)) || (index >= unsealedFrom && isSealed(part))) return [];
    const toolCallId = ids.get(part.toolCallId ?? "");
    if (toolCallId !== undefined) return [{ ...part, toolCallId }];
    const mine = edits.filter(({ path }) => path === `/content/${index}/text`);
    const text = mine.reduceRight(edited, part.text ?? "");
    return mine.length === 0 ? [part] : text === "" ? [] : [{ ...part, text }];
  });
  const before = partsOf(message);
  const isSame = content.length === before.length && content.every((part, index) => part === before[index]);
  return isSame ? message : { ...message, content };
}

function edited(text: string, { startUtf16, endUtf16, newText }: Edit): string {
  return text.slice(0, startUtf16) + newText + text.slice(endUtf16);
}
