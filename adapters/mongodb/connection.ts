/**
 * The connection to MongoDB on a bad day (contract 95, a bad day). The driver reconnects by itself where it sees that a
 * connection is gone; it does not always see it, and a call can then wait for ever. So every operation has a deadline, a
 * server that is away is asked by one ping for all callers, and a client that stays silent is replaced by a new one.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { MongoClient, type Db, type MongoClientOptions } from 'mongodb';
import { StoreUnavailable } from '../../ports/store.js';
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

export const TIMES: ConnectionTimes = { operation: 10_000, ping: 1_000, rebuild: 30_000, giveUp: 60_000 };

/** Operations that the driver never ended; as many of them hold as many connections of its pool. */
const MOST_STUCK = 10;

export type ConnectionState = 'connected' | 'away' | 'replaced' | 'lost';

/** How long the first connection may take, so that a start that cannot succeed says so. */
const CONNECT_MS = 4_000;

export class MongoConnection {
  #client: MongoClient;
  /** Of the newest operation or ping that the server answered. */
  #answeredAt = performance.now();
  /** No operation is tried: the next ping that is answered says that the server is back. */
  #away = false;
  #asking: Promise<void> | null = null;
  #lost = false;
  #stuck = 0;
  readonly #end = new AbortController();

  /** @param tell hears of each change of state, `lost` at most once @throws MongoParseError on a malformed URL */
  constructor(
    private readonly url: string,
    private readonly options: MongoClientOptions,
    private readonly tell: (state: ConnectionState, cause?: unknown) => void = () => undefined,
    private readonly times: ConnectionTimes = TIMES,
  ) {
    this.#client = new MongoClient(url, options);
  }

  /** Of the client that serves now: ask anew for each operation. */
  db(name: string): Db {
    return this.#client.db(name);
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
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      if (patient) return;
      const seconds = CONNECT_MS / 1_000;
      timer = setTimeout(() => {
        reject(new Error(`MongoDB did not answer within ${seconds} s: ${failure?.message ?? 'no connection'}`));
      }, CONNECT_MS);
    });
    const connected = this.#ping();
    try {
      await Promise.race([connected, late]);
    } catch (error) {
      await Promise.all([this.close(), connected.catch(() => undefined)]);
      throw error;
    } finally {
      clearTimeout(timer);
      client.off('serverHeartbeatFailed', note);
    }
  }

  /** @throws StoreUnavailable at once while the server is away, and for an operation past its deadline; else the driver's error */
  async run<V>(work: () => Promise<V>): Promise<V> {
    if (this.#away) throw new StoreUnavailable();
    const client = this.#client;
    try {
      const answer = await this.#within(this.times.operation, work(), () => {
        if (client === this.#client) this.#stuck += 1;
      });
      this.#answeredAt = performance.now();
      return answer;
    } catch (error) {
      const told = translated(error);
      if (!(told instanceof StoreUnavailable)) {
        // An error that the server answered is an answer.
        this.#answeredAt = performance.now();
        throw error;
      }
      this.#doubt(error);
      throw told;
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
    await this.#client.close();
  }

  async #ping(): Promise<void> {
    const client = this.#client;
    // A new client whose first attempt failed stays closed until it is told to connect; one that is connected answers at once.
    await client.connect();
    await client.db('admin').command({ ping: 1 });
  }

  #doubt(cause: unknown): void {
    if (!this.#away && isServerMissing(cause)) {
      this.#away = true;
      this.tell('away', cause);
    }
    if (this.#asking === null && !this.#end.signal.aborted) this.#asking = this.#ask();
  }

  /** Pings until the server answers, and replaces the client that gets no answer. */
  async #ask(): Promise<void> {
    const doubtedAt = performance.now();
    let replacedAt: number | null = null;
    while (!this.#end.signal.aborted) {
      const began = performance.now();
      const cause = await this.#within(this.times.ping, this.#ping()).then(
        () => null,
        (error: unknown) => error,
      );
      const whole = this.#stuck < MOST_STUCK;
      if (cause === null && whole) this.#back();
      if (whole && !this.#away && this.#answeredAt >= began) break;
      const now = performance.now();
      // A client that nobody asked anything was not silent.
      const silentMs = now - Math.max(this.#answeredAt, doubtedAt);
      if (replacedAt === null && (!whole || silentMs >= this.times.rebuild)) {
        this.#replace(cause);
        replacedAt = now;
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

  #back(): void {
    this.#answeredAt = performance.now();
    if (!this.#away) return;
    this.#away = false;
    this.tell('connected');
  }

  #replace(cause: unknown): void {
    const old = this.#client;
    this.#client = new MongoClient(this.url, this.options);
    this.#stuck = 0;
    this.tell('replaced', cause);
    // What still waits in it has had its deadline. Its end may never come, and nobody waits for it.
    void old.close(true).catch(() => undefined);
  }

  /** @throws StoreUnavailable when the time is over first; what `work` does later is of no interest */
  #within<V>(ms: number, work: Promise<V>, late: () => void = () => undefined): Promise<V> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        late();
        reject(new StoreUnavailable({ cause: new DeadlinePassed(ms) }));
      }, ms);
      const stop = (): void => clearTimeout(timer);
      work.finally(stop).then(resolve, reject);
    });
  }
}

/** The server did not answer, and the driver did not say so. */
class DeadlinePassed extends Error {
  override name = 'DeadlinePassed';
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}
