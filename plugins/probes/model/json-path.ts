/**
 * `checks[0].state`, `$.checks[0].state` or `$['checks'][0]['state']`; `$` is the root. Only own
 * properties are read, so that no prototype is exposed.
 */
const SEGMENT_PATTERN = /\.?([^.[\]\s'"*()]{1,100})|\[(\d{1,6})\]|\['([^']{1,100})'\]|\["([^"]{1,100})"\]/y;
const ROOT_PATTERN = /^\$(?=[.[]|$)/;
const MAX_PATH_DEPTH = 20;

function parsePath(text: string): string[] | null {
  const rest = text.replace(ROOT_PATTERN, '');
  const isRooted = rest.length < text.length;
  if (text.length > 200 || (rest === '' && !isRooted) || (rest.startsWith('.') && !isRooted)) return null;
  const segments: string[] = [];
  SEGMENT_PATTERN.lastIndex = 0;
  while (SEGMENT_PATTERN.lastIndex < rest.length) {
    const at = SEGMENT_PATTERN.lastIndex;
    const found = SEGMENT_PATTERN.exec(rest);
    if (found === null) return null;
    const [whole, name, ...others] = found;
    if (name !== undefined && !whole.startsWith('.') && (at > 0 || isRooted)) return null;
    segments.push(name ?? others.find((one) => one !== undefined) ?? '');
  }
  return segments.length > MAX_PATH_DEPTH ? null : segments;
}

export const isJsonPath = (text: string): boolean => parsePath(text) !== null;

export function getValueAt(json: unknown, path: string): unknown {
  const segments = parsePath(path);
  if (segments === null) return undefined;
  let value = json;
  for (const segment of segments) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = (value as Record<string, unknown>)[segment];
  }
  return value;
}
