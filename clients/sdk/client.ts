/**
 * Without calls it only sends reports queued by an earlier run, in the background (contract 90,
 * SDK).
 */
import type { Platform } from '../../lib/formats/platform.js';
import { reportBug, type BugReport, type BugReported } from './bugs.js';
import type { ClientContext } from './context.js';
import { ReportQueue } from './errors/queue.js';
import { prepareReport, toReportFields, type ErrorReportFields, type PreparedReport } from './errors/report.js';
import { ReportSender, type Reported } from './errors/sender.js';
import {
  sendHeartbeat,
  startHeartbeat,
  type Beat,
  type Heartbeat,
  type HeartbeatTimer,
  type RunningHeartbeat,
} from './heartbeat.js';
import {
  loadLicenseFile,
  validateLicense,
  type LicenseCheck,
  type LicenseQuestion,
  type LoadedLicenseFile,
} from './license.js';
import { holdSeat, type HeldSeat, type SeatOptions } from './seat.js';
import { provisionToken, type ProvisionedToken, type TokenRequest } from './token.js';
import { checkForUpdate, type UpdateCheck } from './update.js';

/** Client features available in every environment. */
export class CommonClient {
  readonly #context: ClientContext;
  readonly #sender: ReportSender;
  #user: { id: string | number } | null = null;

  constructor(context: ClientContext) {
    bindMethods(this);
    this.#context = context;
    const queue = new ReportQueue(context.host.queued);
    this.#sender = new ReportSender(context, queue);
    // Sends what an earlier run could not.
    if (queue.listNames().length > 0) this.#sender.scheduleFlush();
  }

  machineId(): Promise<string> {
    return this.#context.machineId();
  }

  /**
   * Rejects only when `signal` aborts.
   * @param platform default: this machine's
   */
  checkForUpdate(
    currentVersion: string,
    channel?: string,
    platform?: Platform,
    signal?: AbortSignal,
  ): Promise<UpdateCheck> {
    return checkForUpdate(this.#context, currentVersion, channel, platform, signal);
  }

  /** Rejects only when `signal` aborts. */
  validateLicense(key: string, question?: LicenseQuestion, signal?: AbortSignal): Promise<LicenseCheck> {
    return validateLicense(this.#context, key, question, signal);
  }

  /**
   * Takes a seat of a floating license, renews its lease, and gives the seat back at exit: when the
   * process ends by itself, or by SIGINT, SIGTERM or SIGHUP. After a forced exit or a crash the
   * seat is free when its lease ends. Never keeps the process alive, and never rejects.
   */
  holdSeat(key: string, options?: SeatOptions): Promise<HeldSeat> {
    return holdSeat(this.#context, key, options);
  }

  /** Works without the server; requires `licensePublicKey`. */
  loadLicenseFile(pathOrText: string): Promise<LoadedLicenseFile> {
    return loadLicenseFile(this.#context, pathOrText);
  }

  /**
   * Sets the user that later reports name unless they have their own `user`; null for none.
   * @throws TypeError for an id that is neither a non-empty text nor a number
   */
  setUser(user: { readonly id: string | number } | null): void {
    if (user !== null && !isUserId(user?.id))
      throw new TypeError('user must be {id} with a string or a number, or null');
    this.#user = user === null ? null : { id: user.id };
  }

  /** Writes the report to disk, then sends it. Never rejects. */
  reportError(report: ErrorReportFields): Promise<Reported> {
    return this.#sender.report(this.#prepareReport(report));
  }

  /** Reports a thrown value. Never rejects. */
  captureException(error: unknown, fields?: Partial<ErrorReportFields>): Promise<Reported> {
    // As a listener it may receive other values: a text, a promise, a number.
    const given = typeof fields === 'object' ? fields : {};
    return this.reportError({ ...toReportFields(error, this.#context.host.show), ...given });
  }

  /**
   * Reports uncaught errors as `fatal` without changing whether the program continues. The report
   * is written immediately, and the next start sends it.
   */
  installGlobalHandler(fields: Partial<ErrorReportFields> = {}): () => void {
    const { host } = this.#context;
    return host.watchUncaught((thrown) =>
      this.#sender.storeReport(
        this.#prepareReport({ error_level: 'fatal', ...toReportFields(thrown, host.show), ...fields }),
      ),
    );
  }

  /** Returns how many remain. Never rejects. */
  flush(): Promise<number> {
    return this.#sender.flush();
  }

  /** Never rejects. */
  heartbeat(beat: Heartbeat): Promise<Beat> {
    return sendHeartbeat(this.#context, beat);
  }

  /**
   * Sends a heartbeat now and every `interval` seconds, with self-checks and process metrics. Never
   * keeps the process alive.
   * @throws TypeError for an invalid interval
   */
  startHeartbeat(options: HeartbeatTimer): RunningHeartbeat {
    return startHeartbeat(this.#context, options);
  }

  /** Rejects only when `signal` aborts. */
  reportBug(report: BugReport, signal?: AbortSignal): Promise<BugReported> {
    return reportBug(this.#context, report, signal);
  }

  /** The client's token must be a master token. Rejects only when `signal` aborts. */
  provisionToken(request: TokenRequest, signal?: AbortSignal): Promise<ProvisionedToken> {
    return provisionToken(this.#context, request, signal);
  }

  #prepareReport(report: ErrorReportFields): PreparedReport {
    const user = this.#user === null ? {} : { user: this.#user };
    return prepareReport(this.#context.project, { ...user, ...report }, this.#context.now());
  }
}

const isUserId = (id: unknown): boolean => (typeof id === 'string' && id !== '') || Number.isFinite(id);

/** Binds methods that are passed as callbacks without `this`, including those of subclasses. */
function bindMethods(client: object): void {
  for (let it: unknown = Object.getPrototypeOf(client); it instanceof Object && it !== Object.prototype;) {
    for (const name of Object.getOwnPropertyNames(it)) {
      const method: unknown = Reflect.get(it, name);
      if (name === 'constructor' || typeof method !== 'function' || Object.hasOwn(client, name)) continue;
      const value: unknown = method.bind(client);
      Object.defineProperty(client, name, { value, configurable: true, writable: true });
    }
    it = Object.getPrototypeOf(it);
  }
}
