/** Bounds nesting and texts of external JSON. */

type Json = string | number | boolean | null | Json[] | { [key: string]: Json | undefined };

export interface JsonBounds {
  /** Later traversals recurse. */
  depth: number;
  /** Replaces a deeper array or object. */
  deeper: (value: object) => Json;
  /** Must return the same text when unchanged. */
  text?: (text: string) => string;
}

/**
 * Returns the value within `bounds`, copied only from the first change on. Undefined members become
 * null. The value must come from `JSON.parse`.
 */
export const boundJson = (value: unknown, bounds: JsonBounds): Json => boundValue(value as Json | undefined, bounds, 0);

function boundValue(value: Json | undefined, bounds: JsonBounds, depth: number): Json {
  if (typeof value === 'string') return bounds.text?.(value) ?? value;
  if (value === null || value === undefined || typeof value !== 'object') return value ?? null;
  if (depth >= bounds.depth) return bounds.deeper(value);
  return Array.isArray(value) ? boundArray(value, bounds, depth) : boundObject(value, bounds, depth);
}

function boundArray(value: Json[], bounds: JsonBounds, depth: number): Json[] {
  let copy: Json[] | null = null;
  for (let i = 0; i < value.length; i++) {
    const bounded = boundValue(value[i], bounds, depth + 1);
    if (bounded !== value[i]) (copy ??= value.slice())[i] = bounded;
  }
  return copy ?? value;
}

function boundObject(value: { [key: string]: Json | undefined }, bounds: JsonBounds, depth: number): Json {
  let copy: [string, Json][] | null = null;
  const keys = Object.keys(value);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    const name = bounds.text?.(key) ?? key;
    const bounded = boundValue(value[key], bounds, depth + 1);
    if (copy === null && (name !== key || bounded !== value[key])) {
      copy = keys.slice(0, i).map((before) => [before, value[before] as Json]);
    }
    copy?.push([name, bounded]);
  }
  return copy === null ? value : Object.fromEntries(copy);
}
