/** RFC 4180; cells never start a spreadsheet formula. */
import { escapeFormula } from '../../../lib/text/csv.js';
import type { IncidentView } from '../model/incident.js';

function formatCell(value: string | number | boolean | null): string {
  if (value === null) return '';
  const text = String(value);
  const safe = typeof value === 'string' ? escapeFormula(text) : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

export const formatCsv = (rows: readonly (readonly (string | number | boolean | null)[])[]): string =>
  rows.map((row) => `${row.map(formatCell).join(',')}\r\n`).join('');

export const INCIDENT_COLUMNS = [
  'id',
  'source',
  'project',
  'began_at',
  'ended_at',
  'duration_seconds',
  'ended_in',
  'alarm_at',
  'suppressed_by',
  'message',
  'note',
  'cause',
] as const satisfies readonly (keyof IncidentView)[];

export const toIncidentRows = (incidents: readonly IncidentView[]): (string | number | boolean | null)[][] =>
  incidents.map((incident) => INCIDENT_COLUMNS.map((name) => incident[name]));
