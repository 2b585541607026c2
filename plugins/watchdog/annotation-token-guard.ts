/**
 * Ping URLs receive plain text, which the HTTP server does not check like JSON fields (contract 20,
 * endpoints).
 */
import { inject, injectable } from '../../kernel/contract/index.js';
import { invalid } from '../../kernel/errors.js';
import { findLiveTokenFields, type LiveTokenDetector } from '../../ports/domain/live-tokens.js';
import { DEPS } from './deps.js';

@injectable()
export class AnnotationTokenGuard {
  constructor(@inject(DEPS.liveTokens) private readonly liveTokens: LiveTokenDetector) {}

  /** @throws ServiceError validation_failed */
  async rejectTokens(fields: object): Promise<void> {
    const wrong = await findLiveTokenFields(this.liveTokens, { ...fields });
    if (Object.keys(wrong).length > 0) throw invalid(wrong);
  }
}
