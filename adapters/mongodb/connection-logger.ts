/** At each change, and once a minute while it lasts. */
import { RepeatedLineLimiter } from '../../lib/text/repeated-line-limiter.js';
import type { Clock } from '../../ports/clock.js';
import type { Logger } from '../../ports/logger.js';

export type ConnectionState = 'connected' | 'away' | 'replaced' | 'lost';

const STATE_LINES: Record<ConnectionState, { level: 'info' | 'warn' | 'error'; line: string }> = {
  connected: { level: 'info', line: 'MongoDB is back' },
  away: { level: 'error', line: 'MongoDB is away: requests are answered 503 until it answers a ping' },
  replaced: { level: 'warn', line: 'MongoDB was silent too long: a new client asks it' },
  lost: { level: 'error', line: 'MongoDB stays silent: this process ends, so that its supervisor starts a new one' },
};

/** @param lost called when only a restart can help */
export function createConnectionLogger(
  log: Logger,
  clock: Clock,
  lost: () => void,
): (state: ConnectionState, cause?: unknown) => void {
  // A separate limiter, so that a flapping connection is not logged every second.
  const repeated = new RepeatedLineLimiter(() => clock.monotonic());
  return (state, cause) => {
    const { level, line } = STATE_LINES[state];
    const more = repeated.admit(line);
    if (more !== null) log[level](cause === undefined ? more : { ...more, err: cause }, line);
    if (state === 'lost') lost();
  };
}
