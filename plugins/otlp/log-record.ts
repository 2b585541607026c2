/** A record of a log, as both encodings of OTLP give it. */
import type { Json } from '../../ports/store.js';
import type { Attributes } from './attributes.js';

export interface LogRecord {
  /** Of the service, the host and the like. */
  resource: Attributes;
  /** Name of the logger; null: none. */
  scope: string | null;
  /** Unix nanoseconds, in decimal digits; null: not stated. */
  time: string | null;
  /** 1 to 24; 0: not stated. */
  severity: number;
  severityText: string | null;
  body: Json;
  attributes: Attributes;
  /** Hex; null: none. */
  traceId: string | null;
  spanId: string | null;
}

/** What a request holds. */
export interface ReadLogs {
  records: LogRecord[];
  /** Records that are too large to be read. */
  skipped: number;
}

/** Bodies beyond these are refused as a whole: a batch of an SDK has some hundred records. */
export const MOST_RECORDS = 5_000;
export const MOST_VALUES = 50_000;

/** One sentence about a body that is no request of OTLP. */
export class Unreadable extends Error {
  override name = 'Unreadable';
}
