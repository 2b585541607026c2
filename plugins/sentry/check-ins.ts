/** Forwards check-ins to the watchdog if that plugin is enabled. */
import { inject, injectable, token } from '../../kernel/contract.js';
import type { CheckInSender, WatchdogApi } from '../../ports/domain/watchdog.js';
import type { TokenPrincipal } from '../../ports/http.js';
import { checkInOf } from './check-in.js';
import type { Loose } from './values.js';

export const FIND_WATCHDOG = token<() => Pick<WatchdogApi, 'checkIn'> | undefined>('sentry.watchdog');

@injectable()
export class CheckIns {
  constructor(@inject(FIND_WATCHDOG) private readonly watchdog: () => Pick<WatchdogApi, 'checkIn'> | undefined) {}

  get taken(): boolean {
    return this.watchdog() !== undefined;
  }

  /**
   * Resolves after the commit.
   * @throws ServiceError insufficient_scope, validation_failed
   */
  async take(payload: Loose, project: string, principal: TokenPrincipal): Promise<void> {
    const checkIn = checkInOf(payload, project);
    if (checkIn !== null) await this.watchdog()?.checkIn(checkIn, senderOf(principal, project));
  }
}

function senderOf({ id, parent_id, name, scopes, token_kind }: TokenPrincipal, project: string): CheckInSender {
  const mayPing = token_kind !== 'intake' && scopes.includes('watchdog:ping');
  return { name, project, token: mayPing ? (parent_id ?? id) : null };
}
