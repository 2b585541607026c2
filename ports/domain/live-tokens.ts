/** Whether a text would publish a credential of this service that still works. */
import { mayHoldLetters } from '../../lib/unseen.js';
import { token } from '../token.js';

/** For those who store what people and agents write: whether a text would publish a credential of this service. */
export interface LiveTokens {
  /** Whether the text holds a token that is neither revoked nor expired. Intake keys are public and do not count. */
  heldIn(text: string): Promise<boolean>;
}

export const LIVE_TOKENS = token<LiveTokens>('access.live_tokens');

/** What a field that holds a live token is refused with. */
export const HOLDS_LIVE_TOKEN =
  'holds a credential of this service that still works; take it out, and revoke it if others have seen it';

/** Fields of a call whose purpose is a secret: nobody is shown them. */
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
/** No token of any kind is as short: `wd_live_` and 43 letters and digits. */
const MIN_TOKEN_LENGTH = 51;
/** Fields named in one refusal. */
const MAX_CHECKED_FIELDS = 50;

/**
 * Adds the texts of a value that are long enough for a token, names of members included. Bytes are their handler's to
 * judge: each of them would be visited as a member.
 */
function collectTexts(value: unknown, into: string[]): string[] {
  if (typeof value === 'string') {
    if (mayHoldLetters(value, MIN_TOKEN_LENGTH)) into.push(value);
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

/** Texts that are long enough for a token, of each field whose purpose is no secret. */
function listTexts(fields: object): [name: string, text: string][] {
  const texts: [name: string, text: string][] = [];
  for (const [name, value] of Object.entries(fields)) {
    // Texts of one field are judged as one.
    const text = SECRET_FIELDS.has(name) ? '' : collectTexts(value, []).join('\n');
    if (text !== '') texts.push([name, text]);
  }
  return texts;
}

/** Whether a text of these fields is long enough for a token: most calls bring none. */
export const mayHoldToken = (fields: object): boolean => listTexts(fields).length > 0;

/**
 * The fields that hold a live token, each with what is wrong: for `invalid(…)`, when there are any (contract 20,
 * endpoints: `untrusted_fields`). The store is asked only where a text has the shape of a token.
 * @param fields name → a text, or lists and objects of texts; fields whose purpose is a secret are passed over
 * @returns at most fifty
 */
export async function findLiveTokenFields(
  live: LiveTokens,
  fields: Readonly<Record<string, unknown>>,
): Promise<Record<string, string>> {
  const texts = listTexts(fields);
  const wrong: [name: string, fault: string][] = [];
  if (texts.length === 0 || !(await live.heldIn(texts.map(([, text]) => text).join('\n')))) return {};
  for (const [name, text] of texts) {
    if (wrong.length < MAX_CHECKED_FIELDS && (await live.heldIn(text))) wrong.push([name, HOLDS_LIVE_TOKEN]);
  }
  // Not by assignment: a field may be called `__proto__`.
  return Object.fromEntries(wrong);
}
