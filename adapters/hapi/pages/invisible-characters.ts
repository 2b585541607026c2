/**
 * Marks invisible characters that change how text reads: bidirectional controls turn `gnp.exe` into
 * `exe.png`.
 */
import {
  EMOJI_JOINER_SOURCE,
  formatInvisibleMark,
  markInvisible,
  INVISIBLE_CHARACTERS_CLASS,
} from '../../../lib/text/invisible-characters.js';

/**
 * Parts that stay unmarked: form values (the mark would be stored), URLs, and the joiner inside an
 * emoji. `="` is always markup, because quotation marks in text are escaped.
 */
const UNMARKED_PATTERN = `(?<= )(?:value|href|action|src)="[^"]*"|<textarea[^>]*>[^<]*|${EMOJI_JOINER_SOURCE}`;
/** A search term is not stored, so it is marked like other text. */
const SEARCH_FIELD_PATTERN = '<input\\b[^>]*? type="search"[^>]*>';

const INVISIBLE_PATTERN = new RegExp(`[${INVISIBLE_CHARACTERS_CLASS}]`, 'u');
const MARK_PATTERN = new RegExp(
  `(${SEARCH_FIELD_PATTERN})|(${UNMARKED_PATTERN})|[${INVISIBLE_CHARACTERS_CLASS}]`,
  'gu',
);

export function revealInvisibleCharacters(html: string): string {
  if (!INVISIBLE_PATTERN.test(html)) return html;
  return html.replace(MARK_PATTERN, (found, field: string | undefined, unmarked: string | undefined) =>
    field === undefined ? (unmarked ?? formatInvisibleMark(found)) : markInvisible(field),
  );
}
