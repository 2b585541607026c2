/**
 * Scrubs this service's tokens from machine reports (contract 20, untrusted text), so that a
 * heartbeat is not lost. Invalid tokens go too, to avoid store access on the busiest path.
 */
import { listCopiedForms, canContainLetters } from './invisible-characters.js';

const SCRUBBED = '[scrubbed]';
/** Intake keys are public. */
const TOKEN_PATTERN = /(?:svc_(?:live|sub|setup)|wd_live)_[0-9A-Za-z]{16,}/g;
const TOKEN_HINT_PATTERN = /svc_|wd_live_/;
const MIN_TOKEN_LENGTH = 51;

const replaceTokens = (text: string): string =>
  TOKEN_HINT_PATTERN.test(text) ? text.replace(TOKEN_PATTERN, SCRUBBED) : text;

/** Across a line end the open pattern would consume the next word. */
const WHOLE_TOKEN_PATTERN = /(?:svc_(?:live|sub|setup)|wd_live)_[0-9A-Za-z]{43}/g;

/** Removes tokens in any copyable form; returns the same text without any. */
export function scrubTokens(text: string): string {
  if (!canContainLetters(text, MIN_TOKEN_LENGTH)) return text;
  const plain = replaceTokens(text);
  const [seen = plain, joined = seen] = listCopiedForms(plain);
  const scrubbed = replaceTokens(seen);
  if (scrubbed !== seen) return scrubbed;
  const whole = joined === seen ? joined : joined.replace(WHOLE_TOKEN_PATTERN, SCRUBBED);
  return whole === joined ? plain : whole;
}

/** Removes tokens from JSON, member names included. */
export function scrubTokensInJson(value: unknown): unknown {
  if (typeof value === 'string') return scrubTokens(value);
  if (Array.isArray(value)) return value.map(scrubTokensInJson);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [scrubTokens(name), scrubTokensInJson(member)]),
  );
}
