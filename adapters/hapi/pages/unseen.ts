/**
 * Marks invisible characters that change how text reads: bidirectional controls turn `gnp.exe` into
 * `exe.png`. It works on the rendered page, because all text passes there.
 */
import { EMOJI_JOINER, formatUnseenMark, markUnseen, UNSEEN_CHARACTERS } from '../../../lib/unseen.js';

/**
 * Parts that stay unmarked: form values (the mark would be stored), URLs, and the joiner inside an
 * emoji. `="` is always markup, because quotation marks in text are escaped.
 */
const KEPT = `(?<= )(?:value|href|action|src)="[^"]*"|<textarea[^>]*>[^<]*|${EMOJI_JOINER}`;
/** A search term is not stored, so it is marked like other text. */
const SEARCH_FIELD = '<input\\b[^>]*? type="search"[^>]*>';

const ANY = new RegExp(`[${UNSEEN_CHARACTERS}]`, 'u');
const EACH = new RegExp(`(${SEARCH_FIELD})|(${KEPT})|[${UNSEEN_CHARACTERS}]`, 'gu');

export function showUnseen(html: string): string {
  if (!ANY.test(html)) return html;
  return html.replace(EACH, (found, field: string | undefined, kept: string | undefined) =>
    field === undefined ? (kept ?? formatUnseenMark(found)) : markUnseen(field),
  );
}
