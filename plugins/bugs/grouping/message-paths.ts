/** By the rules for origins (path-masks.ts; contract 21, amendments). */
import { isPage, maskSegments, POD_SUFFIX } from './path-masks.js';

const PATH_CANDIDATE = /[^\s"'`<>|()[\]{},;]{2,}/g;
const SLASH = /[/\\]/;
const URL_ORIGIN = /^[a-z][a-z0-9+.-]{1,30}:\/\/[^/\\]*/i;
const LETTER = /\p{L}/u;
const PATH_SUFFIX = /(?::\d{1,9}){0,2}[.:!]{0,3}$/;
const MAX_WORD_LENGTH = 1024;

export const maskPaths = (text: string): string =>
  SLASH.test(text)
    ? text.replace(PATH_CANDIDATE, (word) => (isPath(word) ? maskWord(word.slice(0, MAX_WORD_LENGTH)) : word))
    : text;

function isPath(word: string): boolean {
  const first = word.search(SLASH);
  if (first < 0) return false;
  return LETTER.test(word) && (first === 0 || SLASH.test(word.slice(first + 1)));
}

const ASSET = /\.(?:[cm]?js|css|wasm)(?:\.map)?$/i;
/** `v2` and `oauth2` are words of an API. */
const PLAIN_SEGMENT = /^(?:v\d{1,2}(?:\.\d{1,2})?|[a-z]{2,20}\d{1,2}|\D+|\d+)$/i;
const NUMBER = /^\d+$/;
const HOME_USER = /(?<=(?:^|[/\\])(?:home|Users)[/\\])[^/\\]{1,64}(?=[/\\])/;

function maskWord(word: string): string {
  const host = URL_ORIGIN.exec(word)?.[0] ?? '';
  const end = Math.max(word.length - (PATH_SUFFIX.exec(word)?.[0].length ?? 0), host.length);
  const query = word.slice(host.length, end).search(/[?#]/);
  const stop = query < 0 ? end : host.length + query;
  const path = host === '' ? word.slice(0, stop).replace(HOME_USER, '<user>') : word.slice(host.length, stop);
  const parts = path.split(/([/\\])/);
  const names = parts.filter((part) => part !== '' && !SLASH.test(part) && part !== '.' && part !== '..');
  const masked = maskSegments(names);
  if (masked.length !== names.length) return word;
  const isAsset = ASSET.test(names.at(-1) ?? '');
  const isAddress = host !== '' && isPage(host + path);
  let at = 0;
  const shown = parts.map((part) => {
    if (part !== names[at]) return part;
    const name = masked[at++] ?? '';
    if (NUMBER.test(part)) return part;
    if (isAsset) return name.replace(CHUNK, '<number>.');
    const plain = name.replace(/<(?:hash|guid)>/g, '<id>');
    return isAddress && !PLAIN_SEGMENT.test(plain) ? '<id>' : plain;
  });
  return maskHost(host) + shown.join('') + maskQuery(word.slice(stop, end)) + word.slice(end);
}

/** Bundlers number their chunks: `417.<hash>.chunk.js`. */
const CHUNK = /^\d{1,9}\.(?=<hash>|(?:chunk\.)?[cm]?js$|(?:chunk\.)?css$)/;

export const maskPods = (text: string): string => (text.includes('-') ? text.replace(POD_SUFFIX, '-<pod>') : text);

const HOST_NUMBERS = /\b(ip|ec2)(?:-\d{1,3}){4}\b/g;
const maskHost = (host: string): string => host.replace(HOST_NUMBERS, '$1-<ip>');

const QUERY_VALUE = /(?<=[?&][\w.[\]-]{1,40}=)(?=[^&]{0,64}\d)[^&#]{1,300}|(?<=#)(?=[^&]{0,64}\d).{1,300}/g;
const maskQuery = (query: string): string => (query === '' ? '' : query.replace(QUERY_VALUE, '<value>'));
