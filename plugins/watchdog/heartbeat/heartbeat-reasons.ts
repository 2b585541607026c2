import type { MonitorState } from '../../../ports/domain/watchdog.js';
import type { ReceivedHeartbeat } from './heartbeat.js';

export function formatTransitionReason(
  state: MonitorState,
  { status, failed }: ReceivedHeartbeat,
  alive: boolean,
): string {
  if (!alive) return 'First heartbeat';
  if (state === 'warning') return failed && status === 'ok' ? 'A check failed' : `Reported ${status}`;
  return state === 'up' ? 'Heartbeat' : `Announced ${status}`;
}

/** A sentence without its full stop. */
export function formatWarningReason({
  status,
  failures,
  message,
}: Pick<ReceivedHeartbeat, 'status' | 'failures' | 'message'>): string {
  if (failures !== '') return `A check failed: ${failures}`;
  const reported = status === 'error' ? 'An error was reported' : 'A warning was reported';
  return message ? `${reported}: ${message.slice(0, 200)}` : reported;
}
