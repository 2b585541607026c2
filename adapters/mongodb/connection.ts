/**
 * The driver does not always detect a dead connection, and calls then wait forever (contract 95, a
 * bad day). Every operation therefore has a deadline, one ping checks an unreachable server for all
 * callers, and a silent client is replaced.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { MongoClient, type Collection, type Db, type Document, type MongoClientOptions } from 'mongodb';
import { StoreUnavailable } from '../../ports/store/index.js';
import type { ConnectionState } from './connection-logger.js';
import { DeadlineExceededError, withDeadline } from './deadline.js';
import { isServerMissing, toStoreError } from './errors.js';

export interface ConnectionTimeouts {
  /** One operation, including the driver's retries. */
  operation: number;
  /** Timeout of a ping, and interval between pings. */
  ping: number;
  /** Time without success until the client is replaced. */
  rebuild: number;
  /** Time without success after the replacement until the process is given up. */
  giveUp: number;
}

const DEFAULT_TIMEOUTS: ConnectionTimeouts = { operation: 10_000, ping: 1_000, rebuild: 30_000, giveUp: 60_000 };

/**
 * Timed-out operations that the driver has not ended. Each holds one of the pool's 100 connections.
 */
const MAX_STUCK_OPERATIONS = 10;
/** Timeout of the first connection, so that a failing start reports quickly. */
const CONNECT_TIMEOUT_MS = 4_000;
/** Time for a graceful close; then the sockets are destroyed. */
const CLOSE_TIMEOUT_MS = 1_000;

export class MongoConnection {
  #client: MongoClient;
  /**
   * Collections of the current client by database and name, because the driver would parse all
   * options each time.
   */
  #collections = new Map<string, Collection>();
  #answeredAt = performance.now();
  /** While true, operations fail immediately until a ping is answered. */
  #isAway = false;
  #pingLoop: Promise<void> | null = null;
  #lost = false;
  #stuck = 0;
  readonly #end = new AbortController();

  /**
   * @param onStateChange called on each state change, and with `away` for each failed ping
   * @param answered called with the duration of each operation in milliseconds
   * @throws MongoParseError on a malformed URL
   */
  constructor(
    private readonly url: string,
    private readonly options: MongoClientOptions,
    private readonly onStateChange: (state: ConnectionState, cause?: unknown) => void = () => undefined,
    private readonly times: ConnectionTimeouts = DEFAULT_TIMEOUTS,
    private readonly answered: (ms: number) => void = () => undefined,
  ) {
    this.#client = new MongoClient(url, options);
  }

  /** Belongs to the current client: do not cache the result. */
  db(name: string): Db {
    return this.#client.db(name);
  }

  /** Belongs to the current client: do not cache the result. */
  collection<S extends Document>(database: string, name: string): Collection<S> {
    const key = `${database}.${name}`;
    const made = this.#collections.get(key) ?? this.db(database).collection(name);
    this.#collections.set(key, made);
    return made as unknown as Collection<S>;
  }

  /**
   * @throws the driver's error, or one that names it when no server answers in time; the client is
   *   then closed
   */
  async connect(patient: boolean): Promise<void> {
    const client = this.#client;
    let failure: Error | null = null;
    const note = ({ failure: latest }: { failure: Error }): void => void (failure = latest);
    client.on('serverHeartbeatFailed', note);
    const connected = this.#ping();
    try {
      await (patient ? connected : withDeadline(CONNECT_TIMEOUT_MS, connected));
    } catch (error) {
      await Promise.all([this.close(), connected.catch(() => undefined)]);
      if (!(error instanceof DeadlineExceededError)) throw error;
      const reason = (failure as Error | null)?.message ?? 'no connection';
      throw new Error(`MongoDB did not respond within ${CONNECT_TIMEOUT_MS / 1_000} s: ${reason}`, { cause: error });
    } finally {
      client.off('serverHeartbeatFailed', note);
    }
  }

