/**
 * A lease: one document that says which process may do something, for as long as it renews the document. The fencing
 * number rises with every holder, so that a write can name the term it belongs to, and a holder that was frozen past
 * its lease can be found out. Structurally typed: `LeaseRows` is a collection of the store port.
 *
 * When is a holder gone? Two judgements, for two kinds of waiters:
 *  - `silence`: its document has not changed for `ttlMs` of the waiter's monotonic clock. Right for a process that
 *    waits, and clocks of machines may differ as they like; a crashed holder costs one `ttlMs`.
 *  - `clock`: the time in its document is over. For a process that lives too short to watch. A time further ahead than
 *    a lease and the difference of two clocks (`SKEW_MS`) means that the clock was set back, and counts as over.
 * With either, a dead owner on the same host is replaced at once where `ownerDead` can tell.
 */

export interface LeaseRow<O extends object = object> {
  id: string;
  /** Null: free. */
  holder: string | null;
  owner?: O | null;
  /** Rises with every holder. */
  fence?: number;
  /** Rises with every renewal. */
  beat?: number;
  /** Until when, if it is not renewed. */
  expires_at?: string;
}

export interface LeaseRows<O extends object = object> {
  get(id: string): Promise<LeaseRow<O> | null>;
  change(filter: object, update: object, options?: { upsert?: boolean }): Promise<{ doc: LeaseRow<O> } | null>;
}

export interface LeaseOptions<O extends object = object> {
  id: string;
  ttlMs: number;
  judge: 'silence' | 'clock';
  clock: { now(): number; monotonic(): number };
  /** A new name for each term of each holder. */
  uuid: () => string;
  /** Which process this is, for people and for `ownerDead`. */
  owner?: O;
  ownerDead?: (owner: O) => Promise<boolean>;
  /** A renewal failed; the next one may succeed. */
  onFault: (error: unknown) => void;
}

/** The lease went to another process, or could not be renewed in time. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

/** How far the clocks of two processes may be apart. */
const SKEW_MS = 30_000;
/** Renewals in the life of a lease: two may fail. */
const RENEWALS = 3;

export class Lease<O extends object = object> {
  #seen: { text: string; since: number } | null = null;

  constructor(
    private readonly rows: LeaseRows<O>,
    private readonly options: LeaseOptions<O>,
  ) {}

  /** Takes the lease if it is free or its holder is gone. Null: a living process holds it. */
  async take(): Promise<HeldLease | null> {
    const { id, ttlMs, clock, uuid, owner = null } = this.options;
    const holder = uuid();
    const taken = { holder, owner, expires_at: getLeaseExpiry(clock.now(), ttlMs) };
    const current = (await this.rows.get(id)) ?? (await this.#create(taken));
    if (current.holder === holder) return this.#held(current, NaN);
    const left = Date.parse(current.expires_at ?? '') - clock.now();
    if (current.holder !== null && !(await this.#gone(current, left))) return null;
    const won = await this.rows.change(
      { id, holder: current.holder, fence: current.fence ?? null },
      { set: { ...taken, expires_at: getLeaseExpiry(clock.now(), ttlMs) }, inc: { fence: 1 } },
    );
    return won === null ? null : this.#held(won.doc, left);
  }

  /** @param left of the time of the holder before, in ms */
  #held({ holder, fence }: LeaseRow<O>, left: number): HeldLease {
    const setBack = left > this.options.ttlMs + SKEW_MS;
    return new HeldLease(this.rows, this.options, holder ?? '', fence ?? 0, setBack);
  }

  /** Creates the document, taken by the first of two that do so at once. Answers it as it is then. */
  async #create(taken: Pick<LeaseRow<O>, 'holder' | 'owner' | 'expires_at'>): Promise<LeaseRow<O>> {
    const { id } = this.options;
    const setOnInsert = { ...taken, fence: 1 };
    const created = await this.rows.change({ id }, { setOnInsert }, { upsert: true });
    return created?.doc ?? { id, holder: null };
  }

  async #gone(row: LeaseRow<O>, left: number): Promise<boolean> {
    const { judge, ttlMs, ownerDead } = this.options;
    const over = judge === 'clock' ? left <= 0 || left > ttlMs + SKEW_MS : this.#silent(row);
    if (over || ownerDead === undefined) return over;
    return row.owner !== null && row.owner !== undefined && ownerDead(row.owner);
  }

