/**
 * Tokens of this service in what programs write of themselves (contract 20, untrusted text): a heartbeat must not be
 * lost because its message holds one, so the token goes and the message stays. Every token goes, whether it still works
 * or not: nobody asks the store on the busiest path. Pure, linear.
 */
import { listCopiedForms, mayHoldLetters } from '../unseen.js';

/** What stands where a token was. */
const SCRUBBED = '[scrubbed]';
/** Every kind but intake keys, which are public. */
const SHAPE = /(?:svc_(?:live|sub|setup)|wd_live)_[0-9A-Za-z]{16,}/g;
const HINT = /svc_|wd_live_/;
/** No token of any kind is as short: `wd_live_` and 43 letters and digits. */
const SHORTEST = 51;

const replaced = (text: string): string => (HINT.test(text) ? text.replace(SHAPE, SCRUBBED) : text);

/** As long as it is made: over the end of a line a pattern would go on into the next word. */
const WHOLE = /(?:svc_(?:live|sub|setup)|wd_live)_[0-9A-Za-z]{43}/g;

/** The text without tokens, in whatever form they can be copied from it. The same text where there are none. */
export function removeOwnTokens(text: string): string {
  if (!mayHoldLetters(text, SHORTEST)) return text;
  const plain = replaced(text);
  const [seen = plain, joined = seen] = listCopiedForms(plain);
  const scrubbed = replaced(seen);
  if (scrubbed !== seen) return scrubbed;
  const whole = joined === seen ? joined : joined.replace(WHOLE, SCRUBBED);
  return whole === joined ? plain : whole;
}

/** The same for a value of JSON, names of members included. */
export function removeOwnTokensFromJson(value: unknown): unknown {
  if (typeof value === 'string') return removeOwnTokens(value);
  if (Array.isArray(value)) return value.map(removeOwnTokensFromJson);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [removeOwnTokens(name), removeOwnTokensFromJson(member)]),
  );
}
