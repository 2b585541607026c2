/**
 * An untrusted reporter wrote the request and a user pastes the command into a shell, so values
 * stay quoted, options cannot be injected, control characters are escaped, and secrets are masked
 * again.
 */
import type { Json } from '../../../../ports/store/index.js';
import { isSecretKey, scrubJson } from '../../text/scrub-report.js';
import { SCRUBBED_MARK, scrubText } from '../../text/scrub-text.js';

type Fields = { [key: string]: Json | undefined };

export interface RequestView {
  method: string;
  url: string;
  /** Null unless the URL is http or https. */
  curl: string | null;
  headers: { name: string; value: string }[];
  rest: { name: string; value: Json }[];
}

const MAX_HEADERS = 60;
const MAX_URL_LENGTH = 4096;
const MAX_VALUE_LENGTH = 2000;
const MAX_BODY_LENGTH = 8192;
const METHOD_PATTERN = /^[A-Za-z]{1,20}$/;
/** RFC 9110; `@file` and names with spaces are invalid. */
const HEADER_NAME_PATTERN = /^[\w!#$%&'*+.^`|~-]{1,100}$/;
/** Of the connection, or set by curl. */
const EXCLUDED_HEADERS = new Set([
  'content-length',
  'connection',
  'transfer-encoding',
  'keep-alive',
  'upgrade',
  'host',
  'te',
]);

const isFields = (value: unknown): value is { [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const toText = (value: Json | undefined): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value);

export function buildRequestView(context: Json): RequestView | null {
  const given = isFields(context) ? context['request'] : null;
  if (!isFields(given)) return null;
  const request = scrubJson(given) as Fields;
  const method = METHOD_PATTERN.test(toText(request['method'])) ? toText(request['method']).toUpperCase() : 'GET';
  const headers = parseHeaders(request['headers']);
  const url = buildUrl(toText(request['url']), request['query_string']);
  const rest = ['query_string', 'data', 'cookies', 'fragment', 'env'].flatMap((name) => {
    const value = request[name] ?? null;
    return value === null || value === '' ? [] : [{ name, value }];
  });
  if (url === '' && headers.length === 0 && rest.length === 0) return null;
  return { method, url, headers, rest, curl: buildCurlCommand(method, url, headers, request['data']) };
}

/** Pairs, or an object with values or lists. */
function parseHeaders(given: Json | undefined): { name: string; value: string }[] {
  const pairs = Array.isArray(given) ? given : isFields(given) ? Object.entries(given) : [];
  return pairs.slice(0, MAX_HEADERS).flatMap((pair) => {
    const [name, value] = Array.isArray(pair) ? pair : [];
    if (typeof name !== 'string' || !HEADER_NAME_PATTERN.test(name)) return [];
    const scrubbedValue = isSecretKey(name)
      ? SCRUBBED_MARK
      : scrubText(
          [value]
            .flat()
            .map((one) => toText(one))
            .join(', '),
        );
    return [{ name, value: scrubbedValue.replace(/[\r\n]+/g, ' ').slice(0, MAX_VALUE_LENGTH) }];
  });
}

function buildUrl(url: string, query: Json | undefined): string {
  const [whole = '', fragment = ''] = url.slice(0, MAX_URL_LENGTH).split('#', 2);
  const queryText = formatQuery(query);
  const full = whole.includes('?') || queryText === '' ? whole : `${whole}?${queryText}`;
  const at = full.indexOf('?');
  const path = (at < 0 ? full : full.slice(0, at)).replace(/^([a-z]+:\/\/)[^/@]{0,500}@/i, '$1');
  if (at < 0) return scrubText(path) + (fragment === '' ? '' : `#${scrubText(fragment)}`);
  const parts = full
    .slice(at + 1)
    .split('&')
    .map((part) => {
      const [name = '', ...value] = part.split('=');
      return value.length > 0 && isSecretKey(decodeName(name)) ? `${name}=${SCRUBBED_MARK}` : part;
    });
  return scrubText(`${path}?${parts.join('&')}`).slice(0, MAX_URL_LENGTH);
}

function formatQuery(query: Json | undefined): string {
  if (typeof query === 'string') return query.replace(/^\?/, '').slice(0, MAX_URL_LENGTH);
  const pairs = Array.isArray(query) ? query : isFields(query) ? Object.entries(query) : [];
  const texts = pairs.slice(0, MAX_HEADERS).flatMap((pair) => {
    const [name, value] = Array.isArray(pair) ? pair : [];
    return typeof name === 'string'
      ? [`${encodeURIComponent(toWellFormedText(name))}=${encodeURIComponent(toWellFormedText(toText(value)))}`]
      : [];
  });
  return texts.join('&');
}

/** Lone surrogates cannot be encoded. */
const toWellFormedText = (text: string): string => text.slice(0, MAX_VALUE_LENGTH).toWellFormed();

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function buildCurlCommand(
  method: string,
  url: string,
  headers: RequestView['headers'],
  data: Json | undefined,
): string | null {
  // Partial URLs are useless, and other schemes could read files.
  if (!/^https?:\/\/[^\s/]/i.test(url)) return null;
  const body = toText(data).slice(0, MAX_BODY_LENGTH);
  const hasBody = body !== '' && method !== 'GET' && method !== 'HEAD';
  const lines = [
    `curl --globoff -X ${method} ${quoteForShell(url.replace(/#.*$/s, ''))}`,
    ...headers
      .filter(({ name }) => !EXCLUDED_HEADERS.has(name.toLowerCase()))
      .map(({ name, value }) => `-H ${quoteForShell(value === '' ? `${name};` : `${name}: ${value}`)}`),
    ...(hasBody ? [`--data-raw ${quoteForShell(body)}`] : []),
  ];
  return lines.join(' \\\n  ');
}

const SPECIAL_CHARACTER_PATTERN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/u;

/** Special characters use `$'…'` (bash, zsh, ksh), so that the command runs as displayed. */
export function quoteForShell(text: string): string {
  if (!SPECIAL_CHARACTER_PATTERN.test(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const body = Array.from(text.toWellFormed(), (char) => {
    if (char === "'" || char === '\\') return `\\${char}`;
    if (!SPECIAL_CHARACTER_PATTERN.test(char)) return char;
    if (char === '\n') return String.raw`\n`;
    if (char === '\t') return String.raw`\t`;
    const code = char.codePointAt(0) ?? 0;
    if (code === 0) return '';
    if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
  return `$'${body.join('')}'`;
}
