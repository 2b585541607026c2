/**
 * Keeps the MongoDB connection usable during failures (contract 95, a bad day). The driver does not
 * always detect a dead connection, and calls then wait forever. Every operation therefore has a
 * deadline, one ping checks an unreachable server for all callers, and a silent client is replaced.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { MongoClient, type Collection, type Db, type Document, type MongoClientOptions } from 'mongodb';
import { StoreUnavailable } from '../../ports/store.js';
import type { ConnectionState } from './connection-lines.js';
import { DeadlinePassed, within } from './deadline.js';
import { isServerMissing, translated } from './errors.js';

export interface ConnectionTimes {
  /** One operation, including the driver's retries. */
  operation: number;
  /** Timeout of a ping, and interval between pings. */
  ping: number;
  /** Time without success until the client is replaced. */
  rebuild: number;
  /** Time without success after the replacement until the process is given up. */
  giveUp: number;
}

const TIMES: ConnectionTimes = { operation: 10_000, ping: 1_000, rebuild: 30_000, giveUp: 60_000 };

/**
 * Timed-out operations that the driver has not ended. Each holds one of the pool's 100 connections.
 */
const MOST_STUCK = 10;
/** Timeout of the first connection, so that a failing start reports quickly. */
const CONNECT_MS = 4_000;
/** Time for a graceful close; then the sockets are destroyed. */
const CLOSE_MS = 1_000;

export class MongoConnection {
  #client: MongoClient;
  /**
   * Collections of the current client by database and name, because the driver would parse all
   * options each time.
   */
  #collections = new Map<string, Collection>();
  #answeredAt = performance.now();
  /** While true, operations fail immediately until a ping is answered. */
  #away = false;
  #asking: Promise<void> | null = null;
  #lost = false;
  #stuck = 0;
  readonly #end = new AbortController();

  /**
   * @param tell called on each state change, and with `away` for each failed ping
   * @param answered called with the duration of each operation in milliseconds
   * @throws MongoParseError on a malformed URL
   */
  constructor(
    private readonly url: string,
    private readonly options: MongoClientOptions,
    private readonly tell: (state: ConnectionState, cause?: unknown) => void = () => undefined,
    private readonly times: ConnectionTimes = TIMES,
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
   * @param patient whether the URL sets the timeout
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
      await (patient ? connected : within(CONNECT_MS, connected));
    } catch (error) {
      await Promise.all([this.close(), connected.catch(() => undefined)]);
      if (!(error instanceof DeadlinePassed)) throw error;
      const reason = (failure as Error | null)?.message ?? 'no connection';
      throw new Error(`MongoDB did not answer within ${CONNECT_MS / 1_000} s: ${reason}`, { cause: error });
    } finally {
      client.off('serverHeartbeatFailed', note);
    }
  }

  /**
   * @throws StoreUnavailable immediately while the server is unreachable, and after the deadline;
   *   otherwise the driver's error
   */
  async run<V>(work: () => Promise<V>): Promise<V> {
    if (this.#away) throw new StoreUnavailable();
    const client = this.#client;
    const beganAt = performance.now();
    const begun = work();
    try {
      const answer = await within(this.times.operation, begun);
      this.#answeredAt = performance.now();
      this.answered(this.#answeredAt - beganAt);
      return answer;
    } catch (error) {
      const told = translated(error);
      if (!(told instanceof StoreUnavailable)) {
        // An error response is an answer too.
        this.#answeredAt = performance.now();
        throw error;
      }
      if (error instanceof DeadlinePassed) this.#countStuck(client, begun);
      this.#doubt(error);
      throw told;
    }
  }

  /**
   * Runs work without a deadline, such as building an index; it fails when the server stops
   * answering pings.
   * @throws as `run`
   */
  async runLong<V>(work: () => Promise<V>): Promise<V> {
    const done = new AbortController();
    try {
      return await Promise.race([work(), this.#silence(done.signal)]);
    } catch (error) {
      throw translated(error);
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
    await this.#asking;
    const client = this.#client;
    await within(CLOSE_MS, client.close()).catch(() => discard(client));
  }

  async #ping(): Promise<void> {
    const client = this.#client;
    // A client whose first attempt failed must connect explicitly; otherwise this returns
    // immediately.
    await client.connect();
    await client.db('admin').command({ ping: 1 });
  }

  /** Never resolves; throws when a ping is not answered. */
  async #silence(signal: AbortSignal): Promise<never> {
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
  #doubt(cause: unknown): void {
    if (isServerMissing(cause)) this.#leave(cause);
    if (this.#asking === null && !this.#end.signal.aborted) this.#asking = this.#ask();
  }

  async #ask(): Promise<void> {
    const doubtedAt = performance.now();
    let replacedAt: number | null = null;
    while (!this.#end.signal.aborted) {
      const began = performance.now();
      const cause = await within(this.times.ping, this.#ping()).then(
        () => null,
        (error: unknown) => error,
      );
      const whole = this.#stuck < MOST_STUCK;
      if (cause === null && whole) {
        this.#back();
        break;
      }
      // After a broken connection the driver opens the next one.
      const unanswered = isServerMissing(cause) || cause instanceof DeadlinePassed;
      if (unanswered && !this.#end.signal.aborted) this.#leave(cause);
      const now = performance.now();
      // An idle client does not count as silent.
      const silentMs = now - Math.max(this.#answeredAt, doubtedAt);
      if (replacedAt === null ? !whole || silentMs >= this.times.rebuild : !whole) {
        this.#replace(cause);
        replacedAt ??= now;
        continue;
      }
      if (replacedAt !== null && now - replacedAt >= this.times.giveUp && !this.#lost) {
        this.#lost = true;
        this.tell('lost', cause);
      }
      const rest = Math.max(0, this.times.ping - (now - began));
      await pause(rest, undefined, { ref: false, signal: this.#end.signal }).catch(() => undefined);
    }
    this.#asking = null;
  }

  #leave(cause: unknown): void {
    this.#away = true;
    this.tell('away', cause);
  }

  #back(): void {
    this.#answeredAt = performance.now();
    if (!this.#away) return;
    this.#away = false;
    this.tell('connected');
  }

  #replace(cause: unknown): void {
    const old = this.#client;
    this.#client = new MongoClient(this.url, this.options);
    this.#collections = new Map();
    this.#stuck = 0;
    this.tell('replaced', cause);
    discard(old);
  }
}

/** Closes without waiting: pending calls have timed out, and the close itself may never end. */
function discard(client: MongoClient): void {
  void client.close(true).catch(() => undefined);
}
