import type { Json } from '../../ports/store/index.js';
import type { Attributes } from './attributes.js';

export interface LogRecord {
  resource: Attributes;
  scope: string | null;
  /** Unix nanoseconds in decimal digits. */
  time: string | null;
  severity: number;
  severityText: string | null;
  body: Json;
  attributes: Attributes;
  traceId: string | null;
  spanId: string | null;
}

export interface ParsedLogs {
  records: LogRecord[];
  skipped: number;
}

/** Larger requests are rejected; SDK batches have some hundred records. */
export const MAX_RECORDS = 5_000;
export const MAX_VALUES = 50_000;

export class InvalidLogsError extends Error {
  override name = 'Unreadable';
}
