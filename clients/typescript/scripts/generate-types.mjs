// Makes src/protocol.ts from ../schema: interfaces by json-schema-to-typescript, and the
// tables of methods, events and errors; and src/adapters/endpoint-table.ts. `--write` writes
// them; `generate()` and `endpointTable()` give their texts.
//
// Some parts of the JSON Schema are changed first. An open enumeration becomes its known values
// and any other string. The Unknown... variants leave their unions, because a member with
// `type: string` would prevent the narrowing of the others; src/stream/events.ts says how the
// client represents events of a later version.

import { readFile, writeFile } from "node:fs/promises";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { compile } from "json-schema-to-typescript";

const SCHEMA = new URL("../../schema/", import.meta.url);
export const OUTPUT = new URL("../src/protocol.ts", import.meta.url);
export const ENDPOINT_TABLE = new URL("../src/adapters/endpoint-table.ts", import.meta.url);

const HEAD = `// Made by scripts/generate-types.mjs from ../schema; changes belong there.
`;

/** The text of src/protocol.ts. */
export async function generate() {
  const schema = await read("stream-sidecar.schema.json");
  const table = await read("methods.json");
  const interfaces = await compile(typescriptOf(schema), "Protocol", {
    additionalProperties: false,
    bannerComment: "",
    format: true,
    unreachableDefinitions: true,
    unknownAny: true,
  });
  const body = interfaces
    .replace("export interface Protocol {}\n", "")
    .replace(/^ \* This interface was referenced by .*\n \* via the .*\n/gm, "")
    .replace(/^ \*\n \*\//gm, " */")
    .replace(/^(?=\/\*\*|export )/gm, "\n")
    .replace(/ \*\/\n\n/g, " */\n")
    .replace(/\n{3,}/g, "\n\n");
  return [HEAD, body.trim(), "", ...tables(table), ...shapes(schema.$defs)].join("\n");
}

/** The text of src/adapters/endpoint-table.ts. */
export async function endpointTable() {
  const { description, endpoints } = await read("endpoints.json");
  const rows = endpoints.map((row) => `  ${JSON.stringify(row)},`);
  return [HEAD, `/** ${description} */`, "export const ENDPOINTS = [", ...rows, "] as const;", ""].join("\n");
}

const read = async (name) => JSON.parse(await readFile(new URL(name, SCHEMA), "utf8"));

/** The schema, changed so that json-schema-to-typescript makes the right types. */
function typescriptOf(schema) {
  const definitions = schema.$defs;
  const types = { ...definitions };
  for (const [name, definition] of Object.entries(definitions)) {
    types[name] = name.startsWith("Unknown") ? undefined : turned(definition, definitions);
    for (const field of LEFT_OUT[name] ?? []) delete types[name].properties[field];
  }
  return { title: "Protocol", type: "object", $defs: JSON.parse(JSON.stringify(types)) };
}

/** Fields that the client does not need: it ignores notifications of progress. */
const LEFT_OUT = { HistoryParams: ["workDoneToken"] };

function turned(part, definitions) {
  if (part.oneOf) return { description: part.description, tsType: unionOf(part, definitions) };
  if (part["x-open-enum"]) {
    const known = part["x-open-enum"].map((value) => JSON.stringify(value));
    return { tsType: [...known, "(string & {})"].join(" | ") };
  }
  if (part.type === "object" && part.anyOf && !part.properties) {
    return { description: part.description, tsType: anyWith(part.anyOf) };
  }
  const { minimum, anyOf, ...rest } = part;
  if (anyOf && !part.properties && part.type !== "object") rest.anyOf = anyOf.map((each) => turned(each, definitions));
  if (part.items) rest.items = turned(part.items, definitions);
  if (part.properties) {
    const parts = Object.entries(part.properties);
    rest.properties = Object.fromEntries(parts.map(([name, each]) => [name, turned(each, definitions)]));
  } else if (part.type === "object" || String(part.type) === "object,null") {
    rest.additionalProperties = true;
  }
  return rest;
}

/** An object that has the fields of one of the `choices`. */
function anyWith(choices) {
  const named = choices.map(({ required }) => `{ ${required.map((name) => `${name}: unknown`).join("; ")} }`);
  return `{ [k: string]: unknown } & (${named.join(" | ")})`;
}

/** The known members; members that may lack a field that the union needs get it here. */
function unionOf(union, definitions) {
  const names = union.oneOf.map((each) => each.$ref.replace("#/$defs/", ""));
  return names
    .filter((name) => !name.startsWith("Unknown"))
    .map((name) => {
      const missing = union.required.filter((field) => !definitions[name].required.includes(field));
      const fields = missing.map((field) => `${field}: number`).join("; ");
      return fields ? `(${name} & { ${fields} })` : name;
    })
    .join(" | ");
}

function tables(table) {
  const methods = Object.entries(table.methods).map(
    ([name, { params, result }]) => `  "${name}": { params: ${params}; result: ${result} };`,
  );
  const events = Object.keys(table.events).map((name) => `  "${name}",`);
  const errors = Object.entries(table.errors).map(([kind, { code }]) => `  "${kind}": ${code},`);
  return [
    "/** The version of the protocol that these types are of. */",
    `export const PROTOCOL_VERSION = ${table.protocolVersion};`,
    "",
    "/** What each method takes and gives. */",
    "export interface Methods {",
    ...methods,
    "}",
    "",
    "/** The types of the events that this client knows. */",
    "export const EVENT_TYPES = [",
    ...events,
    "] as const;",
    "",
    "/** The codes of the sidecar's error answers, by their kind. */",
    "export const ERROR_CODES = {",
    ...errors,
    "} as const;",
    "",
  ];
}

/** Options of a host that are checked in JavaScript, where types check nothing. */
const CHECKED = ["PolicyPatch", "LimitsPatch"];

function shapes(definitions) {
  const made = CHECKED.map((name) => `  ${name}: ${JSON.stringify(shapeOf(definitions[name], definitions))},`);
  return [
    "/** @internal The shapes of options of a host (src/checks.ts). */",
    "export const SHAPES = {",
    ...made,
    "};",
    "",
  ];
}

/** What a value has to be, as far as src/checks.ts looks at it; null is the same as absent. */
function shapeOf(part, definitions) {
  if (part.$ref) return shapeOf(definitions[part.$ref.replace("#/$defs/", "")], definitions);
  const choices = part.anyOf?.filter(({ type }) => type !== "null").map((each) => shapeOf(each, definitions));
  if (choices?.length === 1) return choices[0];
  if (choices) return { anyOf: choices };
  const type = [part.type].flat().find((each) => each !== "null");
  const members = Object.entries(part.properties ?? {}).map(([name, each]) => [name, shapeOf(each, definitions)]);
  return {
    ...(part.enum ? { enum: part.enum.filter((each) => each !== null) } : type && { type }),
    ...(part.minimum !== undefined && { minimum: part.minimum }),
    ...(part.items && { items: shapeOf(part.items, definitions) }),
    ...(part.properties && { properties: Object.fromEntries(members) }),
  };
}

if (argv[1] === fileURLToPath(import.meta.url) && argv.includes("--write")) {
  await writeFile(OUTPUT, await generate());
  await writeFile(ENDPOINT_TABLE, await endpointTable());
}
