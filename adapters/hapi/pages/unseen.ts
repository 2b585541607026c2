/**
 * Marks characters that nobody can see and that yet change how text reads: bidirectional controls turn `gnp.exe` into
 * `exe.png`, zero-width ones make two names look equal, or hide words from people that a program reads.
 *
 * The finished page is the place for it, since all text passes there. Rejected: the escaping, of which there are two
 * (Handlebars' own, which only a change of its global module reaches, and the helpers'), and which cannot tell a form's
 * fields.
 */
import { UNSEEN } from '../../../lib/unseen.js';

/** Unseen characters and the tags; these patterns go by characters. */
const CHARACTERS = `${UNSEEN}\\u{e0000}-\\u{e0fff}`;

/**
 * Parts that stay unmarked: values that a form sends back (else the mark would be stored), addresses, and the joiner
 * inside one emoji. `="` is always markup: in text the quotation mark is escaped.
 */
const KEPT =
  '(?<= )(?:value|href|action|src)="[^"]*"|<textarea[^>]*>[^<]*|(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})';

const ANY = new RegExp(`[${CHARACTERS}]`, 'u');
const EACH = new RegExp(`(${KEPT})|[${CHARACTERS}]`, 'gu');

/** The page with each unseen character as `[U+202E]`. A page without any is only searched. Linear time. */
export function showUnseen(html: string): string {
  if (!ANY.test(html)) return html;
  return html.replace(EACH, (found, kept: string | undefined) => kept ?? mark(found));
}

const mark = (character: string): string =>
  `[U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}]`;
