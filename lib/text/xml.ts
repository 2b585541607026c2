/** Escapes text for XML and marks invisible characters. */
import { markInvisible } from './invisible-characters.js';
import { cleanText } from './clean-text.js';

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
/** XML 1.0, production 2: these are invalid even when escaped. */
// oxlint-disable-next-line no-control-regex
const INVALID_CHARACTER_PATTERN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

export const toXmlText = (text: string): string =>
  markInvisible(cleanText(text))
    .replace(INVALID_CHARACTER_PATTERN, '')
    .replace(/[&<>"']/g, (c) => ENTITIES[c] as string);
