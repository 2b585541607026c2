/**
 * Scrubs this service's tokens from machine reports (contract 20, untrusted text), so that a
 * heartbeat is not lost. Invalid tokens go too, to avoid store access on the busiest path. Linear.
 */
import { listCopiedForms, mayHoldLetters } from '../unseen.js';

const SCRUBBED = '[scrubbed]';
/** All kinds but intake keys, which are public. */
const SHAPE = /(?:svc_(?:live|sub|setup)|wd_live)_[0-9A-Za-z]{16,}/g;
const HINT = /svc_|wd_live_/;
const SHORTEST = 51;

const replaced = (text: string): string => (HINT.test(text) ? text.replace(SHAPE, SCRUBBED) : text);

/** Exact length: across a line end the open pattern would consume the next word. */
const WHOLE = /(?:svc_(?:live|sub|setup)|wd_live)_[0-9A-Za-z]{43}/g;

/** Removes tokens in any copyable form; returns the same text without any. */
export function removeOwnTokens(text: string): string {
  if (!mayHoldLetters(text, SHORTEST)) return text;
  const plain = replaced(text);
  const [seen = plain, joined = seen] = listCopiedForms(plain);
  const scrubbed = replaced(seen);
  if (scrubbed !== seen) return scrubbed;
  const whole = joined === seen ? joined : joined.replace(WHOLE, SCRUBBED);
  return whole === joined ? plain : whole;
}

/** Removes tokens from JSON, member names included. */
export function removeOwnTokensFromJson(value: unknown): unknown {
  if (typeof value === 'string') return removeOwnTokens(value);
  if (Array.isArray(value)) return value.map(removeOwnTokensFromJson);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [removeOwnTokens(name), removeOwnTokensFromJson(member)]),
  );
}
