import type { MonitorView } from '../../../ports/domain/watchdog.js';

interface Line {
  name?: string;
  message?: string | null;
  overdue?: number;
  interval?: number | null;
}

export interface Reason {
  heading: string;
  lines: Line[];
}

export interface CheckView {
  name: string;
  message: string | null;
  state: 'failed' | 'unknown' | 'ok';
}

const ORDER = ['failed', 'unknown', 'ok'] as const;

export function listChecks({ checks }: Pick<MonitorView, 'checks'>): CheckView[] {
  const all = Object.entries(checks).map(([name, { ok, message }]): CheckView => {
    return { name, message, state: ok === false ? 'failed' : ok === true ? 'ok' : 'unknown' };
  });
  return all.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
}

/**
 * @param overdue seconds of silence beyond the interval; null when heartbeats are on time
 * @param interval in seconds; null with a schedule
 */
export function buildReason(
  { checks, message, last_status }: Pick<MonitorView, 'checks' | 'message' | 'last_status'>,
  overdue: number | null,
  interval: number | null,
): Reason {
  const failed = listChecks({ checks }).filter(({ state }) => state === 'failed');
  const lines: Line[] = failed.map(({ name, message: text }) => ({ name, message: text }));
  if (message) lines.push({ message });
  if (overdue !== null) {
    return { heading: 'In warning: its heartbeat is late', lines: [{ overdue, interval }, ...lines] };
  }
  const [first, ...more] = failed;
  if (first === undefined) return { heading: `In warning: it reported ${last_status ?? 'a warning'}`, lines };
  const heading = more.length === 0 ? `the check ${first.name} failed` : `${failed.length} checks failed`;
  return { heading: `In warning: ${heading}`, lines };
}
