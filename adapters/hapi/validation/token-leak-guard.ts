/**
 * Rejects text of users and agents that contains a live token of this service (contract 20,
 * endpoints: `untrusted_fields`). Machine reports are scrubbed instead (`input.report` of a route).
 */
import { findLiveTokenFields, canContainToken, type LiveTokenDetector } from '../../../ports/domain/live-tokens.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import { Failure } from '../wire/failure.js';

export class TokenLeakGuard {
  /** @param live null: tokens are not checked */
  constructor(private readonly live: LiveTokenDetector | null) {}

  check({ query, body }: Pick<IncomingRequest, 'query' | 'body'>): Promise<Failure | null> | null {
    const given = toFields(body);
    if (this.live === null || !(canContainToken(query) || canContainToken(given))) return null;
    return this.#findLeaks(this.live, { ...query, ...given });
  }

  async #findLeaks(live: LiveTokenDetector, given: Record<string, unknown>): Promise<Failure | null> {
    const fields = await findLiveTokenFields(live, given);
    if (Object.keys(fields).length === 0) return null;
    return new Failure('validation_failed', 'A text contains a credential of this service.', { fields });
  }
}

const toFields = (body: unknown): object =>
  typeof body === 'object' && body !== null && !Buffer.isBuffer(body) && !(Symbol.asyncIterator in body) ? body : {};
