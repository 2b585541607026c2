/**
 * Canonical JSON (RFC 8785) of parsed JSON. Own code, because the programs that verify have no dependencies: JavaScript
 * already writes numbers and text as the RFC wants them, and sorts by UTF-16 units as it wants members sorted. A test
 * compares it with a library.
 */
export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [name: string]: JsonValue };

export function formatCanonicalJson(value: JsonValue): string {
  return isInOrder(value) ? JSON.stringify(value) : sortMembers(value);
}

/** Whether the members stand in their order already: JavaScript writes them as they stand, at a fifth of the cost. */
function isInOrder(value: JsonValue): boolean {
  if (value === null || typeof value !== 'object') return true;
  if (Array.isArray(value)) return (value as readonly JsonValue[]).every(isInOrder);
  const members = value as { readonly [name: string]: JsonValue };
  let before = '';
  for (const name in members) {
    if (name < before || !isInOrder(members[name] as JsonValue)) return false;
    before = name;
  }
  return true;
}

function sortMembers(value: JsonValue): string {
  if (Array.isArray(value)) return `[${(value as readonly JsonValue[]).map(formatCanonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = value as { readonly [name: string]: JsonValue };
  const written = Object.keys(members)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${formatCanonicalJson(members[name] as JsonValue)}`);
  return `{${written.join(',')}}`;
}
