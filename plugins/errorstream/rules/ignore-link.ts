import { GUID_SOURCE } from '../../../lib/text/guid.js';
import type { Item } from '../../../ports/domain/bugs.js';

const MAX_PATTERN_LENGTH = 500;
/** Quoted values with a digit, ids, numbers. */
const VARIABLE_PART_PATTERN = new RegExp(
  String.raw`'[^']{0,200}\d[^']{0,200}'|"[^"]{0,200}\d[^"]{0,200}"|\b${GUID_SOURCE}\b|\b0x[0-9a-f]+\b|\b[0-9a-f]{16,}\b|\d+`,
  'gi',
);

const escapeLiteral = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

/** `contains` without variable parts, otherwise a regular expression. */
export function buildSimilarPattern(title: string): { match_type: 'contains' | 'regex'; pattern: string } {
  const text = Array.from(title.slice(0, 2 * MAX_PATTERN_LENGTH))
    .slice(0, MAX_PATTERN_LENGTH)
    .join('')
    .trim();
  const pieces = text.split(VARIABLE_PART_PATTERN);
  const pattern = pieces.map(escapeLiteral).join('.*');
  if (pieces.length === 1 || pattern.length > MAX_PATTERN_LENGTH || pieces.join('').trim().length < 8) {
    return { match_type: 'contains', pattern: text };
  }
  return { match_type: 'regex', pattern };
}

/** Returns null if the item cannot be muted or is. */
export const getIgnoreLink = ({ type, ref, muted }: Pick<Item, 'type' | 'ref' | 'muted'>): string | null =>
  type === 'error' && !muted ? `/ignore-rules/new?like=${ref}` : null;