  /**
   * @throws StoreUnavailable while the server is unreachable, and after the deadline; otherwise the
   *   driver's error
   */
  async run<V>(work: () => Promise<V>): Promise<V> {
    if (this.#isAway) throw new StoreUnavailable();
    const client = this.#client;
    const beganAt = performance.now();
    const begun = work();
    try {
      const answer = await withDeadline(this.times.operation, begun);
      this.#answeredAt = performance.now();
      this.answered(this.#answeredAt - beganAt);
      return answer;
    } catch (error) {
      const storeError = toStoreError(error);
      if (!(storeError instanceof StoreUnavailable)) {
        // An error response is an answer too.
        this.#answeredAt = performance.now();
        throw error;
      }
      if (error instanceof DeadlineExceededError) this.#countStuck(client, begun);
      this.#checkServer(error);
      throw storeError;
    }
  }

  /**
   * Runs work without a deadline, such as building an index.
   * @throws as `run`
   */
  async runLong<V>(work: () => Promise<V>): Promise<V> {
    const done = new AbortController();
    try {
      return await Promise.race([work(), this.#waitForSilence(done.signal)]);
    } catch (error) {
      throw toStoreError(error);
    } finally {
      done.abort();
    }
  }

  async ping(): Promise<number> {
    const began = performance.now();
    await this.run(() => this.#ping());
    return performance.now() - began;
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#pingLoop;
    const client = this.#client;
    await withDeadline(CLOSE_TIMEOUT_MS, client.close()).catch(() => discardClient(client));
  }

  async #ping(): Promise<void> {
    const client = this.#client;
    // A client whose first attempt failed must connect explicitly; otherwise this returns
    // immediately.
    await client.connect();
    await client.db('admin').command({ ping: 1 });
  }

  /** Never resolves; throws when a ping is not answered. */
  async #waitForSilence(signal: AbortSignal): Promise<never> {
    for (;;) {
      await pause(this.times.operation, undefined, { ref: false, signal }).catch(() => undefined);
      if (signal.aborted) return new Promise(() => undefined);
      await this.ping();
    }
  }

  #countStuck(client: MongoClient, work: Promise<unknown>): void {
    if (client !== this.#client) return;
    this.#stuck += 1;
    const ended = (): void => {
      if (client === this.#client) this.#stuck -= 1;
    };
    work.then(ended, ended);
  }

  /**
   * A single slow operation or broken connection proves nothing: only a ping, or server selection,
   * shows that the server is unreachable.
   */
  #checkServer(cause: unknown): void {
    if (isServerMissing(cause)) this.#markAway(cause);
    if (this.#pingLoop === null && !this.#end.signal.aborted) this.#pingLoop = this.#pingUntilAnswered();
  }

  async #pingUntilAnswered(): Promise<void> {
    const doubtedAt = performance.now();
    let replacedAt: number | null = null;
    while (!this.#end.signal.aborted) {
      const began = performance.now();
      const cause = await withDeadline(this.times.ping, this.#ping()).then(
        () => null,
        (error: unknown) => error,
      );
      const whole = this.#stuck < MAX_STUCK_OPERATIONS;
      if (cause === null && whole) {
        this.#markConnected();
        break;
      }
      // After a broken connection the driver opens the next one.
      const unanswered = isServerMissing(cause) || cause instanceof DeadlineExceededError;
      if (unanswered && !this.#end.signal.aborted) this.#markAway(cause);
      const now = performance.now();
      // An idle client does not count as silent.
      const silentMs = now - Math.max(this.#answeredAt, doubtedAt);
      if (replacedAt === null ? !whole || silentMs >= this.times.rebuild : !whole) {
        this.#replaceClient(cause);
        replacedAt ??= now;
        continue;
      }
      if (replacedAt !== null && now - replacedAt >= this.times.giveUp && !this.#lost) {
        this.#lost = true;
        this.onStateChange('lost', cause);
      }
      const rest = Math.max(0, this.times.ping - (now - began));
      await pause(rest, undefined, { ref: false, signal: this.#end.signal }).catch(() => undefined);
    }
    this.#pingLoop = null;
  }

  #markAway(cause: unknown): void {
    this.#isAway = true;
    this.onStateChange('away', cause);
  }

  #markConnected(): void {
    this.#answeredAt = performance.now();
    if (!this.#isAway) return;
    this.#isAway = false;
    this.onStateChange('connected');
  }

  #replaceClient(cause: unknown): void {
    const old = this.#client;
    this.#client = new MongoClient(this.url, this.options);
    this.#collections = new Map();
    this.#stuck = 0;
    this.onStateChange('replaced', cause);
    discardClient(old);
  }
}

/** Pending calls have timed out, and the close may never end. */
function discardClient(client: MongoClient): void {
  void client.close(true).catch(() => undefined);
}
