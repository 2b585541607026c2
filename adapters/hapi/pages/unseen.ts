/**
 * Marks characters that nobody can see and that yet change how text reads: bidirectional controls turn `gnp.exe` into
 * `exe.png`, zero-width ones make two names look equal, or hide words from people that a program reads.
 *
 * The finished page is the place for it, since all text passes there. Rejected: the escaping, of which there are two
 * (Handlebars' own, which only a change of its global module reaches, and the helpers'), and which cannot tell a form's
 * fields.
 */
import { EMOJI_JOINER, formatUnseenMark, markUnseen, UNSEEN_CHARACTERS } from '../../../lib/unseen.js';

/**
 * Parts that stay unmarked: values that a form stores (else the mark would be stored), addresses, and the joiner inside
 * one emoji. `="` is always markup: in text the quotation mark is escaped.
 */
const KEPT = `(?<= )(?:value|href|action|src)="[^"]*"|<textarea[^>]*>[^<]*|${EMOJI_JOINER}`;
/** What is searched for is stored nowhere, and shown as everything else. */
const SEARCH_FIELD = '<input\\b[^>]*? type="search"[^>]*>';

const ANY = new RegExp(`[${UNSEEN_CHARACTERS}]`, 'u');
const EACH = new RegExp(`(${SEARCH_FIELD})|(${KEPT})|[${UNSEEN_CHARACTERS}]`, 'gu');

/** The page with each unseen character as `[U+202E]`. A page without any is only searched. Linear time. */
export function showUnseen(html: string): string {
  if (!ANY.test(html)) return html;
  return html.replace(EACH, (found, field: string | undefined, kept: string | undefined) =>
    field === undefined ? (kept ?? formatUnseenMark(found)) : markUnseen(field),
  );
}
