/** Lines of comments that are too long, and the units that still have some. */

export const WIDTH = 120;

/** A line that is a comment, or code with a comment behind it. */
const COMMENT = /^\s*(?:\/\/|\/\*|\*)|\s\/\/\s/;

/** Numbers of the lines. Pure. */
export const longCommentsOf = (text: string): number[] =>
  text.split('\n').flatMap((line, at) => (line.length > WIDTH && COMMENT.test(line) ? [at + 1] : []));

/** Unit → lines, written down on 2026-11-24. The list only becomes shorter. */
export const DEBTS: ReadonlyMap<string, number> = new Map([
  ['plugins/bugs', 1],
  ['adapters/mongodb', 27],
  ['adapters/archive', 17],
  ['adapters/agenda', 14],
  ['adapters/sqlite', 8],
  ['adapters/hapi', 3],
  ['composition', 1],
  ['plugins/backups', 1],
]);
