/**
 * Sends heartbeats (contract 30, heartbeat): single ones, or on a timer with self-checks and
 * process metrics.
 */
import type { Context } from './context.js';
import { letGo } from './runtime.js';
import { textOf } from './transport.js';
import { judge, outcomeOf, type ServiceProblem } from './verdict.js';

export interface CheckResult {
  ok: boolean;
  message?: string;
}

/** Fields of contract 30. */
export interface Heartbeat {
  source: string;
  /** Default: `ok`. */
  status?: 'ok' | 'warning' | 'error' | 'stopped' | 'maintenance';
  /** Seconds. */
  interval?: number;
  message?: string;
  checks?: Readonly<Record<string, CheckResult>>;
  metrics?: Readonly<Record<string, number>>;
  app_version?: string;
}

export interface Beat {
  sent: boolean;
  isTransient: boolean;
  unauthorized: boolean;
  /** The monitor's state, as returned by the server. */
  state?: string;
  error?: ServiceProblem;
}

/** A thrown error is the message of a failed check. */
export type SelfCheck = () => boolean | CheckResult | Promise<boolean | CheckResult>;

export interface HeartbeatTimer extends Pick<Heartbeat, 'source' | 'app_version' | 'message'> {
  /** Seconds. Default: 60. */
  interval?: number;
  checks?: Readonly<Record<string, SelfCheck>>;
  /** Application metrics, read before each heartbeat. */
  metrics?: () => Readonly<Record<string, number>> | Promise<Readonly<Record<string, number>>>;
  /** Includes memory, CPU time, event loop delay and uptime. Default: true. Pages have none. */
  processMetrics?: boolean;
  onBeat?: (beat: Beat) => void;
}

export interface RunningHeartbeat {
  /** Stops the timer and reports an intentional stop to the server. */
  stop: () => Promise<Beat>;
}

const PATH = '/api/watchdog/v1/ping';
const INTERVAL_SECONDS = 60;
/** Minimum interval of self-checks and timers. */
const SHORTEST_SECONDS = 0.05;
const LONGEST_SECONDS = 31_536_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const CHECK_MS = 5_000;

export async function heartbeat(context: Context, beat: Heartbeat, background = false): Promise<Beat> {
  const { token } = context;
  const verdict = judge(await context.ask('POST', PATH, { token, body: { status: 'ok', ...beat }, background }));
  if (verdict.kind !== 'answer') return { sent: false, ...outcomeOf(verdict) };
  const { state } = verdict.body;
  return { sent: true, isTransient: false, unauthorized: false, ...(typeof state === 'string' && { state }) };
}

/**
 * Sends the first heartbeat immediately. Never keeps the process alive, and throws only for invalid
 * options.
 */
export function startHeartbeat(context: Context, options: HeartbeatTimer): RunningHeartbeat {
  const { source, app_version, message, interval = INTERVAL_SECONDS, checks = {}, metrics, onBeat } = options;
  if (!(interval >= SHORTEST_SECONDS && interval <= LONGEST_SECONDS))
    throw new TypeError(`interval must be a number of seconds from ${SHORTEST_SECONDS} to ${LONGEST_SECONDS}`);
  const own = options.processMetrics === false ? null : context.host.processMetrics();
  const fields = { source, interval, app_version, message };
  let under: Promise<void> | null = null;

  async function beat(): Promise<void> {
    const failures: Record<string, CheckResult> = {};
    const [checked, measured] = await Promise.all([
      resultsOf(checks),
      attempt(metrics ?? (() => ({}))).catch((error: unknown) => {
        failures['metrics'] = { ok: false, message: textOf(error) };
        return {};
      }),
    ]);
    const body = { ...fields, checks: { ...checked, ...failures }, metrics: { ...own?.read(), ...measured } };
    const result = await heartbeat(context, body, true);
    try {
      onBeat?.(result);
    } catch {
      // Errors of the application's listener must not stop the heartbeats.
    }
  }
  /** One at a time, so that a slow server does not accumulate requests. */
  const tick = (): void => {
    under ??= beat().finally(() => (under = null));
  };

  tick();
  const timer = setInterval(tick, Math.min(interval * 1_000, LONGEST_TIMER_MS));
  letGo(timer);
  return {
    stop: async () => {
      clearInterval(timer);
      own?.stop();
      // Keeps the process alive while the caller waits for the last heartbeat.
      const hold = setInterval(() => undefined, LONGEST_TIMER_MS);
      await under;
      clearInterval(hold);
      return heartbeat(context, { ...fields, status: 'stopped' });
    },
  };
}

const resultsOf = async (checks: Readonly<Record<string, SelfCheck>>): Promise<Record<string, CheckResult>> =>
  Object.fromEntries(
    await Promise.all(Object.entries(checks).map(async ([name, check]) => [name, await resultOf(check)] as const)),
  );

async function resultOf(check: SelfCheck): Promise<CheckResult> {
  try {
    const result = await attempt(check);
    return typeof result === 'boolean' ? { ok: result } : { ok: result.ok, message: result.message };
  } catch (error) {
    return { ok: false, message: textOf(error) };
  }
}

/** A hanging check counts as failed. */
async function attempt<T>(what: () => T | Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no result within ${CHECK_MS} ms`)), CHECK_MS);
    letGo(timer);
  });
  try {
    return await Promise.race([what(), late]);
  } finally {
    clearTimeout(timer);
  }
}
