/**
 * A value in an answer of JSON by its path, `checks[0].state` or `$.checks[0].state`; `$` is the whole. Own members
 * alone, so that no prototype is walked. Pure.
 */
const PATH =
  /^[^.[\]\s]{1,100}(?:\.[^.[\]\s]{1,100}|\[\d{1,6}\])*$|^(?:\[\d{1,6}\])(?:\.[^.[\]\s]{1,100}|\[\d{1,6}\])*$/;
const ROOT = /^\$\.?/;
const SEGMENT = /[^.[\]]+/g;
const DEEPEST = 20;

export const isJsonPath = (text: string): boolean =>
  text.length <= 200 &&
  (text === '$' || PATH.test(text.replace(ROOT, ''))) &&
  (text.match(SEGMENT) ?? []).length <= DEEPEST;

/** Undefined: there is no such value. */
export function valueAt(json: unknown, path: string): unknown {
  let value = json;
  for (const segment of path.replace(ROOT, '').match(SEGMENT) ?? []) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = (value as Record<string, unknown>)[segment];
  }
  return value;
}
