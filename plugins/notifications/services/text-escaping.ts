/**
 * Escaping of external text for receivers that detect links, mentions and markup (contract 00:
 * escaped on output). An invisible character breaks automatic links and mentions, and markup is
 * escaped per receiver. Links of the service are added outside the text.
 */

/** Invisible, and never part of an address, name or markup. */
const INVISIBLE_BREAK = '\u200b';

// Markdown removes backslashes before punctuation, so the patterns allow any number of them.
/** A URL with a scheme or `www.`, to its end. */
const URL_PATTERN = /(?:[a-z][a-z0-9+.-]{0,30}\\*:(?:\\*\/){2}|www\\*\.)\S*/gi;
/** Schemes that clients link without `//`. */
const BARE_SCHEME_PATTERN = /\b(?:mailto|tel|sms|skype|callto|javascript|data)\\*:(?=\S)/gi;
/** A host with a path such as `sign-in.example/now`, in any script, with or without port. */
const HOST_PATH_PATTERN = /(?<=[\p{L}\p{N}_-])\\*\.(?=(?:\p{L}{2,24}|xn--[a-z0-9-]{2,59})(?:\\*:\d{1,5})?\\*[/?#])/giu;
/**
 * A host that mail clients link by its top-level domain. Country codes are excluded, because
 * `main.py` and `run.sh` are files.
 */
const DOMAIN_PATTERN =
  /(?<=[\p{L}\p{N}_-])\\*\.(?=(?:com|net|org|info|biz|xyz|top|click|link|online|site|shop|live|cloud|app|dev|page|store|tech|io|co|ai)\\*(?:[\s,;!?'")\]>]|\.?$|\.\s))/gimu;

/** Breaks links, mentions and Markdown's `[text](address)`. */
export const disableAutolinks = (text: string): string =>
  text
    .replace(URL_PATTERN, (address) => address.replace(/[.:]/g, `$&${INVISIBLE_BREAK}`))
    .replace(BARE_SCHEME_PATTERN, `$&${INVISIBLE_BREAK}`)
    .replace(HOST_PATH_PATTERN, `$&${INVISIBLE_BREAK}`)
    .replace(DOMAIN_PATTERN, `$&${INVISIBLE_BREAK}`)
    .replace(/@(?=\S)/g, `@${INVISIBLE_BREAK}`)
    .replace(/\](?=\\*[([:])/g, `]${INVISIBLE_BREAK}`);

const escapeMarkdown = (text: string): string => text.replace(/[\\`*_[\]()#~|!]/g, String.raw`\$&`);

/** Slack's format, which Mattermost and Discord accept too, has three special characters. */
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

/** For the HTML of mails, whose clients link anything like an address. */
export const toHtmlText = (text: string): string => escapeHtml(disableAutolinks(text));
