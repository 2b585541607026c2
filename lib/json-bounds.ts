/**
 * Bounds for JSON from outside: how deep it nests and what its texts hold, kept without copying what is within them.
 */

type Json = string | number | boolean | null | Json[] | { [key: string]: Json | undefined };

export interface JsonBounds {
  /** Levels of arrays and objects; later walks go by recursion, so there must be an end. */
  depth: number;
  /** What replaces an array or an object that lies deeper. */
  deeper: (value: object) => Json;
  /** Applied to every text and every key; gives the same text back where nothing changes. */
  text?: (text: string) => string;
}

/**
 * The value within `bounds`: the same value where nothing changes, else copied from the first change on, since nearly
 * every value is whole and this looks at every report. An undefined member becomes null. The value came out of
 * `JSON.parse`, so it is JSON.
 */
export const boundJson = (value: unknown, bounds: JsonBounds): Json => bound(value as Json | undefined, bounds, 0);

function bound(value: Json | undefined, bounds: JsonBounds, depth: number): Json {
  if (typeof value === 'string') return bounds.text?.(value) ?? value;
  if (value === null || value === undefined || typeof value !== 'object') return value ?? null;
  if (depth >= bounds.depth) return bounds.deeper(value);
  return Array.isArray(value) ? boundArray(value, bounds, depth) : boundObject(value, bounds, depth);
}

function boundArray(value: Json[], bounds: JsonBounds, depth: number): Json[] {
  let copy: Json[] | null = null;
  for (let i = 0; i < value.length; i++) {
    const kept = bound(value[i], bounds, depth + 1);
    if (kept !== value[i]) (copy ??= value.slice())[i] = kept;
  }
  return copy ?? value;
}

function boundObject(value: { [key: string]: Json | undefined }, bounds: JsonBounds, depth: number): Json {
  let copy: [string, Json][] | null = null;
  const keys = Object.keys(value);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    const name = bounds.text?.(key) ?? key;
    const kept = bound(value[key], bounds, depth + 1);
    if (copy === null && (name !== key || kept !== value[key])) {
      copy = keys.slice(0, i).map((before) => [before, value[before] as Json]);
    }
    copy?.push([name, kept]);
  }
  return copy === null ? value : Object.fromEntries(copy);
}
