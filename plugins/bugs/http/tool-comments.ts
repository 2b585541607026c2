/**
 * Comments as an agent reads them (contract 95, MCP). What a signed-in user wrote is the user's word; what it quotes,
 * and what everyone else wrote, is text from outside. Pure.
 */
import { UserText, type UserTextPart } from '../../../ports/tools.js';

type Data = Readonly<Record<string, unknown>>;

const QUOTE = /^ {0,3}>/;
const INDENTED = /^(?: {4}|\t)/;
const CODE = /^ {0,3}(```+|~~~+)/;

/** Whether a comment quotes: blocks of quotes and of code, as Markdown has them. */
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

/** A comment, or an entry of the history as it is; the id is of no use to an agent. */
function showComment({ id: _id, ...comment }: Data): Data {
  const { body, author_kind: kind } = comment;
  if (kind !== 'person' || typeof body !== 'string') return comment;
  return { ...comment, body: new UserText(splitQuotes(body)), untrusted_fields: [] };
}

/** A list of comments or of news. */
export const showComments = (list: unknown): unknown =>
  Array.isArray(list)
    ? list.map((one) => (typeof one === 'object' && one !== null ? showComment(one as Data) : one))
    : list;
