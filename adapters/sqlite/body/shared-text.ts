/**
 * JSON of objects that lead to shared ones (lib/json/shared-json.ts). What a storm says again and again, as its frames,
 * is half of a payload: its JSON is written once, and put between that of the other members. Pure.
 */
import { isShared } from '../../../lib/json/shared-json.js';
import { jsonText } from '../../../ports/document.js';
import type { Json } from '../../../ports/store.js';

/** JSON of shared objects, for as long as they are there. */
const known = new WeakMap<object, string>();

const isKept = (value: Json | undefined): value is Json & object =>
  typeof value === 'object' && value !== null && isShared(value);

function textOfShared(value: object): string {
  const before = known.get(value);
  if (before !== undefined) return before;
  const text = jsonText(value);
  known.set(value, text);
  return text;
}

/** The JSON of an object with shared members; null where it has none, or is no object. */
export function splicedText(value: Json | undefined): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const names = Object.keys(value);
  if (!names.some((name) => isKept(value[name]))) return null;
  const members: string[] = [];
  for (const name of names) {
    const member = value[name];
    if (member !== undefined)
      members.push(`${jsonText(name)}:${isKept(member) ? textOfShared(member) : jsonText(member)}`);
  }
  return `{${members.join()}}`;
}
