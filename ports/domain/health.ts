/** Free space for intakes (contract 00, limits). */
import { extensionPoint, token } from '../token.js';

export interface StorageSpace {
  /** Cached for a second. */
  isLow(): boolean;
}

export const STORAGE_SPACE = token<StorageSpace>('health.space');

/** Reports whether heartbeats are rejected. */
export interface HeartbeatRejection {
  /** Returns whether all heartbeats are rejected, so a missing one proves nothing. */
  isRejecting(): boolean;
}

export const HEARTBEAT_REJECTIONS = extensionPoint<HeartbeatRejection>('watchdog.heartbeat_refusals');
