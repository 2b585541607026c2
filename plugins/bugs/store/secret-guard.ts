/**
 * Rejects credentials of this service (contract 20, untrusted text): a token, or the claim token of
 * a live lease. Reports are scrubbed instead (text/scrub-text.ts), because none may be lost.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { invalid } from '../../../kernel/errors.js';
import { listCopiedForms } from '../../../lib/text/invisible-characters.js';
import { findLiveTokenFields, LIVE_TOKEN_MESSAGE, type LiveTokenDetector } from '../../../ports/domain/live-tokens.js';
import type { Sort, Collection } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import { hashClaimToken } from '../item/lease.js';
import type { Clock } from '../../../ports/clock.js';
import type { ItemDoc } from '../item/model.js';

const CLAIM_TOKEN_PATTERN = /(?<![0-9A-Za-z])[0-9A-Za-z]{43}(?![0-9A-Za-z])/g;
const CLAIM_TOKEN_LENGTH = 43;
const CHUNK_SIZE = 500;

const BROKEN_TOKEN_PATTERN = /[0-9A-Za-z]+(?:[ \t]{0,100}(?:\r\n?|\n)[ \t>|]{0,100}[0-9A-Za-z]+)+/g;

/** Adjacent lines of the right total length. */
function findBrokenTokens(text: string): string[] {
  const found: string[] = [];
  for (const [block] of text.matchAll(BROKEN_TOKEN_PATTERN)) {
    const pieces = block.match(/[0-9A-Za-z]+/g) ?? [];
    for (let from = 0; from < pieces.length; from++) {
      let whole = '';
      for (let at = from; at < pieces.length && whole.length < CLAIM_TOKEN_LENGTH; at++) {
        whole += pieces[at] ?? '';
        if (at > from && whole.length === CLAIM_TOKEN_LENGTH) found.push(whole);
      }
    }
  }
  return found;
}

const RESOLVED = Promise.resolve();

/** Shorter than any token. */
const isShort = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.length < CLAIM_TOKEN_LENGTH);

@injectable()
export class SecretGuard {
  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.liveTokens) private readonly liveTokens: LiveTokenDetector,
  ) {}

  /**
   * @param fields name → text or texts
   * @throws ServiceError validation_failed
   */
  rejectSecrets(fields: Readonly<Record<string, unknown>>): Promise<void> {
    return Object.values(fields).every(isShort) ? RESOLVED : this.#rejectSecrets(fields);
  }

  async #rejectSecrets(fields: Readonly<Record<string, unknown>>): Promise<void> {
    const wrong = await findLiveTokenFields(this.liveTokens, fields);
    for (const [name, value] of Object.entries(fields)) {
      const text = [value]
        .flat()
        .filter((one) => typeof one === 'string')
        .join('\n');
      if (text !== '' && (await this.#containsClaimToken(text))) wrong[name] = LIVE_TOKEN_MESSAGE;
    }
    if (Object.keys(wrong).length > 0) throw invalid(wrong);
  }

  async containsSecret(text: string): Promise<boolean> {
    return (await this.liveTokens.hasLiveToken(text)) || (await this.#containsClaimToken(text));
  }

  async #containsClaimToken(text: string): Promise<boolean> {
    const [seen = text] = listCopiedForms(text);
    // An invisible character may split a token, or separate it from its neighbors.
    const found = [text, ...(seen === text ? [] : [seen])].flatMap((one) => one.match(CLAIM_TOKEN_PATTERN) ?? []);
    const hashes = [...new Set([...found, ...findBrokenTokens(seen)])].map(hashClaimToken);
    for (let at = 0; at < hashes.length; at += CHUNK_SIZE) {
      const filter = {
        'claim.token_hash': { in: hashes.slice(at, at + CHUNK_SIZE) },
        'claim.expires_at': { gt: this.clock.iso() },
      };
      // Live leases are few; a token index would cost every claim a write.
      const sort: Sort = [['claim.expires_at', 'asc']];
      if ((await this.items.find({ filter, sort, limit: 1 })).items.length > 0) return true;
    }
    return false;
  }
}
