import { toIsoString } from '../../../lib/time.js';
import type { IncidentView } from '../model/incident.js';
import type { MetricHistory } from '../metrics/metric-history-service.js';
import { formatMetricValue, getMetricUnit } from './metric-format.js';

/** The first that a monitor has is its main chart. */
const RESPONSE_METRICS = ['response_ms', 'ping_ms', 'duration_ms'];
const RESPONSE_LABELS: Readonly<Record<string, string>> = {
  response_ms: 'Response time',
  ping_ms: 'Response time',
  duration_ms: 'Run time',
};

type NamedHistory = [name: string, history: MetricHistory];

export function sortUnusualFirst(metrics: Readonly<Record<string, MetricHistory>>): NamedHistory[] {
  const weight = ([, { deviation }]: NamedHistory): number =>
    deviation.significant ? Math.abs(deviation.zscore ?? 0) : 0;
  return Object.entries(metrics).toSorted((a, b) => weight(b) - weight(a));
}

export function toChart([name, { latest, points, baseline, deviation }]: NamedHistory): object {
  const { percent, direction, significant } = deviation;
  const short = (value: number | null): string => formatMetricValue(value, name);
  const away = deviation.absolute === null ? null : Math.abs(deviation.absolute);
  const far = percent === null ? short(away) : `${Math.round(Math.abs(percent))} %`;
  return {
    name,
    latest: { at: latest.t, value: short(latest.v) },
    unit: getMetricUnit(name),
    points,
    mean: baseline.mean,
    stddev: baseline.stddev,
    mean_text: short(baseline.mean),
    min: short(points.reduce((low, { min }) => Math.min(low, min), Infinity)),
    max: short(points.reduce((high, { max }) => Math.max(high, max), -Infinity)),
    sufficient: baseline.sufficient,
    n: baseline.n,
    significant,
    deviation: direction === 'equal' ? 'normal' : `${far} ${direction} normal`,
  };
}

/** Returns null for a monitor without response times. */
export function toResponseChart(
  metrics: Readonly<Record<string, MetricHistory>>,
  incidents: readonly IncidentView[],
  now: number,
): { metric: string; heading: string; downs: { from: string; to: string }[] } | null {
  const metric = RESPONSE_METRICS.find((name) => metrics[name] !== undefined);
  if (metric === undefined) return null;
  const downs = incidents.map(({ began_at, ended_at }) => ({ from: began_at, to: ended_at ?? toIsoString(now) }));
  return { metric, heading: RESPONSE_LABELS[metric] ?? metric, downs };
}
