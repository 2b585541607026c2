/**
 * Ping URLs receive plain text, which the HTTP server does not check like JSON fields (contract 20,
 * endpoints).
 */
import { inject, injectable } from '../../kernel/contract/index.js';
import { invalid } from '../../kernel/errors.js';
import { findLiveTokenFields } from '../../ports/domain/live-tokens.js';
import { DEPS, type WatchdogDeps } from './deps.js';

@injectable()
export class AnnotationTokenGuard {
  constructor(@inject(DEPS) private readonly deps: Pick<WatchdogDeps, 'liveTokens'>) {}

  /** @throws ServiceError validation_failed */
  async rejectTokens(fields: object): Promise<void> {
    const wrong = await findLiveTokenFields(this.deps.liveTokens, { ...fields });
    if (Object.keys(wrong).length > 0) throw invalid(wrong);
  }
}
