// Checks the options of a host where they are given: an unknown name, or a value of the wrong
// type or size, is a mistake of the host, and throws immediately. TypeScript finds most of them
// earlier; in JavaScript nothing else does.

import { SHAPES } from "./protocol.js";

/** Throws TypeError or RangeError if an option cannot have this value. `path` is its name. */
export type Check = (value: unknown, path: string) => void;

/** A check for each option of T. */
export type Checks<T> = { readonly [K in keyof Required<T>]: Check };

/** Returns the options. Throws TypeError or RangeError; `whose` is the function that they were given to. */
export function checked<T extends object>(options: T, checks: Checks<T>, whose: string): T {
  objectOf(checks)(options, whose);
  return options;
}

/** Throws TypeError for what is no sidecar, such as the promise of one; `whose` is the function that it was given to. */
export function assertSidecar(value: unknown, whose: string): void {
  if (typeof (value as { openStream?: unknown } | null | undefined)?.openStream === "function") return;
  const hint = value instanceof Promise ? ": await the promise" : "";
  throw wrong(`the sidecar of ${whose}`, "a Sidecar", value, hint);
}

/** An object with these options, each of which may be absent. */
export function objectOf(checks: Readonly<Record<string, Check>>): Check {
  return (value, path) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(path, "an object", value);
    for (const [name, each] of Object.entries(value)) {
      if (each === undefined) continue;
      if (!Object.hasOwn(checks, name)) {
        throw new TypeError(`${path} has no option "${name}", only ${Object.keys(checks).join(", ")}`);
      }
      if (each !== null) checks[name]?.(each, `${path}.${name}`);
    }
  };
}

/** What a value must be, as data: a part of JSON Schema. */
interface Shape {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly anyOf?: readonly Shape[];
}

/** The check for a shape. */
function shaped(shape: Shape): Check {
  const { type = "", minimum = -Infinity, items, properties, anyOf } = shape;
  if (anyOf) return eitherOf(anyOf.map(shaped));
  if (shape.enum) return oneOf(...shape.enum);
  if (properties) return objectOf(Object.fromEntries(Object.entries(properties).map(([k, each]) => [k, shaped(each)])));
  if (type === "array") return listOf(items ? shaped(items) : anything);
  if (type === "integer") return count(minimum);
  return type === "boolean" ? flag : text;
}

export const anything: Check = () => {};

/** A check for a string or a list that is not empty. */
export function filled(check: Check): Check {
  return (value, path) => {
    check(value, path);
    if ((value as string | readonly unknown[]).length === 0) throw new TypeError(`${path} must not be empty`);
  };
}

export const text: Check = kind("string", "a string");
export const flag: Check = kind("boolean", "true or false");
export const callback: Check = kind("function", "a function");
export const data: Check = kind("object", "an object");

function kind(type: string, words: string): Check {
  return (value, path) => {
    if (typeof value !== type) throw wrong(path, words, value);
  };
}

export function oneOf(...values: readonly unknown[]): Check {
  return (value, path) => {
    if (!values.includes(value)) throw wrong(path, values.map(shown).join(" or "), value);
  };
}

export function listOf(check: Check): Check {
  return (value, path) => {
    if (!Array.isArray(value)) throw wrong(path, "a list", value);
    value.forEach((each, at) => check(each, `${path}[${at}]`));
  };
}

/** A value that one of the checks accepts. The error is that of the last check. */
export function eitherOf(checks: readonly Check[]): Check {
  return (value, path) => {
    const isRight = (check: Check) => {
      try {
        check(value, path);
        return true;
      } catch {
        return false;
      }
    };
    if (!checks.some(isRight)) checks.at(-1)?.(value, path);
  };
}

/** A whole number, at least `least`; `Infinity` is no limit. */
export function count(least: number): Check {
  return (value, path) => {
    if (typeof value !== "number") throw wrong(path, "a number", value);
    if (value >= least && (Number.isInteger(value) || value === Infinity)) return;
    throw new RangeError(`${path} must be a whole number from ${least} on, or Infinity, not ${value}`);
  };
}

/** Milliseconds, 0 or more; `Infinity` is no limit. */
export const pause: Check = (value, path) => {
  if (typeof value !== "number") throw wrong(path, "a number of milliseconds", value);
  if (!(value >= 0)) throw new RangeError(`${path} must be 0 milliseconds or more, or Infinity, not ${value}`);
};

/** A check for a number that has to end: `Infinity` is refused. */
export function finite(check: Check): Check {
  return (value, path) => {
    check(value, path);
    if (value === Infinity) throw new RangeError(`${path} must not be Infinity`);
  };
}

/** Milliseconds, more than 0; `Infinity` is no limit. */
export const time: Check = (value, path) => {
  pause(value, path);
  if (value === 0) throw new RangeError(`${path} must be more than 0 milliseconds; Infinity is no limit`);
};

export const policy: Check = shaped(SHAPES.PolicyPatch);
export const limits: Check = shaped(SHAPES.LimitsPatch);

function wrong(path: string, expected: string, value: unknown, hint = ""): TypeError {
  return new TypeError(`${path} must be ${expected}, not ${shown(value)}${hint}`);
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 100));
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
