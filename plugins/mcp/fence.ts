/**
 * Marks text from outside, so that a model can tell it from the service's own words. The mark carries a random number
 * that is drawn for each answer, after the text was written, so no text can close it. Rejected: a fixed mark, or
 * quoting alone, which a text can imitate; and filtering "instructions" out, which cannot work and hides the report.
 */
import { randomBytes } from 'node:crypto';

/**
 * Characters that are invisible or that move other text: controls (ANSI escapes begin with one), format characters
 * (bidi, zero width, tags), line separators, half characters, variation selectors.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u{FE00}-\u{FE0E}\u{E0100}-\u{E01EF}]/gu;
const MARK = /<(?=\/?untrusted)/gi;

/** The text with its invisible characters written as `\u{202e}`, line ends as `\n`, and tabs kept. */
export function escapeInvisible(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(UNSEEN, (unseen) =>
      unseen === '\n' || unseen === '\t' ? unseen : `\\u{${unseen.codePointAt(0)!.toString(16)}}`,
    )
    .replace(MARK, '‹');
}

/** The first `most` characters of the visible text. */
export const truncateVisible = (text: string, most: number): string => cut(escapeInvisible(cut(text, most)), most);

/** Never splits a surrogate pair. */
function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return text.slice(0, /[\uD800-\uDBFF]/.test(text.charAt(most - 1)) ? most - 1 : most);
}

export class Fence {
  /** Short, since each text carries it twice; marks inside a text are rewritten anyway. */
  readonly nonce = randomBytes(4).toString('hex');
  readonly open = `<untrusted-${this.nonce}>`;
  readonly close = `</untrusted-${this.nonce}>`;

  wrap(text: string): string {
    return `${this.open}${text}${this.close}`;
  }
}
