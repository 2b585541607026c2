/** The form for a new ignore rule, filled in from a group: its address, its pattern, its short form (80). Linear. */
import { GUID } from '../../../lib/text/guid.js';
import type { Item, MuteForm } from '../../../ports/domain/bugs.js';

/** Characters of a pattern (contract 21, ignore rules). */
const MAX_LENGTH = 500;
/** The parts of a message that vary between occurrences: quoted values with a digit, ids, numbers. */
const VARIABLE = new RegExp(
  String.raw`'[^']{0,200}\d[^']{0,200}'|"[^"]{0,200}\d[^"]{0,200}"|\b${GUID}\b|\b0x[0-9a-f]+\b|\b[0-9a-f]{16,}\b|\d+`,
  'gi',
);

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

/** `contains` for a title without varying parts, else a regular expression that leaves those parts open. */
export function buildSimilarPattern(title: string): { match_type: 'contains' | 'regex'; pattern: string } {
  const text = Array.from(title.slice(0, 2 * MAX_LENGTH))
    .slice(0, MAX_LENGTH)
    .join('')
    .trim();
  const pieces = text.split(VARIABLE);
  const pattern = pieces.map(literal).join('.*');
  if (pieces.length === 1 || pattern.length > MAX_LENGTH || pieces.join('').trim().length < 8) {
    return { match_type: 'contains', pattern: text };
  }
  return { match_type: 'regex', pattern };
}

/**
 * Matches this group only: the whole title, with its varying parts open. Falls back to
 * `buildSimilarPattern` when the title is too long.
 */
export function buildExactPattern(title: string): ReturnType<typeof buildSimilarPattern> {
  const like = buildSimilarPattern(title);
  const pattern = `^${like.match_type === 'regex' ? like.pattern : literal(like.pattern)}$`;
  return pattern.length > MAX_LENGTH ? like : { match_type: 'regex', pattern };
}

/** The form of a rule for errors like this one; null for what cannot be muted, or is. */
export const getIgnoreLink = ({ type, ref, muted }: Pick<Item, 'type' | 'ref' | 'muted'>): string | null =>
  type === 'error' && !muted ? `/ignore-rules/new?like=${ref}` : null;

/** From the row of a list: this group, for so many days. */
export const MUTE_FORM: MuteForm = {
  action: '/ignore-rules',
  spans: [
    { value: '1', label: '24 hours' },
    { value: '7', label: 'a week' },
    { value: '30', label: '30 days' },
  ],
};
