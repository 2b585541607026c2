import type { WatchdogServices } from '../services.js';

/** What the form shows without its folded part. */
export const HEARTBEAT_FIELDS: readonly string[] = ['source', 'name', 'interval_seconds', 'project'];
export const CRON_FIELDS: readonly string[] = ['source', 'name', 'schedule', 'timezone'];

/** Returns links to the forms of new monitors, by kind. */
export function listMonitorKinds({ probes }: Pick<WatchdogServices, 'probes'>, chosen: string): object[] {
  const [first, ...checks] = probes()?.listKinds() ?? [];
  return [
    ...(first === undefined ? [] : [first]),
    { value: 'heartbeat', label: 'Heartbeat', href: '/monitors/new?kind=heartbeat' },
    { value: 'cron', label: 'Cron job', href: '/monitors/new?kind=cron' },
    ...checks,
  ].map(({ value, label, href }) => ({ label, href, active: value === chosen }));
}
