/**
 * For receivers that detect links, mentions and markup (contract 00: escaped on output). An
 * invisible character breaks automatic links and mentions. Links of the service are added outside
 * the text.
 */

/** Invisible, and never part of an address, name or markup. */
const INVISIBLE_BREAK = '\u200b';

// Markdown removes backslashes before punctuation.
/** With a scheme or `www.`, to its end. */
const URL_PATTERN = /(?:[a-z][a-z0-9+.-]{0,30}\\*:(?:\\*\/){2}|www\\*\.)\S*/gi;
/** Linked without `//`. */
const BARE_SCHEME_PATTERN = /\b(?:mailto|tel|sms|skype|callto|javascript|data)\\*:(?=\S)/gi;
/** `sign-in.example/now`, in any script, with or without port. */
const HOST_PATH_PATTERN = /(?<=[\p{L}\p{N}_-])\\*\.(?=(?:\p{L}{2,24}|xn--[a-z0-9-]{2,59})(?:\\*:\d{1,5})?\\*[/?#])/giu;
/** Linked by top-level domain; no country codes, because `main.py` and `run.sh` are files. */
const DOMAIN_PATTERN =
  /(?<=[\p{L}\p{N}_-])\\*\.(?=(?:com|net|org|info|biz|xyz|top|click|link|online|site|shop|live|cloud|app|dev|page|store|tech|io|co|ai)\\*(?:[\s,;!?'")\]>]|\.?$|\.\s))/gimu;

/** Breaks Markdown's `[text](address)` too. */
export const disableAutolinks = (text: string): string =>
  text
    .replace(URL_PATTERN, (address) => address.replace(/[.:]/g, `$&${INVISIBLE_BREAK}`))
    .replace(BARE_SCHEME_PATTERN, `$&${INVISIBLE_BREAK}`)
    .replace(HOST_PATH_PATTERN, `$&${INVISIBLE_BREAK}`)
    .replace(DOMAIN_PATTERN, `$&${INVISIBLE_BREAK}`)
    .replace(/@(?=\S)/g, `@${INVISIBLE_BREAK}`)
    .replace(/\](?=\\*[([:])/g, `]${INVISIBLE_BREAK}`);

const escapeMarkdown = (text: string): string => text.replace(/[\\`*_[\]()#~|!]/g, String.raw`\$&`);

/** Three special characters; also for Mattermost and Discord. */
export const toSlackText = (text: string): string =>
  disableAutolinks(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export const toSlackMarkdown = (text: string): string => escapeMarkdown(toSlackText(text));

export const toTeamsText = (text: string): string =>
  escapeMarkdown(disableAutolinks(text)).replace(/[<>-]/g, String.raw`\$&`);

const HTML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (c) => HTML_ENTITIES[c] ?? c);

/** Mail clients link anything like an address. */
export const toHtmlText = (text: string): string => escapeHtml(disableAutolinks(text));
