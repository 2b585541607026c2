export interface SupervisorEnv {
  socket: string;
  /** Interval of watchdog messages in milliseconds, a third of `WatchdogSec`; null: no watchdog. */
  everyMs: number | null;
}

/** Watchdog messages per `WatchdogSec`, so that a late one is not fatal. */
const SIGNALS_PER_INTERVAL = 3;

export function readSupervisorEnv(env: NodeJS.ProcessEnv = process.env, pid = process.pid): SupervisorEnv | null {
  const socket = env['NOTIFY_SOCKET'];
  if (socket === undefined || !/^[/@]./.test(socket)) return null;
  const microseconds = Number(env['WATCHDOG_USEC']);
  const mine = env['WATCHDOG_PID'] === undefined || Number(env['WATCHDOG_PID']) === pid;
  const isWatchdogEnabled = mine && Number.isFinite(microseconds) && microseconds > 0;
  return {
    socket,
    everyMs: isWatchdogEnabled ? Math.max(1, Math.floor(microseconds / 1_000 / SIGNALS_PER_INTERVAL)) : null,
  };
}
