/** Times in which the service takes no heartbeats, which its watchdog holds against no monitor (contract 30, own outage). */
import { extensionPoint } from '../token.js';

/** Knows whether heartbeats are refused. */
export interface HeartbeatRefusal {
  /** Now they are, whoever sends them: one that is missing says nothing about its machine. */
  refuses(): boolean;
}

/** Added by the plugins that can make intakes refuse what they are sent. */
export const HEARTBEAT_REFUSALS = extensionPoint<HeartbeatRefusal>('watchdog.heartbeat_refusals');
