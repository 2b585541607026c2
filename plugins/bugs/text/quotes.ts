/** Parts of a comment that repeat words of others: blocks of quotes and of code, as Markdown has them. Pure. */
import type { UserTextPart } from '../../../ports/tools.js';

const QUOTE = /^ {0,3}>/;
const INDENTED = /^(?: {4}|\t)/;
const CODE = /^ {0,3}(```+|~~~+)/;

/** Whether any part of a comment is quoted. */
export const hasQuote = (body: string): boolean => splitQuotes(body).some(({ quoted }) => quoted);

/** The user's own lines and the blocks that quote, in their order. A quote goes on to the next empty line. */
export function splitQuotes(body: string): UserTextPart[] {
  const parts: { lines: string[]; quoted: boolean }[] = [];
  let code: string | null = null;
  let quote = false;
  for (const line of body.split(/\r\n?|\n/)) {
    const mark = CODE.exec(line)?.[1];
    quote = code === null && (QUOTE.test(line) || (quote && line.trim() !== ''));
    const quoted = code !== null || mark !== undefined || quote || INDENTED.test(line);
    if (code === null) code = mark ?? null;
    else if (mark?.startsWith(code) === true) code = null;
    const last = parts.at(-1);
    if (last?.quoted === quoted) last.lines.push(line);
    else parts.push({ lines: [line], quoted });
  }
  return parts.map(({ lines, quoted }) => ({ text: lines.join('\n'), quoted }));
}
