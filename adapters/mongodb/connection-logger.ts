/** At each change, and once a minute while it lasts. */
import { RepeatedLineLimiter } from '../../lib/text/repeated-line-limiter.js';
import type { Clock } from '../../ports/clock.js';
import type { Logger } from '../../ports/logger.js';

export type ConnectionState = 'connected' | 'away' | 'replaced' | 'lost';

const STATE_LINES: Record<ConnectionState, { level: 'info' | 'warn' | 'error'; line: string }> = {
  connected: { level: 'info', line: 'MongoDB is back' },
  away: { level: 'error', line: 'MongoDB is unreachable: requests get 503 until it answers a ping' },
  replaced: { level: 'warn', line: 'MongoDB did not respond for too long: connecting with a new client' },
  lost: {
    level: 'error',
    line: 'MongoDB still does not respond: exiting, so that the supervisor restarts the process',
  },
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
