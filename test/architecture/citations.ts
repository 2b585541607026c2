/**
 * Citations of the law (`contract 20, leases`) in a text, and the headings of docs/spec that they
 * must name.
 */

export interface Citation {
  /** Two digits. */
  page: string;
  /** Headings, as they are written; none when the page as a whole is cited. */
  rest: string;
  /** Of its first word. */
  line: number;
}

const CITATION = /\bcontract (\d\d)(, )?/gi;
/** Longer than any heading. */
const WORDS = 80;

/**
 * Wrapped comments and paragraphs as one line each, so that a citation may be wrapped too; newlines
 * keep their number.
 */
const WRAP = /[ \t]*\n[ \t]*(?:\*(?!\/)|\/\/|#|<!--)?[ \t]*/g;

const normal = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[`*_’']/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

export function citationsOf(text: string): Citation[] {
  const flat = text.replaceAll(WRAP, (wrap) => (/\n[ \t]*\n/.test(wrap) ? '\n' : ' '));
  // The flat text has other offsets: the line is that of the same citation, counted from the top.
  const lines: number[] = [];
  const first = /\bcontract[\s*/#]+\d\d/gi;
  for (const found of text.matchAll(first)) lines.push(text.slice(0, found.index).split('\n').length);
  return [...flat.matchAll(CITATION)].map(([whole, page = '', comma], i, all) => {
    const from = (all[i]?.index ?? 0) + whole.length;
    const rest = comma === undefined ? '' : (flat.slice(from, from + WORDS).split('\n', 1)[0] ?? '');
    return { page, rest, line: lines[i] ?? 0 };
  });
}

/** The headings of a page of docs/spec, without the title. */
export const headingsOf = (markdown: string): string[] =>
  [...markdown.matchAll(/^##+ (.+)$/gm)].map(([, heading = '']) => normal(heading));

/**
 * Why the citation resolves to nothing, or null. The words after the comma begin with a heading;
 * what follows behind a further comma or an `and` may be prose, so it is not judged.
 */
export function unresolved({ page, rest }: Citation, pages: ReadonlyMap<string, readonly string[]>): string | null {
  const headings = pages.get(page);
  if (headings === undefined) return `there is no contract ${page}`;
  const words = normal(rest);
  if (words === '') return null;
  const names = headings.some((heading) => words.startsWith(heading) && !/^\w/.test(words.slice(heading.length)));
  return names ? null : `contract ${page} has no heading "${rest.slice(0, 40)}"`;
}
