/**
 * A lease of this machine ends by its monotonic clock, which never steps. One of another machine,
 * or of an earlier boot, ends by the time of day; one written in the future counts as ended, as in
 * `hasElapsed`.
 */
import { MAX_AHEAD_MS } from '../../../lib/clock-skew.js';
import { toIsoString } from '../../../lib/time.js';
import type { Clock } from '../../../kernel/contract/index.js';
import type { Filter } from '../../../ports/store/index.js';
import type { SeatLeaseDoc } from '../model/documents.js';

export type LeaseTimes = Pick<SeatLeaseDoc, 'renewed_at' | 'expires_at' | 'epoch' | 'due_ms'>;

export function startLease(clock: Clock, ms: number): LeaseTimes {
  const now = clock.now();
  return {
    renewed_at: toIsoString(now),
    expires_at: toIsoString(now + ms),
    epoch: clock.epoch,
    due_ms: clock.monotonic() + ms,
  };
}

export function isLeaseExpired(lease: LeaseTimes, clock: Clock): boolean {
  if (lease.epoch === clock.epoch) return lease.due_ms <= clock.monotonic();
  const now = clock.now();
  return Date.parse(lease.expires_at) <= now || Date.parse(lease.renewed_at) > now + MAX_AHEAD_MS;
}

export const buildLiveFilter = (clock: Clock): { or: readonly Filter[] } => ({
  or: [
    { epoch: clock.epoch, due_ms: { gt: clock.monotonic() } },
    {
      epoch: { ne: clock.epoch },
      expires_at: { gt: toIsoString(clock.now()) },
      renewed_at: { lte: toIsoString(clock.now() + MAX_AHEAD_MS) },
    },
  ],
});

export const buildExpiredFilter = (clock: Clock): { or: readonly Filter[] } => ({
  or: [
    { epoch: clock.epoch, due_ms: { lte: clock.monotonic() } },
    { epoch: { ne: clock.epoch }, expires_at: { lte: toIsoString(clock.now()) } },
    { epoch: { ne: clock.epoch }, renewed_at: { gt: toIsoString(clock.now() + MAX_AHEAD_MS) } },
  ],
});
