/**
 * The mark contains a random number drawn per response, so no text can close it. Fixed marks and
 * quoting can be imitated; filtering "instructions" cannot work and hides the report.
 */
import { randomBytes } from 'node:crypto';

/**
 * Invisible or reordering characters: controls (including ANSI escapes), format characters (bidi,
 * zero width, tags), line separators, lone surrogates, variation selectors.
 */
const INVISIBLE_PATTERN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u{FE00}-\u{FE0E}\u{E0100}-\u{E01EF}]/gu;
const MARK_PATTERN = /<(?=\/?untrusted)/gi;

/** Escapes invisible characters as `\u{202e}` and line ends as `\n`; tabs stay. */
export function escapeInvisible(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(INVISIBLE_PATTERN, (unseen) =>
      unseen === '\n' || unseen === '\t' ? unseen : `\\u{${unseen.codePointAt(0)!.toString(16)}}`,
    )
    .replace(MARK_PATTERN, '‹');
}

export const truncateVisible = (text: string, most: number): string =>
  truncateText(escapeInvisible(truncateText(text, most)), most);

/** Never splits a surrogate pair. */
function truncateText(text: string, most: number): string {
  if (text.length <= most) return text;
  return text.slice(0, /[\uD800-\uDBFF]/.test(text.charAt(most - 1)) ? most - 1 : most);
}

export class TextFence {
  /** Short, because each text contains it twice; marks inside a text are rewritten anyway. */
  readonly nonce = randomBytes(4).toString('hex');
  readonly open = `<untrusted-${this.nonce}>`;
  readonly close = `</untrusted-${this.nonce}>`;

  wrap(text: string): string {
    return `${this.open}${text}${this.close}`;
  }
}
