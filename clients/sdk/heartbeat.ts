/**
 * Sends heartbeats (contract 30, heartbeat): single ones, or on a timer with self-checks and
 * process metrics.
 */
import type { ClientContext } from './context.js';
import { unrefTimer } from './runtime.js';
import { getErrorText } from './transport.js';
import { evaluateResponse, toFailureFields, type ServiceProblem } from './verdict.js';

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
  /** Of the machine. Default: the client's machine id, where it is stable; pages have none. */
  instance_id?: string;
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

const PING_PATH = '/api/watchdog/v1/ping';
const DEFAULT_INTERVAL_SECONDS = 60;
/** Minimum interval of self-checks and timers. */
const MIN_INTERVAL_SECONDS = 0.05;
const MAX_INTERVAL_SECONDS = 31_536_000;
const MAX_TIMER_MS = 2 ** 31 - 1;
const CHECK_TIMEOUT_MS = 5_000;

export async function sendHeartbeat(context: ClientContext, beat: Heartbeat, background = false): Promise<Beat> {
  const { token } = context;
  const body = { status: 'ok', ...(await getInstanceField(context)), ...beat };
  const verdict = evaluateResponse(await context.ask('POST', PING_PATH, { token, body, background }));
  if (verdict.kind !== 'answer') return { sent: false, ...toFailureFields(verdict) };
  const { state } = verdict.body;
  return { sent: true, isTransient: false, unauthorized: false, ...(typeof state === 'string' && { state }) };
}

/** Pages, and containers whose id changes with each start, are not machines. */
async function getInstanceField({ host, machine }: ClientContext): Promise<Pick<Heartbeat, 'instance_id'>> {
  if (host.platform === 'any') return {};
  const { id, isStable } = await machine();
  return isStable ? { instance_id: id } : {};
}

/**
 * Sends the first heartbeat immediately. Never keeps the process alive, and throws only for invalid
 * options.
 */
export function startHeartbeat(context: ClientContext, options: HeartbeatTimer): RunningHeartbeat {
  const { source, app_version, message, interval = DEFAULT_INTERVAL_SECONDS, checks = {}, metrics, onBeat } = options;
  if (!(interval >= MIN_INTERVAL_SECONDS && interval <= MAX_INTERVAL_SECONDS))
    throw new TypeError(`interval must be a number of seconds from ${MIN_INTERVAL_SECONDS} to ${MAX_INTERVAL_SECONDS}`);
  const own = options.processMetrics === false ? null : context.host.createProcessMetrics();
  const fields = { source, interval, app_version, message };
  let under: Promise<void> | null = null;

  async function beat(): Promise<void> {
    const failures: Record<string, CheckResult> = {};
    const [checked, measured] = await Promise.all([
      runChecks(checks),
      runWithTimeout(metrics ?? (() => ({}))).catch((error: unknown) => {
        failures['metrics'] = { ok: false, message: getErrorText(error) };
        return {};
      }),
    ]);
    const body = { ...fields, checks: { ...checked, ...failures }, metrics: { ...own?.read(), ...measured } };
    const result = await sendHeartbeat(context, body, true);
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
  const timer = setInterval(tick, Math.min(interval * 1_000, MAX_TIMER_MS));
  unrefTimer(timer);
  return {
    stop: async () => {
      clearInterval(timer);
      own?.stop();
      const hold = setInterval(() => undefined, MAX_TIMER_MS);
      await under;
      clearInterval(hold);
      return sendHeartbeat(context, { ...fields, status: 'stopped' });
    },
  };
}

const runChecks = async (checks: Readonly<Record<string, SelfCheck>>): Promise<Record<string, CheckResult>> =>
  Object.fromEntries(
    await Promise.all(Object.entries(checks).map(async ([name, check]) => [name, await runCheck(check)] as const)),
  );

async function runCheck(check: SelfCheck): Promise<CheckResult> {
  try {
    const result = await runWithTimeout(check);
    return typeof result === 'boolean' ? { ok: result } : { ok: result.ok, message: result.message };
  } catch (error) {
    return { ok: false, message: getErrorText(error) };
  }
}

/** A hanging check counts as failed. */
async function runWithTimeout<T>(what: () => T | Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no result within ${CHECK_TIMEOUT_MS} ms`)), CHECK_TIMEOUT_MS);
    unrefTimer(timer);
  });
  try {
    return await Promise.race([what(), late]);
  } finally {
    clearTimeout(timer);
  }
}
