/** Sends reports immediately if possible, else from the queue with exponential backoff. */
import type { ClientContext } from '../context.js';
import { evaluateResponse, type FailedVerdict, type ServiceProblem, type ResponseVerdict } from '../verdict.js';
import { unrefTimer } from '../runtime.js';
import type { ReportQueue } from './queue.js';
import type { PreparedReport } from './report.js';

export interface Reported {
  clientRef: string;
  sent: boolean;
  /** It is queued on disk and sent later. */
  queued: boolean;
  /** As returned by the server (contract 21, intake). */
  id?: string;
  ref?: string;
  created?: boolean;
  ignored?: boolean;
  error?: ServiceProblem;
}

const REPORT_PATH = '/api/errors/v1/report';
/** Limits connections of an application with an error loop. */
const MAX_CONCURRENT_REQUESTS = 5;
const MIN_RETRY_DELAY_MS = 1_000;
const MAX_RETRY_DELAY_MS = 5 * 60_000;
/** Statuses in our JSON that reject the report itself, so retrying is useless. */
const PERMANENT_STATUSES: ReadonlySet<number> = new Set([400, 404, 413, 422]);

export class ReportSender {
  readonly #sending = new Set<string>();
  #atOnce = 0;
  #failures = 0;
  #notBefore = 0;
  #flushing: Promise<number> | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(
    private readonly context: ClientContext,
    private readonly queue: ReportQueue,
  ) {}

  async report({ clientRef, text }: PreparedReport): Promise<Reported> {
    const { token } = this.context;
    if (token === null) {
      const error = { code: 'no_token', message: 'reports require a token: createClient({ token })' };
      return { clientRef, sent: false, queued: false, error };
    }
    const name = this.queue.add(text);
    if (name !== null && (this.#atOnce >= MAX_CONCURRENT_REQUESTS || performance.now() < this.#notBefore)) {
      this.scheduleFlush();
      return { clientRef, sent: false, queued: true };
    }
    if (name !== null) this.#sending.add(name);
    this.#atOnce++;
    const verdict = await this.#send(JSON.parse(text) as Record<string, unknown>, false);
    this.#atOnce--;
    if (name !== null) this.#sending.delete(name);
    const done = this.#isDone(name, verdict);
    if (!done || this.queue.listNames().length > 0) this.scheduleFlush();
    if (verdict.kind !== 'answer')
      return { clientRef, sent: false, queued: !done && name !== null, error: verdict.problem };
    return { clientRef, sent: true, queued: false, ...toReportedFields(verdict.body) };
  }

  storeReport({ text }: PreparedReport): void {
    if (this.context.token === null) return;
    this.queue.add(text);
    this.scheduleFlush();
  }

  /** Until the server rejects one; returns how many remain. */
  async flush(): Promise<number> {
    // Keeps the process alive while a caller waits for a flush that began in the background.
    const hold = setInterval(() => undefined, MAX_RETRY_DELAY_MS);
    try {
      // The current flush may have begun while the server was unreachable.
      await this.#flushing;
      return await this.#flush(false);
    } finally {
      clearInterval(hold);
    }
  }

  #flush(background: boolean): Promise<number> {
    this.#flushing ??= this.#drain(background).finally(() => (this.#flushing = null));
    return this.#flushing;
  }

  async #flushAgain(): Promise<void> {
    if ((await this.#flush(true)) > 0) this.scheduleFlush();
  }

  scheduleFlush(): void {
    if (this.#timer !== null || this.context.token === null) return;
    const pause =
      this.#failures === 0 ? 0 : Math.min(MAX_RETRY_DELAY_MS, MIN_RETRY_DELAY_MS * 2 ** (this.#failures - 1));
    const spread = pause * (0.75 + Math.random() / 2);
    const wait = Math.max(spread, this.#notBefore - performance.now(), 10);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      void this.#flushAgain();
    }, wait);
    unrefTimer(this.#timer);
  }

  async #drain(background: boolean): Promise<number> {
    if (this.context.token === null) return 0;
    const names = this.queue.listNames();
    if (background && performance.now() < this.#notBefore) return names.length;
    for (const name of names) {
      if (this.#sending.has(name)) continue;
      const report = this.queue.read(name);
      if (report === null) this.queue.remove(name);
      else if (!this.#isDone(name, await this.#send(report, background))) break;
    }
    return this.queue.listNames().length;
  }

  async #send(body: Record<string, unknown>, background: boolean): Promise<ResponseVerdict> {
    const exchange = await this.context.ask('POST', REPORT_PATH, { token: this.context.token, body, background });
    if (exchange.retryAfter !== null)
      this.#notBefore = performance.now() + Math.min(exchange.retryAfter * 1_000, MAX_RETRY_DELAY_MS);
    return evaluateResponse(exchange);
  }

  /** A rejected credential is not the report's fault: the next start may have a valid one. */
  #isDone(name: string | null, verdict: ResponseVerdict): boolean {
    const hopeless = verdict.kind !== 'answer' && isPermanentFailure(verdict);
    const done = verdict.kind === 'answer' || hopeless;
    this.#failures = done ? 0 : Math.min(this.#failures + 1, 20);
    if (done && name !== null) this.queue.remove(name);
    return done;
  }
}

const isPermanentFailure = ({ status, problem }: FailedVerdict): boolean =>
  status !== null && PERMANENT_STATUSES.has(status) && problem.code !== `http_${status}`;

function toReportedFields({ id, ref, created, ignored }: Record<string, unknown>): Partial<Reported> {
  return {
    ...(typeof id === 'string' && { id }),
    ...(typeof ref === 'string' && { ref }),
    ...(typeof created === 'boolean' && { created }),
    ...(typeof ignored === 'boolean' && { ignored }),
  };
}
