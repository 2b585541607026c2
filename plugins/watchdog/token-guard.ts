/**
 * Annotations hold no live token of this service (contract 20, endpoints): those of ping addresses come as plain text,
 * which the web server does not judge as it does the fields of a call.
 */
import { inject, injectable } from '../../kernel/contract.js';
import { invalid } from '../../kernel/errors.js';
import { findLiveTokenFields } from '../../ports/domain/live-tokens.js';
import { DEPS, type WatchdogDeps } from './deps.js';

@injectable()
export class TokenGuard {
  constructor(@inject(DEPS) private readonly deps: Pick<WatchdogDeps, 'liveTokens'>) {}

  /** @throws ServiceError validation_failed */
  async rejectTokens(fields: object): Promise<void> {
    const wrong = await findLiveTokenFields(this.deps.liveTokens, { ...fields });
    if (Object.keys(wrong).length > 0) throw invalid(wrong);
  }
}
