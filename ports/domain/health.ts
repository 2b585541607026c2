/**
 * Free space for intakes (contract 00, limits). The watchdog uses it to know when heartbeats were
 * rejected (contract 30, own outage).
 */
import { extensionPoint, token } from '../token.js';

export interface StorageSpace {
  /** Returns whether less than `health.min_free_bytes` is free; cached for a second. */
  isLow(): boolean;
}

export const STORAGE_SPACE = token<StorageSpace>('health.space');

/** Reports whether heartbeats are rejected. */
export interface HeartbeatRejection {
  /** Returns whether all heartbeats are rejected, so a missing one proves nothing. */
  isRejecting(): boolean;
}

/** For plugins that can make intakes reject input. */
export const HEARTBEAT_REJECTIONS = extensionPoint<HeartbeatRejection>('watchdog.heartbeat_refusals');
