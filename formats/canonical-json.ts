/**
 * Canonical JSON (RFC 8785) of parsed JSON. Own code, because the programs that verify have no dependencies: JavaScript
 * already writes numbers and text as the RFC wants them, and sorts by UTF-16 units as it wants members sorted. A test
 * compares it with the library that the server signs with.
 */
export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [name: string]: JsonValue };

export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${(value as readonly JsonValue[]).map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = value as { readonly [name: string]: JsonValue };
  const written = Object.keys(members)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(members[name] as JsonValue)}`);
  return `{${written.join(',')}}`;
}
