/**
 * The one place where texts of people and agents are judged: none may hold a live token of this service (contract 20,
 * endpoints: `untrusted_fields`). Every authenticated call that changes something passes here: routes, the forms of
 * pages, the tools of agents. Reports of machines are scrubbed, not refused (`input.report` of a route).
 */
import { findLiveTokenFields, mayHoldToken, type LiveTokens } from '../../../ports/domain/live-tokens.js';
import type { IncomingRequest } from '../wire/incoming-request.js';
import { Failure } from '../wire/failure.js';

export class WrittenTexts {
  /** @param live null: nobody knows tokens, and nothing is refused */
  constructor(private readonly live: LiveTokens | null) {}

  /** Why query and body, both checked by their schemas, are refused; null: they are not. */
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

/** Fields of a parsed body; a body in bytes is its handler's to judge. */
const fieldsOf = (body: unknown): object =>
  typeof body === 'object' && body !== null && !Buffer.isBuffer(body) && !(Symbol.asyncIterator in body) ? body : {};
