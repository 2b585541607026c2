import type { MonitorDoc } from '../model/documents.js';
import { formatPercent, getUptime, type Uptime, type UptimeCell } from '../model/uptime.js';

const TONES: Readonly<Record<UptimeCell['state'], string>> = {
  up: 'success',
  warning: 'warning',
  down: 'critical',
  none: 'none',
};

interface Column {
  readonly tone: string;
  readonly text: string;
  readonly seconds: number | null;
}

export interface UptimeView {
  hours: Column[];
  day: string;
  month: string;
  quarter: string;
}

export interface LongUptimeView extends UptimeView {
  days: Column[];
}

const PLAIN: Readonly<Partial<Record<UptimeCell['state'], Column>>> = {
  up: { tone: TONES.up, text: 'up', seconds: null },
  none: { tone: TONES.none, text: 'not watched', seconds: null },
};

const toUptimeColumn = ({ state, seconds }: UptimeCell): Column =>
  PLAIN[state] ?? { tone: TONES[state], text: state === 'warning' ? 'in warning' : state, seconds };

const toUptimeView = (uptime: Uptime): UptimeView => ({
  hours: uptime.hours.map(toUptimeColumn),
  day: formatPercent(uptime.day),
  month: formatPercent(uptime.month),
  quarter: formatPercent(uptime.quarter),
});

/** @param now in ms since 1970 */
export const buildUptimeView = (doc: MonitorDoc, now: number): UptimeView => toUptimeView(getUptime(doc, now));

export function buildLongUptimeView(doc: MonitorDoc, now: number): LongUptimeView {
  const uptime = getUptime(doc, now);
  return { ...toUptimeView(uptime), days: uptime.days.map(toUptimeColumn) };
}
