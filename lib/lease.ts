/** A lease: a document naming the process with an exclusive right while it is renewed. */

export interface LeaseRow<O extends object = object> {
  id: string;
  /** Null when it is free. */
  holder: string | null;
  owner?: O | null;
  fence?: number;
  beat?: number;
  expires_at?: string;
}

export interface LeaseRows<O extends object = object> {
  get(id: string): Promise<LeaseRow<O> | null>;
  change(filter: object, update: object, options?: { upsert?: boolean }): Promise<{ doc: LeaseRow<O> } | null>;
}

export interface LeaseOptions<O extends object = object> {
  id: string;
  ttlMs: number;
  expiryMode: 'silence' | 'clock';
  clock: { now(): number; monotonic(): number };
  /** Generates the name of a term. */
  uuid: () => string;
  /** Owning process, for display and `ownerDead`. */
  owner?: O;
  ownerDead?: (owner: O) => Promise<boolean>;
  onFault: (error: unknown) => void;
}

/** The lease passed to another process or was not renewed in time. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

const MAX_CLOCK_SKEW_MS = 30_000;
/** Two of them may fail. */
const RENEWALS_PER_TTL = 3;

export class Lease<O extends object = object> {
  #seen: { text: string; since: number } | null = null;

  constructor(
    private readonly rows: LeaseRows<O>,
    private readonly options: LeaseOptions<O>,
  ) {}

  /** Null when a live process holds the lease. */
  async acquire(): Promise<HeldLease | null> {
    const { id, ttlMs, clock, uuid, owner = null } = this.options;
    const holder = uuid();
    const claim = { holder, owner, expires_at: getLeaseExpiry(clock.now(), ttlMs) };
    const current = (await this.rows.get(id)) ?? (await this.#create(claim));
    if (current.holder === holder) return this.#toHeldLease(current, NaN);
    const left = Date.parse(current.expires_at ?? '') - clock.now();
    if (current.holder !== null && !(await this.#isHolderGone(current, left))) return null;
    const won = await this.rows.change(
      { id, holder: current.holder, fence: current.fence ?? null },
      { set: { ...claim, expires_at: getLeaseExpiry(clock.now(), ttlMs) }, inc: { fence: 1 } },
    );
    return won === null ? null : this.#toHeldLease(won.doc, left);
  }

  #toHeldLease({ holder, fence }: LeaseRow<O>, left: number): HeldLease {
    const setBack = left > this.options.ttlMs + MAX_CLOCK_SKEW_MS;
    return new HeldLease(this.rows, this.options, holder ?? '', fence ?? 0, setBack);
  }

  async #create(claim: Pick<LeaseRow<O>, 'holder' | 'owner' | 'expires_at'>): Promise<LeaseRow<O>> {
    const { id } = this.options;
    const setOnInsert = { ...claim, fence: 1 };
    const created = await this.rows.change({ id }, { setOnInsert }, { upsert: true });
    return created?.doc ?? { id, holder: null };
  }

  async #isHolderGone(row: LeaseRow<O>, left: number): Promise<boolean> {
    const { expiryMode, ttlMs, ownerDead } = this.options;
    const over = expiryMode === 'clock' ? left <= 0 || left > ttlMs + MAX_CLOCK_SKEW_MS : this.#isHolderSilent(row);
    if (over || ownerDead === undefined) return over;
    return row.owner !== null && row.owner !== undefined && ownerDead(row.owner);
  }

  #isHolderSilent(row: LeaseRow): boolean {
    const text = JSON.stringify(row);
    const now = this.options.clock.monotonic();
    if (this.#seen?.text !== text) this.#seen = { text, since: now };
    return now - this.#seen.since >= this.options.ttlMs;
  }
}

/** Dependencies of a process lease; structural, so that a plugin's own suffice. */
export interface ProcessLeaseParts<O extends object> {
  clock: LeaseOptions['clock'];
  ids: { uuid(): string };
  log: { warn(details: object, message: string): void };
  processes: { getSelf(): Promise<O>; isDead(owner: O): Promise<boolean> };
}

/**
 * Creates a lease that a dead process on the same host cannot block.
 * @param what leased right, for the log
 */
export async function createProcessLease<O extends object>(
  rows: LeaseRows<O>,
  { clock, ids, log, processes }: ProcessLeaseParts<O>,
  { what, ...options }: Pick<LeaseOptions, 'id' | 'ttlMs' | 'expiryMode'> & { what: string },
): Promise<Lease<O>> {
  return new Lease(rows, {
    ...options,
    clock,
    uuid: () => ids.uuid(),
    owner: await processes.getSelf(),
    ownerDead: (owner) => processes.isDead(owner),
    onFault: (err) => log.warn({ err, lease: options.id }, `the lease of ${what} was not renewed`),
  });
}

/** A term of a lease, renewed until released or lost. */
export class HeldLease {
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  /** Fires when no renewal succeeded within the TTL. */
  readonly #end: NodeJS.Timeout;
  #renewed: number;

  constructor(
    private readonly rows: LeaseRows,
    private readonly options: Pick<LeaseOptions, 'id' | 'ttlMs' | 'clock' | 'onFault'>,
    readonly holder: string,
    readonly fence: number,
    /** The previous expiry was implausibly far ahead. */
    readonly hasClockMovedBack: boolean,
  ) {
    this.#renewed = options.clock.monotonic();
    // A loss is reported by `signal`, `check` and the next `confirm`.
    const renew = (): void => void this.#renew().catch((error: unknown) => options.onFault(error));
    this.#timer = setInterval(renew, options.ttlMs / RENEWALS_PER_TTL);
    this.#timer.unref();
    this.#end = setTimeout(() => this.#lost.abort(), options.ttlMs);
    this.#end.unref();
  }

  /** Aborts when the lease is lost or not renewed in time. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /**
   * Does not access the store.
   * @throws LeaseLost
   */
  check(): void {
    const { id, ttlMs, clock } = this.options;
    if (this.#lost.signal.aborted || clock.monotonic() - this.#renewed > ttlMs) {
      throw new LeaseLost(`the lease "${id}" was lost to another process`);
    }
  }

  /**
   * @param noted fields to write with the renewal
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
