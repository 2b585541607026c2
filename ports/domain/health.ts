/**
 * What the health plugin offers the others: whether there is room for what intakes write (contract 00, limits), which
 * tells the watchdog what heartbeats were refused (contract 30, own outage).
 */
import { extensionPoint, token } from '../token.js';

export interface StorageSpace {
  /** Less is free than `health.min_free_bytes`; as of a second ago, so that no report waits for the disk. */
  short(): boolean;
}

export const STORAGE_SPACE = token<StorageSpace>('health.space');

/** Knows whether heartbeats are refused. */
export interface HeartbeatRefusal {
  /** Now they are, whoever sends them: one that is missing says nothing about its machine. */
  refuses(): boolean;
}

/** The watchdog's: added by the plugins that can make intakes refuse what they are sent. */
export const HEARTBEAT_REFUSALS = extensionPoint<HeartbeatRefusal>('watchdog.heartbeat_refusals');
