/**
 * Percent-encodes object keys that MongoDB or its driver would interpret. Untrusted documents may
 * contain operators and paths (`$…`, `a.b`), driver types (`_bsontype`, `$ref`) or NUL, which ends
 * a key; `~` is the adapter's own prefix. Field paths never need encoding.
 */
import type { Json } from '../../ports/store/index.js';

const SPECIAL_KEY_PATTERN = /^[$~]|^_bsontype$|^__proto__$|^$|[.%\0]/;

function encodeKey(key: string): string {
  if (!SPECIAL_KEY_PATTERN.test(key)) return key;
  if (key === '') return '%';
  if (key.startsWith('_')) return `%5f${key.slice(1).replace(/[.%\0]/g, toPercentHex)}`;
  return key.replace(/^[$~]|[.%\0]/g, toPercentHex);
}

function toPercentHex(character: string): string {
  return `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

function decodeKey(key: string): string {
  if (!key.includes('%')) return key;
  return key === '%'
    ? ''
    : key.replace(/%([0-9a-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

function mapKeys(value: Json, rename: (key: string) => string, own: boolean): Json {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((element) => mapKeys(element, rename, true));
  // Object.fromEntries defines keys, so `__proto__` becomes a plain field.
  return Object.fromEntries(
    Object.entries(value).map(([key, v]) => [own ? rename(key) : key, mapKeys(v as Json, rename, true)]),
  );
}

/** @param own false leaves the keys of the outermost object, which are paths */
export function encodeKeys(value: Json, own = true): Json {
  return mapKeys(value, encodeKey, own);
}

export function decodeKeys(value: Json): Json {
  return mapKeys(value, decodeKey, true);
}
