import { inject, injectable, token } from '../../kernel/contract/index.js';
import type { CheckInSender, WatchdogApi } from '../../ports/domain/watchdog.js';
import type { TokenPrincipal } from '../../ports/http/index.js';
import { parseCheckIn } from './check-in.js';
import type { UntypedRecord } from './untyped-values.js';

export const WATCHDOG_RESOLVER = token<() => Pick<WatchdogApi, 'recordCheckIn'> | undefined>('sentry.watchdog');

@injectable()
export class CheckInForwarder {
  constructor(
    @inject(WATCHDOG_RESOLVER) private readonly watchdog: () => Pick<WatchdogApi, 'recordCheckIn'> | undefined,
  ) {}

  get isAvailable(): boolean {
    return this.watchdog() !== undefined;
  }

  /** @throws ServiceError insufficient_scope, validation_failed */
  async forward(payload: UntypedRecord, project: string, principal: TokenPrincipal): Promise<void> {
    const checkIn = parseCheckIn(payload, project);
    if (checkIn !== null) await this.watchdog()?.recordCheckIn(checkIn, toCheckInSender(principal, project));
  }
}

function toCheckInSender({ id, parent_id, name, scopes, token_kind }: TokenPrincipal, project: string): CheckInSender {
  const mayPing = token_kind !== 'intake' && scopes.includes('watchdog:ping');
  return { name, project, token: mayPing ? (parent_id ?? id) : null };
}
