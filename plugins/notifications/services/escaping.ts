/**
 * Text from outside for receivers that make links, mentions and markup of it (contract 00: escaped on output). What a
 * chat or a mail program would link or call by its form alone is broken up with a character that is not seen, so that
 * the text reads as it was; markup is escaped as each receiver wants it. Our own links stand beside the text, never in
 * it. Pure.
 */

/** Seen by no reader, and part of no address, name or markup. */
const BREAK = '\u200b';

// Backslashes before punctuation are gone where Markdown was read, so any number of them counts as none.
/** An address with a scheme or as `www.…`, to its end. */
const ADDRESS = /(?:[a-z][a-z0-9+.-]{0,30}\\*:(?:\\*\/){2}|www\\*\.)\S*/gi;
/** What programs take for an address without `//`. */
const BARE = /\b(?:mailto|tel|sms|skype|callto|javascript|data)\\*:(?=\S)/gi;
/** A host with a path, as `sign-in.example/now`, in any script, with a port or without. */
const HOST = /(?<=[\p{L}\p{N}_-])\\*\.(?=(?:\p{L}{2,24}|xn--[a-z0-9-]{2,59})(?:\\*:\d{1,5})?\\*[/?#])/giu;
/**
 * A host alone that mail programs link by the name of its domain. Countries' are left out: `main.py` and `run.sh` are
 * files.
 */
const DOMAIN =
  /(?<=[\p{L}\p{N}_-])\\*\.(?=(?:com|net|org|info|biz|xyz|top|click|link|online|site|shop|live|cloud|app|dev|page|store|tech|io|co|ai)\\*(?:[\s,;!?'")\]>]|\.?$|\.\s))/gimu;

/** Nothing in it is a link, a mention or Markdown's `[text](address)` any more. */
export const disableAutolinks = (text: string): string =>
  text
    .replace(ADDRESS, (address) => address.replace(/[.:]/g, `$&${BREAK}`))
    .replace(BARE, `$&${BREAK}`)
    .replace(HOST, `$&${BREAK}`)
    .replace(DOMAIN, `$&${BREAK}`)
    .replace(/@(?=\S)/g, `@${BREAK}`)
    .replace(/\](?=\\*[([:])/g, `]${BREAK}`);

const escapeMarkdown = (text: string): string => text.replace(/[\\`*_[\]()#~|!]/g, String.raw`\$&`);

/** Slack's form, which Mattermost and Discord take too: three characters of its own. */
export const toSlackText = (text: string): string =>
  disableAutolinks(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The same where it is read as Markdown: by Mattermost and Discord. */
export const toSlackMarkdown = (text: string): string => escapeMarkdown(toSlackText(text));

/** A text block of Teams' adaptive cards. */
export const toCardText = (text: string): string =>
  escapeMarkdown(disableAutolinks(text)).replace(/[<>-]/g, String.raw`\$&`);

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (c) => ENTITIES[c] ?? c);

/** Of a mail's HTML: mail programs link what looks like an address. */
export const toHtmlText = (text: string): string => escapeHtml(disableAutolinks(text));
