import type { MonitorDoc } from '../model/documents.js';
import { formatPercent, getUptime, type Uptime, type UptimeCell } from '../model/uptime.js';

const STATE_TONES: Readonly<Record<UptimeCell['state'], string>> = {
  up: 'success',
  warning: 'warning',
  down: 'critical',
  none: 'none',
};

interface UptimeColumn {
  readonly tone: string;
  readonly text: string;
  readonly seconds: number | null;
}

export interface UptimeView {
  hours: UptimeColumn[];
  day: string;
  month: string;
  quarter: string;
}

export interface LongUptimeView extends UptimeView {
  days: UptimeColumn[];
}

const UNIFORM_COLUMNS: Readonly<Partial<Record<UptimeCell['state'], UptimeColumn>>> = {
  up: { tone: STATE_TONES.up, text: 'up', seconds: null },
  none: { tone: STATE_TONES.none, text: 'no data', seconds: null },
};

const toUptimeColumn = ({ state, seconds }: UptimeCell): UptimeColumn =>
  UNIFORM_COLUMNS[state] ?? { tone: STATE_TONES[state], text: state === 'warning' ? 'in warning' : state, seconds };

const toUptimeView = (uptime: Uptime): UptimeView => ({
  hours: uptime.hours.map(toUptimeColumn),
  day: formatPercent(uptime.day),
  month: formatPercent(uptime.month),
  quarter: formatPercent(uptime.quarter),
});

export const buildUptimeView = (doc: MonitorDoc, now: number): UptimeView => toUptimeView(getUptime(doc, now));

export function buildLongUptimeView(doc: MonitorDoc, now: number): LongUptimeView {
  const uptime = getUptime(doc, now);
  return { ...toUptimeView(uptime), days: uptime.days.map(toUptimeColumn) };
}
