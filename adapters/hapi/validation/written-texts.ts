/**
 * Rejects text of users and agents that contains a live token of this service (contract 20,
 * endpoints: `untrusted_fields`). All authenticated changes pass here: routes, page forms and agent
 * tools. Machine reports are scrubbed instead (`input.report` of a route).
 */
import { findLiveTokenFields, mayHoldToken, type LiveTokens } from '../../../ports/domain/live-tokens.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import { Failure } from '../wire/failure.js';

export class WrittenTexts {
  /** @param live null: tokens are not checked */
  constructor(private readonly live: LiveTokens | null) {}

  judge({ query, body }: Pick<IncomingRequest, 'query' | 'body'>): Promise<Failure | null> | null {
    const given = fieldsOf(body);
    if (this.live === null || !(mayHoldToken(query) || mayHoldToken(given))) return null;
    return this.#judged(this.live, { ...query, ...given });
  }

  async #judged(live: LiveTokens, given: Record<string, unknown>): Promise<Failure | null> {
    const fields = await findLiveTokenFields(live, given);
    if (Object.keys(fields).length === 0) return null;
    return new Failure('validation_failed', 'A text holds a credential of this service.', { fields });
  }
}

const fieldsOf = (body: unknown): object =>
  typeof body === 'object' && body !== null && !Buffer.isBuffer(body) && !(Symbol.asyncIterator in body) ? body : {};
