/** The form for a new ignore rule, filled in from a group: its address, and what a row posts (contract 80). Linear. */
import { GUID } from '../../../lib/text/guid.js';
import type { Item, MuteForm } from '../../../ports/domain/bugs.js';

/** Characters of a pattern (contract 21, ignore rules). */
const LONGEST = 500;
/** The parts of a message that vary between occurrences: quoted values with a digit, ids, numbers. */
const VARIABLE = new RegExp(
  String.raw`'[^']{0,200}\d[^']{0,200}'|"[^"]{0,200}\d[^"]{0,200}"|\b${GUID}\b|\b0x[0-9a-f]+\b|\b[0-9a-f]{16,}\b|\d+`,
  'gi',
);

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

/** `contains` for a title without varying parts, else a regular expression that leaves those parts open. */
export function patternLike(title: string): { match_type: 'contains' | 'regex'; pattern: string } {
  const text = Array.from(title.slice(0, 2 * LONGEST))
    .slice(0, LONGEST)
    .join('')
    .trim();
  const pieces = text.split(VARIABLE);
  const pattern = pieces.map(literal).join('.*');
  if (pieces.length === 1 || pattern.length > LONGEST || pieces.join('').trim().length < 8) {
    return { match_type: 'contains', pattern: text };
  }
  return { match_type: 'regex', pattern };
}

/**
 * This group and no other: the whole title, its varying parts open. As `patternLike` where the title is too long for
 * it.
 */
export function patternOf(title: string): ReturnType<typeof patternLike> {
  const like = patternLike(title);
  const pattern = `^${like.match_type === 'regex' ? like.pattern : literal(like.pattern)}$`;
  return pattern.length > LONGEST ? like : { match_type: 'regex', pattern };
}

export function ignoreLink({ title, project }: Pick<Item, 'title' | 'project'>): string {
  const search = new URLSearchParams({ ...patternLike(title), project });
  return `/ignore-rules/new?${search.toString()}`;
}

/** How long a group is muted from its row, in days. */
const SPANS = [
  { value: '1', label: '24 hours' },
  { value: '7', label: 'a week' },
  { value: '30', label: '30 days' },
];

/** Of the row of a list: this group, for a while. Null for what cannot be muted, or is. */
export function muteForm(item: Pick<Item, 'type' | 'title' | 'project' | 'muted'>): MuteForm | null {
  if (item.type !== 'error' || item.muted) return null;
  const fields = { ...patternOf(item.title), project: item.project, enabled: 'true', action: 'apply' };
  return { action: '/ignore-rules', fields, spans: SPANS, more: ignoreLink(item) };
}
