import type { MonitorView } from '../../../ports/domain/watchdog.js';

interface WarningReasonLine {
  name?: string;
  message?: string | null;
  overdue?: number;
  interval?: number | null;
}

export interface WarningReason {
  heading: string;
  lines: WarningReasonLine[];
}

export interface CheckView {
  name: string;
  message: string | null;
  state: 'failed' | 'unknown' | 'ok';
}

const CHECK_STATE_ORDER = ['failed', 'unknown', 'ok'] as const;

export function listChecks({ checks }: Pick<MonitorView, 'checks'>): CheckView[] {
  const all = Object.entries(checks).map(([name, { ok, message }]): CheckView => {
    return { name, message, state: ok === false ? 'failed' : ok === true ? 'ok' : 'unknown' };
  });
  return all.toSorted((a, b) => CHECK_STATE_ORDER.indexOf(a.state) - CHECK_STATE_ORDER.indexOf(b.state));
}

/**
 * @param overdue in seconds; null when on time
 * @param interval in seconds; null with a schedule
 */
export function buildWarningReason(
  { checks, message, last_status }: Pick<MonitorView, 'checks' | 'message' | 'last_status'>,
  overdue: number | null,
  interval: number | null,
): WarningReason {
  const failed = listChecks({ checks }).filter(({ state }) => state === 'failed');
  const lines: WarningReasonLine[] = failed.map(({ name, message: text }) => ({ name, message: text }));
  // The last message may say "ok" where a check failed, or nothing came.
  if (message && failed.length === 0 && overdue === null) lines.push({ message });
  if (overdue !== null) {
    return { heading: 'Heartbeat late', lines: [{ overdue, interval }, ...lines] };
  }
  const [first, ...more] = failed;
  if (first === undefined) return { heading: `Reported ${last_status ?? 'a warning'}`, lines };
  const heading = more.length === 0 ? `Check ${first.name} failed` : `${failed.length} checks failed`;
  return { heading: heading, lines };
}
