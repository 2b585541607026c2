/** See contract 30, endpoints; contract 10, tokens. */
import { refusals, type ErrorCatalog } from '../../../kernel/contract/index.js';
import { denied, ServiceError } from '../../../kernel/errors.js';
import type { Principal } from '../../../ports/http/index.js';

export const ERRORS = {
  source_mismatch: [403, 'A `wd_live_` token was used for a source it does not belong to.', 'Not for this monitor'],
} as const satisfies ErrorCatalog;

const refusal = refusals(ERRORS);

export interface WatchdogCaller {
  name: string;
  /** For a sub-token the parent's, whose limits it shares. Null without a token. */
  token: string | null;
  /** Null for all. */
  project: string | null;
  /** Set for `wd_live_`; null for all. */
  source: string | null;
  /** For a public key, which may access only monitors created under its `token`. */
  most?: number;
}

export function toWatchdogCaller(principal: Principal): WatchdogCaller {
  if (principal.kind === 'token') {
    const { id, parent_id, name, project, source } = principal;
    return { name, token: parent_id ?? id, project, source };
  }
  if (principal.kind === 'session') return { name: principal.username, token: null, project: null, source: null };
  if (principal.kind === 'shared_key') return { name: 'shared key', token: null, project: null, source: null };
  throw new ServiceError('unauthorized', 'Requires a credential.');
}

/**
 * `watchdog:read`, the shared key, or a `wd_live_` token.
 * @throws ServiceError insufficient_scope
 */
export function toWatchdogReader(principal: Principal): WatchdogCaller {
  const caller = toWatchdogCaller(principal);
  if (principal.kind !== 'token' || principal.token_kind === 'watchdog') return caller;
  if (!principal.scopes.some((scope) => scope === 'watchdog:read' || scope === 'watchdog:manage')) {
    throw denied('Requires a token with the scope watchdog:read, a watchdog token, or the shared key.');
  }
  return caller;
}

/** @throws ServiceError source_mismatch */
export function assertCanReport(caller: WatchdogCaller, source: string): void {
  if (caller.source !== null && caller.source !== source) {
    throw refusal('source_mismatch', 'This token belongs to another source.');
  }
}

/** @throws ServiceError insufficient_scope */
export function assertCanAccess(
  caller: WatchdogCaller,
  monitor: { project: string | null; created_by_token?: string | null },
): void {
  if (caller.project !== null && caller.project !== monitor.project) {
    throw denied('This token belongs to another project.');
  }
  if (caller.most !== undefined && monitor.created_by_token !== caller.token) {
    throw denied('An intake key can only report for monitors created by intake keys.');
  }
}
