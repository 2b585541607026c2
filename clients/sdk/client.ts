/**
 * The client of one project (contract 90, SDK). Unasked it sends only what an earlier run has queued, in the
 * background.
 */
import type { Platform } from '../../lib/formats/platform.js';
import { reportBug, type BugReport, type BugReported } from './bugs.js';
import type { Context } from './context.js';
import { Queue } from './errors/queue.js';
import { prepare, reportOf, type ErrorReportFields, type Prepared } from './errors/report.js';
import { ReportSender, type Reported } from './errors/sender.js';
import {
  heartbeat,
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
import { provisionToken, type ProvisionedToken, type TokenRequest } from './token.js';
import { checkForUpdate, type UpdateCheck } from './update.js';

/** What a client does wherever it runs. */
export class CommonClient {
  readonly #context: Context;
  readonly #sender: ReportSender;
  #user: { id: string | number } | null = null;

  constructor(context: Context) {
    bindMethods(this);
    this.#context = context;
    const queue = new Queue(context.host.queued);
    this.#sender = new ReportSender(context, queue);
    // What an earlier run could not send.
    if (queue.names().length > 0) this.#sender.schedule();
  }

  /** What this machine is called in update checks and licenses. */
  machineId(): Promise<string> {
    return this.#context.machineId();
  }

  /**
   * Whether there is a newer release. Rejects only when `signal` aborts.
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

  /** Whether a license key is good for this project, on this machine. Rejects only when `signal` aborts. */
  validateLicense(key: string, question?: LicenseQuestion, signal?: AbortSignal): Promise<LicenseCheck> {
    return validateLicense(this.#context, key, question, signal);
  }

  /** Verifies a `.lic` for this project and machine, without the server. `licensePublicKey` must be given. */
  loadLicenseFile(pathOrText: string): Promise<LoadedLicenseFile> {
    return loadLicenseFile(this.#context, pathOrText);
  }

  /**
   * Who uses the application from now on: every report names them, unless it names its own `user`. Null: nobody.
   * @throws TypeError for an id that is neither a text that is not empty nor a number
   */
  setUser(user: { readonly id: string | number } | null): void {
    if (user !== null && !isUserId(user?.id)) throw new TypeError('user must be {id} with a text or a number, or null');
    this.#user = user === null ? null : { id: user.id };
  }

  /** Reports an error by contract 21's fields: to disk first, then to the server. Never rejects. */
  reportError(report: ErrorReportFields): Promise<Reported> {
    return this.#sender.report(this.#prepared(report));
  }

  /** Reports whatever was thrown. Never rejects. */
  captureException(error: unknown, fields?: Partial<ErrorReportFields>): Promise<Reported> {
    // As a listener it is called with more than an error: with a text, a promise, a number.
    const given = typeof fields === 'object' ? fields : {};
    return this.reportError({ ...reportOf(error, this.#context.host.show), ...given });
  }

  /**
   * Reports as `fatal` what nobody catches. The program goes on or ends as it would without it; the report is kept by
   * then, and the next start sends it.
   * @returns a function that takes the handler away
   */
  installGlobalHandler(fields: Partial<ErrorReportFields> = {}): () => void {
    const { host } = this.#context;
    return host.onUncaught((thrown) =>
      this.#sender.keep(this.#prepared({ error_level: 'fatal', ...reportOf(thrown, host.show), ...fields })),
    );
  }

  /** Sends the reports that wait. Answers how many still wait. Never rejects. */
  flush(): Promise<number> {
    return this.#sender.flush();
  }

  /** One heartbeat. Never rejects. */
  heartbeat(beat: Heartbeat): Promise<Beat> {
    return heartbeat(this.#context, beat);
  }

  /**
   * A heartbeat now and every `interval` seconds, with self-checks and the process's own figures. Never keeps the
   * process alive.
   * @throws TypeError for an interval that is none
   */
  startHeartbeat(options: HeartbeatTimer): RunningHeartbeat {
    return startHeartbeat(this.#context, options);
  }

  /** Makes a bug or a feature request. Rejects only when `signal` aborts. */
  reportBug(report: BugReport, signal?: AbortSignal): Promise<BugReported> {
    return reportBug(this.#context, report, signal);
  }

  /** A sub-token; the client's token must be a master token. Rejects only when `signal` aborts. */
  provisionToken(request: TokenRequest, signal?: AbortSignal): Promise<ProvisionedToken> {
    return provisionToken(this.#context, request, signal);
  }

  #prepared(report: ErrorReportFields): Prepared {
    const user = this.#user === null ? {} : { user: this.#user };
    return prepare(this.#context.project, { ...user, ...report }, this.#context.now());
  }
}

const isUserId = (id: unknown): boolean => (typeof id === 'string' && id !== '') || Number.isFinite(id);

/** Methods are handed on as callbacks, where they have no `this`; those of classes below are bound as well. */
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
