/** Canonical JSON (RFC 8785): JavaScript's number and text formats and sort order match. */
export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [name: string]: JsonValue };

export function formatCanonicalJson(value: JsonValue): string {
  return isInOrder(value) ? JSON.stringify(value) : sortMembers(value);
}

/** Then the faster `JSON.stringify` suffices. */
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
