import { canContainLetters } from '../../lib/text/invisible-characters.js';
import { token } from '../token.js';

/** Detects credentials of this service in texts before they are stored. */
export interface LiveTokenDetector {
  /** Intake keys are public and do not count. */
  hasLiveToken(text: string): Promise<boolean>;
}

export const LIVE_TOKENS = token<LiveTokenDetector>('access.live_tokens');

export const LIVE_TOKEN_MESSAGE =
  'contains a valid credential of this service; remove it, and revoke it if others have seen it';

const SECRET_FIELDS = new Set([
  'password',
  'password_again',
  'current_password',
  'totp_password',
  'secret',
  'license_key',
  'claim_token',
  'claim_tokens',
  'csrf',
  'csrf_token',
]);
const MIN_TOKEN_LENGTH = 51;
const MAX_CHECKED_FIELDS = 50;

/** Bytes are skipped: each would be visited as a member. */
function collectTexts(value: unknown, into: string[]): string[] {
  if (typeof value === 'string') {
    if (canContainLetters(value, MIN_TOKEN_LENGTH)) into.push(value);
  } else if (Array.isArray(value)) {
    for (const element of value) collectTexts(element, into);
  } else if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) {
    for (const [name, member] of Object.entries(value)) {
      collectTexts(name, into);
      collectTexts(member, into);
    }
  }
  return into;
}

function listTexts(fields: object): [name: string, text: string][] {
  const texts: [name: string, text: string][] = [];
  for (const [name, value] of Object.entries(fields)) {
    const text = SECRET_FIELDS.has(name) ? '' : collectTexts(value, []).join('\n');
    if (text !== '') texts.push([name, text]);
  }
  return texts;
}

/** Returns whether any text is long enough for a token. */
export const canContainToken = (fields: object): boolean => listTexts(fields).length > 0;

/**
 * Returns fields with a live token and their messages, for `invalid(…)` (contract 20, endpoints:
 * `untrusted_fields`).
 * @param fields name → text, or nested texts; secret fields are skipped
 * @returns at most fifty fields
 */
export async function findLiveTokenFields(
  live: LiveTokenDetector,
  fields: Readonly<Record<string, unknown>>,
): Promise<Record<string, string>> {
  const texts = listTexts(fields);
  const wrong: [name: string, fault: string][] = [];
  if (texts.length === 0 || !(await live.hasLiveToken(texts.map(([, text]) => text).join('\n')))) return {};
  for (const [name, text] of texts) {
    if (wrong.length < MAX_CHECKED_FIELDS && (await live.hasLiveToken(text))) wrong.push([name, LIVE_TOKEN_MESSAGE]);
  }
  return Object.fromEntries(wrong);
}
