/**
 * Sanitizes log data: values of secret-like fields are replaced, token-shaped text is removed from
 * every string, errors become plain objects, and depth and length are limited.
 */
import { redactText } from '../../lib/text/hidden-texts.js';
import { toVisibleText } from '../../lib/text/invisible-characters.js';

const SECRET_NAME_PATTERN =
  /pass(word|wd|phrase)?$|^pwd$|secret|token|authori[sz]ation|cookie|credential|api_?key|(shared|webhook|license|data|private|signing|intake|claim)[_-]?key|^key$|^dsn$|totp|^otp|^pem$|^session_id$/i;
/** Names that match above but are safe: ids, counts and kinds of tokens. */
const HARMLESS_NAME_PATTERN = /((?<!session)_id|_kind|_count|_name|_prefix|tokens|_expires_at|_tokens?_at)$|^token_/i;

const SECRET_SHAPES: readonly (readonly [RegExp, string])[] = [
  [/\b(svc_(?:live|sub|setup|in)|wd_live|whsec)_[A-Za-z0-9+/=_-]{6,}/g, '$1_[redacted]'],
  [/\b(Bearer|Basic)\s{1,9}[A-Za-z0-9+/=._~-]{6,}/gi, '$1 [redacted]'],
  [/-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]{0,30}PRIVATE KEY-----|$)/g, '[redacted key]'],
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@:]*:[^\s/@]+@/gi, '$1[redacted]@'],
  [/\b(svc_session=)[^;\s]+/g, '$1[redacted]'],
  // A license key, of which only the last group may be shown.
  [/\b(?:[2-9A-HJ-NP-Z]{5}(?:-|%2D)){4}([2-9A-HJ-NP-Z]{5})\b/gi, '*****-*****-*****-*****-$1'],
];

const MAX_DEPTH = 6;
const MAX_TEXT_LENGTH = 8192;
const MAX_MEMBERS = 100;

export function redactSecrets(text: string): string {
  const bare = redactText(text);
  const short = bare.length > MAX_TEXT_LENGTH ? `${bare.slice(0, MAX_TEXT_LENGTH)}… (${bare.length} characters)` : bare;
  const seen = toVisibleText(short);
  const scrubbed = removeSecretShapes(seen);
  return scrubbed === seen ? short : scrubbed;
}

const removeSecretShapes = (text: string): string =>
  SECRET_SHAPES.reduce((clean, [shape, instead]) => clean.replace(shape, instead), text);

function toErrorFields(error: Error, depth: number): object {
  const { code, cause } = error as Error & { code?: unknown };
  return {
    type: error.name,
    message: redactSecrets(error.message),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    stack: error.stack === undefined ? undefined : redactSecrets(error.stack),
    ...(cause === undefined ? {} : { cause: redactValue(cause, depth + 1, new Set()) }),
  };
}

function redactValue(value: unknown, depth: number, above: Set<object>): unknown {
  if (typeof value === 'string') return redactSecrets(value);
  if (typeof value === 'bigint') return value.toString();
  if (value === null || typeof value !== 'object') return typeof value === 'function' ? undefined : value;
  if (value instanceof Error) return depth > MAX_DEPTH ? value.name : toErrorFields(value, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth > MAX_DEPTH || above.has(value)) return '[…]';
  above.add(value);
  const result = Array.isArray(value)
    ? value.slice(0, MAX_MEMBERS).map((member) => redactValue(member, depth + 1, above))
    : redactMembers(value, depth, above);
  above.delete(value);
  return result;
}

function redactMembers(value: object, depth: number, above: Set<object>): object {
  const result: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value).slice(0, MAX_MEMBERS)) {
    if (name === '__proto__') continue;
    const hidden =
      SECRET_NAME_PATTERN.test(name) &&
      !HARMLESS_NAME_PATTERN.test(name) &&
      member !== null &&
      member !== undefined &&
      typeof member !== 'boolean';
    result[name] = hidden ? '[redacted]' : redactValue(member, depth + 1, above);
  }
  return result;
}

export function redactLogData(data: object): object {
  return redactValue(data, 0, new Set()) as object;
}
