import MarkdownIt, { type Token } from 'markdown-it';
import type { UserTextPart } from '../../../ports/tools.js';

const markdownParser = new MarkdownIt();
const QUOTE_TOKEN_TYPES: ReadonlySet<string> = new Set(['blockquote_open', 'fence', 'code_block']);

export const hasQuote = (body: string): boolean => splitQuotes(body).some(({ quoted }) => quoted);

export function splitQuotes(body: string): UserTextPart[] {
  const lines = body.split(/\r\n?|\n/);
  const isQuoted = lines.map(() => false);
  const tokens: Token[] = [];
  markdownParser.block.parse(lines.join('\n'), markdownParser, {}, tokens);
  for (const { type, map } of tokens) {
    if (map !== null && QUOTE_TOKEN_TYPES.has(type)) isQuoted.fill(true, map[0], map[1]);
  }
  const parts: { lines: string[]; quoted: boolean }[] = [];
  for (const [i, line] of lines.entries()) {
    const quoted = isQuoted[i] === true;
    const last = parts.at(-1);
    if (last?.quoted === quoted) last.lines.push(line);
    else parts.push({ lines: [line], quoted });
  }
  return parts.map((part) => ({ text: part.lines.join('\n'), quoted: part.quoted }));
}
