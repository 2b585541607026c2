/** What systemd tells a service that it supervises, by the environment (sd_notify(3), sd_watchdog_enabled(3)). */

export interface Supervision {
  /** Where it listens for the service's words. */
  socket: string;
  /**
   * How often it wants to hear of the service, in milliseconds: three times in each `WatchdogSec`; null: it does not
   * ask.
   */
  everyMs: number | null;
}

/** Signs of life within one `WatchdogSec`, so that a late one is no death. */
const SIGNS = 3;

/** Null: no supervisor listens. */
export function supervisionOf(env: NodeJS.ProcessEnv = process.env, pid = process.pid): Supervision | null {
  const socket = env['NOTIFY_SOCKET'];
  if (socket === undefined || !/^[/@]./.test(socket)) return null;
  const microseconds = Number(env['WATCHDOG_USEC']);
  const mine = env['WATCHDOG_PID'] === undefined || Number(env['WATCHDOG_PID']) === pid;
  const asks = mine && Number.isFinite(microseconds) && microseconds > 0;
  return { socket, everyMs: asks ? Math.max(1, Math.floor(microseconds / 1_000 / SIGNS)) : null };
}
