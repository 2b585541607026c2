import type { MonitorState, Observation } from '../../../ports/domain/watchdog.js';
import { cleanText } from '../../../lib/text/clean-text.js';
import { scrubTokensInJson, scrubTokens } from '../../../lib/text/scrub-tokens.js';

export const STATUSES = ['ok', 'warning', 'error', 'stopped', 'maintenance'] as const;
export type ReportedStatus = (typeof STATUSES)[number];

const STATUS_ALIASES: Readonly<Record<string, ReportedStatus>> = {
  up: 'ok',
  warn: 'warning',
  fail: 'error',
  failed: 'error',
  critical: 'error',
  down: 'error',
};
const DOWN_STATUSES: ReadonlySet<string> = new Set(['fail', 'failed', 'critical', 'down']);
export const ACCEPTED_STATUSES: readonly string[] = [...STATUSES, ...Object.keys(STATUS_ALIASES)];

const MAX_METRICS = 64;
const MAX_NAME_CHARACTERS = 64;
const MAX_MESSAGE_CHARACTERS = 1000;
const MAX_SHORT_TEXT_CHARACTERS = 200;
const MAX_WARNINGS = 20;

export interface HeartbeatBody {
  source: string;
  status?: string | null;
  interval?: number | null;
  message?: string | null;
  checks?: Record<string, unknown> | null;
  metrics?: Record<string, unknown> | null;
  app_version?: string | null;
  instance_id?: string | null;
  os?: string | null;
  certificate?: Observation['certificate'];
}

export interface ReceivedHeartbeat {
  source: string;
  status: ReportedStatus;
  /**
   * Down immediately, regardless of `watchdog.error_status_is_down`: an exit code, `/fail`,
   * `critical`.
   */
  grave: boolean;
  /** May be transient; never ends a down state. */
  unsure?: boolean;
  exit_code?: number | null;
  probed?: boolean;
  failed: boolean;
  failures: string;
  certificate: Observation['certificate'];
  interval: number | null;
  message: string | null;
  app_version: string | null;
  /** The machine's, as in its update checks and activations. */
  instance_id: string | null;
  os: string | null;
  /** JSON text. */
  checks: string;
  metrics_json: string;
  samples: [name: string, value: number][];
  dropped: string[];
  warnings: string[];
}

/** Removes tokens before truncation, which could leave a part of one. */
const cleanStoredText = (text: string): string => cleanText(scrubTokens(text));

const truncateText = (text: string | null | undefined, most: number): string | null => {
  if (text === null || text === undefined) return null;
  const whole = scrubTokens(text);
  return cleanText(whole.length > most ? whole.slice(0, most) : whole);
};

/** A truncated id would be another machine's. */
const parseInstanceId = (id: string | null | undefined): string | null =>
  id && id.length <= MAX_SHORT_TEXT_CHARACTERS ? cleanStoredText(id) : null;

/**
 * @param longest characters of the message
 * @param grave an error means down immediately
 */
export function parseHeartbeat(
  body: HeartbeatBody,
  longest = MAX_MESSAGE_CHARACTERS,
  grave = false,
): ReceivedHeartbeat {
  const given = body.status ?? 'ok';
  const warnings: string[] = [];
  const { failed, failures, text } = parseChecks(body.checks ?? {}, warnings);
  const { samples, dropped } = parseSamples(body.metrics ?? {});
  return {
    source: body.source,
    status: STATUS_ALIASES[given] ?? (given as ReportedStatus),
    grave: grave || DOWN_STATUSES.has(given),
    failed,
    failures,
    certificate: body.certificate,
    interval: body.interval ?? null,
    message: truncateText(body.message, longest),
    app_version: truncateText(body.app_version, MAX_SHORT_TEXT_CHARACTERS),
    instance_id: parseInstanceId(body.instance_id),
    os: truncateText(body.os, MAX_SHORT_TEXT_CHARACTERS),
    checks: text,
    metrics_json: body.metrics ? formatMetrics(body.metrics) : '{}',
    samples,
    dropped,
    warnings,
  };
}

function parseChecks(
  checks: Record<string, unknown>,
  warnings: string[],
): { failed: boolean; failures: string; text: string } {
  const failures: string[] = [];
  const found: [string, { ok: boolean | null; message: string | null }][] = [];
  for (const [name, entry] of Object.entries(checks)) {
    const { ok, message } = (entry !== null && typeof entry === 'object' ? entry : {}) as {
      ok?: unknown;
      message?: unknown;
    };
    if (typeof ok !== 'boolean' && warnings.length < MAX_WARNINGS) {
      warnings.push(`checks.${name.slice(0, MAX_SHORT_TEXT_CHARACTERS)}: ok is not a boolean; treated as not failed`);
    }
    const text = typeof message === 'string' ? truncateText(message, MAX_MESSAGE_CHARACTERS) : null;
    if (ok === false) failures.push(text ? `${cleanStoredText(name)}: ${text}` : cleanStoredText(name));
    found.push([cleanStoredText(name), { ok: typeof ok === 'boolean' ? ok : null, message: text }]);
  }
  return {
    failed: failures.length > 0,
    failures: failures.join('; ').slice(0, MAX_SHORT_TEXT_CHARACTERS),
    text: found.length === 0 ? '{}' : JSON.stringify(Object.fromEntries(found)),
  };
}

function formatMetrics(metrics: Record<string, unknown>): string {
  const plain = Object.entries(metrics).every(
    ([name, value]) => typeof value === 'number' && name.length <= MAX_NAME_CHARACTERS,
  );
  const named = plain && Object.keys(metrics).every((name) => scrubTokens(name) === name);
  return JSON.stringify(named ? metrics : scrubTokensInJson(metrics));
}

function parseSamples(metrics: Record<string, unknown>): Pick<ReceivedHeartbeat, 'samples' | 'dropped'> {
  const samples: [string, number][] = [];
  const dropped: string[] = [];
  for (const name in metrics) {
    const value = metrics[name];
    if (typeof value !== 'number' || !Number.isFinite(value)) continue;
    const clean = cleanStoredText(name);
    if (samples.length >= MAX_METRICS || name.length > MAX_NAME_CHARACTERS || name === '') dropped.push(name);
    else samples.push([clean, value]);
  }
  return { samples, dropped };
}

export function getRequestedState(
  { status, failed, grave }: Pick<ReceivedHeartbeat, 'status' | 'failed' | 'grave'>,
  errorIsDown: boolean,
): MonitorState {
  if (status === 'stopped' || status === 'maintenance') return status;
  if (status === 'error') return errorIsDown || grave ? 'down' : 'warning';
  return status === 'warning' || failed ? 'warning' : 'up';
}
