import type { Metrics } from '../../../ports/metrics.js';
import type { MonitorView } from '../../../ports/domain/watchdog.js';
import type { Snapshot } from '../monitors/monitor-snapshot-service.js';

type GaugeValues = Record<string, number>;
type GaugeSource = Pick<MonitorView, 'source' | 'state' | 'last_heartbeat_at' | 'metrics_json'>;

/** Equals the limit of one `/status` response. */
const MAX_MONITORS = 5_000;

const GAUGES: readonly [name: string, help: string, read: (monitor: GaugeSource) => number | null][] = [
  [
    'aos_watchdog_monitor_up',
    '1 if a monitor is up or in warning, 0 if down; absent in other states',
    ({ state }) => (state === 'down' ? 0 : state === 'up' || state === 'warning' ? 1 : null),
  ],
  [
    'aos_watchdog_monitor_warning',
    '1 if a monitor is in warning, 0 in any other state',
    ({ state }) => Number(state === 'warning'),
  ],
  [
    'aos_watchdog_monitor_last_heartbeat_timestamp_seconds',
    'Time of the last heartbeat of a monitor, in seconds since 1970',
    ({ last_heartbeat_at }) => (last_heartbeat_at === null ? null : Date.parse(last_heartbeat_at) / 1_000),
  ],
  [
    'aos_watchdog_monitor_response_seconds',
    'Response time of the target of a monitor’s probe',
    ({ metrics_json }) => scaleNumber(metrics_json['response_ms'], 1_000),
  ],
  [
    'aos_watchdog_monitor_certificate_days',
    'Days until the certificate of the target of a monitor’s probe expires',
    ({ metrics_json }) => scaleNumber(metrics_json['cert_days'], 1),
  ],
];

const scaleNumber = (value: unknown, by: number): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value / by : null;

function listGaugeValues({ rows }: Snapshot): GaugeValues[] {
  const all: GaugeValues[] = GAUGES.map(() => ({}));
  for (const { json } of rows.slice(0, MAX_MONITORS)) {
    const monitor = JSON.parse(json) as GaugeSource;
    for (const [at, [, , read]] of GAUGES.entries()) {
      const number = read(monitor);
      if (number !== null) (all[at] as GaugeValues)[monitor.source] = number;
    }
  }
  return all;
}

export function addMonitorGauges(metrics: Metrics, snapshots: { take: () => Promise<Snapshot> }): void {
  let current: Promise<GaugeValues[]> | null = null;
  const read = (): Promise<GaugeValues[]> => {
    current ??= snapshots
      .take()
      .then(listGaugeValues)
      .finally(() => (current = null));
    return current;
  };
  for (const [at, [name, help]] of GAUGES.entries())
    metrics.gauges(name, help, 'monitor', [], async () => (await read())[at] ?? {});
}
