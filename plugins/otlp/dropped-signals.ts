/**
 * `/v1/traces` and `/v1/metrics`: OpenTelemetry exporters are configured once for all signals, so
 * unsupported ones are accepted and discarded unread (contract 21, Amendments).
 */
import joi from 'joi';
import { text, type Clock, type Logger, type RouteSpec } from '../../kernel/contract/index.js';
import { HOUR_MS } from '../../lib/time.js';
import type { BodyFilter } from '../../ports/http/index.js';
import { JSON_MEDIA_TYPE, PROTOBUF_MEDIA_TYPE } from './media-types.js';

const DISCARDING_FILTER: BodyFilter = { push: () => [], end: () => [] };
const NO_COST: ReadonlyMap<string, number> = new Map();
const SIGNAL_OPERATIONS = { traces: 'sendTraces', metrics: 'sendMetrics' } as const;

export function buildDroppedSignalRoutes({
  log,
  clock,
}: {
  log: Logger;
  clock: Pick<Clock, 'monotonic'>;
}): RouteSpec[] {
  let warnedAt = -Infinity;
  const warn = (signal: string): void => {
    const now = clock.monotonic();
    if (now - warnedAt < HOUR_MS) return;
    warnedAt = now;
    log.warn({ signal }, 'OpenTelemetry traces and metrics were dropped: only logs with exceptions are stored');
  };
  return Object.entries(SIGNAL_OPERATIONS).map(([signal, operationId]): RouteSpec => ({
    method: 'POST',
    path: `/v1/${signal}`,
    operationId,
    tag: 'otlp',
    summary: `Accept OpenTelemetry ${signal} without storing them`,
    description: 'For exporters that are configured once for all signals. `/v1/logs` stores logs.',
    access: { scope: 'bugtracker:report', intake: true },
    input: { mediaType: [JSON_MEDIA_TYPE, PROTOBUF_MEDIA_TYPE], report: true },
    output: joi.object({}),
    plain: true,
    limits: {
      rate: 'intake',
      inflate: true,
      payload: 'raw',
      sieve: () => DISCARDING_FILTER,
      categories: () => NO_COST,
    },
    handle: ({ headers }) => {
      warn(signal);
      const isProtobuf = headers['content-type']?.toLowerCase().startsWith(PROTOBUF_MEDIA_TYPE) === true;
      // An empty message means full success.
      return isProtobuf ? text(Buffer.alloc(0), PROTOBUF_MEDIA_TYPE) : {};
    },
  }));
}
