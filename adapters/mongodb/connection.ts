/**
 * The connection to MongoDB on a bad day (contract 95, a bad day). The driver reconnects by itself where it sees that a
 * connection is gone; it does not always see it (it waits for a destroyed socket to drain, for one), and a call then
 * waits for ever. So every operation has a deadline, a server that is away is asked by one ping for all callers, and a
 * client that stays silent is replaced by a new one. Rejected: the driver's own `timeoutMS`, which bounds the same
 * calls and keeps a client whose every connection is dead.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { MongoClient, type Collection, type Db, type Document, type MongoClientOptions } from 'mongodb';
import { StoreUnavailable } from '../../ports/store.js';
import type { ConnectionState } from './connection-lines.js';
import { DeadlinePassed, within } from './deadline.js';
import { isServerMissing, translated } from './errors.js';

/** In milliseconds. */
export interface ConnectionTimes {
  /** One operation, retries of the driver included. */
  operation: number;
  /** Until a ping counts as unanswered, and from one to the next. */
  ping: number;
  /** Without any success until the client is replaced. */
  rebuild: number;
  /** After the replacement, without any success until the process is given up. */
  giveUp: number;
}

const TIMES: ConnectionTimes = { operation: 10_000, ping: 1_000, rebuild: 30_000, giveUp: 60_000 };

/**
 * Operations past their deadline that the driver has not ended: each holds a connection of its pool, which has a
 * hundred.
 */
const MOST_STUCK = 10;
/** How long the first connection may take, so that a start that cannot succeed says so. */
const CONNECT_MS = 4_000;
/** For the driver's farewell to its server; then its sockets are closed without one. */
const CLOSE_MS = 1_000;

export class MongoConnection {
  #client: MongoClient;
  /** Collections of this client, by their database and name: the driver would read all options again for each. */
  #collections = new Map<string, Collection>();
  /** Of the newest operation or ping that the server answered. */
  #answeredAt = performance.now();
  /** No operation is tried: the next ping that is answered says that the server is back. */
  #away = false;
  #asking: Promise<void> | null = null;
  #lost = false;
  #stuck = 0;
  readonly #end = new AbortController();

  /**
   * @param tell hears of each change of state, and of `away` again with each ping that fails
   * @param answered hears how long each operation took, in milliseconds
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

  /** Of the client that serves now: ask anew for each operation. */
  db(name: string): Db {
    return this.#client.db(name);
  }

  /** Of the client that serves now: ask anew for each operation. */
  collection<S extends Document>(database: string, name: string): Collection<S> {
    const key = `${database}.${name}`;
    const made = this.#collections.get(key) ?? this.db(database).collection(name);
    this.#collections.set(key, made);
    return made as unknown as Collection<S>;
  }

  /**
   * @param patient the URL says how long to wait
   * @throws the driver's error, or one that names it when no server answers in time; the client is closed then
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
   * @throws StoreUnavailable at once while the server is away, and for an operation past its deadline; else the
   *   driver's error
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
        // An error that the server answered is an answer.
        this.#answeredAt = performance.now();
        throw error;
      }
      if (error instanceof DeadlinePassed) this.#countStuck(client, begun);
      this.#doubt(error);
      throw told;
    }
  }

  /**
   * For what takes minutes where there is much, such as an index: it has no deadline, and is given up when the server
   * answers no ping beside it. @throws as `run`
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

  /** The time of one round trip in milliseconds. */
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
    // A new client whose first attempt failed stays closed until it is told to connect; one that is connected answers
    // at once.
    await client.connect();
    await client.db('admin').command({ ping: 1 });
  }

  /** Never resolves: throws when a ping is not answered. */
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
   * One operation may be slow alone, or its line be cut alone: only a ping, or no server to be had, says that the
   * server is away.
   */
  #doubt(cause: unknown): void {
    if (isServerMissing(cause)) this.#leave(cause);
    if (this.#asking === null && !this.#end.signal.aborted) this.#asking = this.#ask();
  }

  /** Pings until the server answers, and replaces the client that gets no answer. */
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
      // A connection that broke says nothing of the next; the driver makes one.
      const unanswered = isServerMissing(cause) || cause instanceof DeadlinePassed;
      if (unanswered && !this.#end.signal.aborted) this.#leave(cause);
      const now = performance.now();
      // A client that nobody asked anything was not silent.
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

/** What still waits in it has had its deadline. Its end may never come, and nobody waits for it. */
function discard(client: MongoClient): void {
  void client.close(true).catch(() => undefined);
}