  #silent(row: LeaseRow): boolean {
    const text = JSON.stringify(row);
    const now = this.options.clock.monotonic();
    if (this.#seen?.text !== text) this.#seen = { text, since: now };
    return now - this.#seen.since >= this.options.ttlMs;
  }
}

/** What a lease of this process is built on; structurally typed, so that a plugin's own dependencies are enough. */
export interface ProcessLeaseParts<O extends object> {
  clock: LeaseOptions['clock'];
  ids: { uuid(): string };
  log: { warn(details: object, message: string): void };
  processes: { self(): Promise<O>; dead(owner: O): Promise<boolean> };
}

/**
 * A lease of this process, which a dead process on the same host never keeps from it.
 * @param what is leased, for the log
 */
export async function createProcessLease<O extends object>(
  rows: LeaseRows<O>,
  { clock, ids, log, processes }: ProcessLeaseParts<O>,
  { what, ...options }: Pick<LeaseOptions, 'id' | 'ttlMs' | 'judge'> & { what: string },
): Promise<Lease<O>> {
  return new Lease(rows, {
    ...options,
    clock,
    uuid: () => ids.uuid(),
    owner: await processes.self(),
    ownerDead: (owner) => processes.dead(owner),
    onFault: (err) => log.warn({ err, lease: options.id }, `the lease of ${what} was not renewed`),
  });
}

/** A term of a lease: renewed by itself until it is released or lost. */
export class HeldLease {
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** Runs out when no renewal has succeeded for the life of the lease. */
  readonly #end: NodeJS.Timeout;
  #renewed: number;

  constructor(
    private readonly rows: LeaseRows,
    private readonly options: Pick<LeaseOptions, 'id' | 'ttlMs' | 'clock' | 'onFault'>,
    /** The name of this term. */
    readonly holder: string,
    /** Higher than that of every earlier holder. */
    readonly fence: number,
    /** The last holder's time was ahead by more than clocks may differ: the clock was set back since then. */
    readonly setBack: boolean,
  ) {
    this.#renewed = options.clock.monotonic();
    // A loss ends in `signal`, `check` and the next `confirm`.
    const renew = (): void => void this.#renew().catch((error: unknown) => options.onFault(error));
    this.#timer = setInterval(renew, options.ttlMs / RENEWALS);
    this.#timer.unref();
    this.#end = setTimeout(() => this.#lost.abort(), options.ttlMs);
    this.#end.unref();
  }

  /** Aborts when the lease is lost, or could not be renewed in its time. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** Before a write that only the holder may make, without a question to the store. @throws LeaseLost */
  check(): void {
    const { id, ttlMs, clock } = this.options;
    if (this.#lost.signal.aborted || clock.monotonic() - this.#renewed > ttlMs) {
      throw new LeaseLost(`the lease "${id}" was lost to another process`);
    }
  }

  /**
   * Before a long step that only the holder may take: renews it now.
   * @param noted further fields of the document, written with the renewal
   * @throws LeaseLost
   */
  async confirm(noted: object = {}): Promise<void> {
    await this.#renew(noted);
    this.check();
  }

  async release(): Promise<void> {
    this.stop();
    await this.#change({ set: { holder: null } });
  }

  /** Renews the lease no more: the holder removes the document, or the lease ends by itself. */
  stop(): void {
    clearInterval(this.#timer);
    clearTimeout(this.#end);
  }

  async #renew(noted: object = {}): Promise<void> {
    const { ttlMs, clock } = this.options;
    const began = clock.monotonic();
    const update = { set: { ...noted, expires_at: getLeaseExpiry(clock.now(), ttlMs) }, inc: { beat: 1 } };
    if (await this.#change(update)) {
      this.#renewed = began;
      this.#end.refresh();
    } else this.#lost.abort();
  }

  async #change(update: object): Promise<boolean> {
    const { holder, fence } = this;
    return (await this.rows.change({ id: this.options.id, holder, fence }, update)) !== null;
  }
}

const getLeaseExpiry = (now: number, ttlMs: number): string => new Date(now + ttlMs).toISOString();
