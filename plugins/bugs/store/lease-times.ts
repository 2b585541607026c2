/**
 * Leases on a machine whose clock steps (contract 95, a bad day). The end of a lease is stored as a time of day, with
 * the clock that wrote it. After a step the leases that were written by this clock move with it before one is
 * evaluated, so each keeps its duration. The new end depends on the lease and the clock alone, so processes of the
 * machine may move a lease concurrently.
 *
 * The clocks of other machines cannot be compared. After a step ahead their leases expire when they would by the clock
 * before; one that ends later than its length allows is shortened.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { CLOCK_SKEW_MS, CLOCK_SLACK_MS, ClockSteps } from '../../../lib/clock-skew.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import { HOUR_MS, isoOf, SECOND_MS } from '../../../lib/time.js';
import type { Filter, Find, WriteOp } from '../../../ports/store.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { ClaimLease, ItemDoc, LeaseMark } from '../item/model.js';
import { narrowToAny } from '../item/queue.js';
import { Commit } from './commit.js';

/** The longest lease, `lease_seconds` 14,400. */
const MAX_LEASE_MS = 4 * HOUR_MS;
const PAGE = 200;
/** A write that was planned before the first pass may have put a lease back. */
const PASSES = 3;

type Times = Required<LeaseMark> & Pick<ClaimLease, 'claimed_at' | 'expires_at'>;

@injectable()
export class LeaseTimes {
  readonly #steps: ClockSteps;
  readonly #moving = new SingleFlight<void>();
  /** Steps that were detected, the start of the process as the first, and those after which all leases were moved. */
  #seen = 1;
  #moved = 0;

  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Commit) private readonly commit: Commit,
  ) {
    this.#steps = new ClockSteps(deps.clock, MAX_LEASE_MS);
  }

  /** By this process's clock. @param now the time that the lease is written with */
  mark(now = this.deps.clock.now()): Required<LeaseMark> {
    const { clock } = this.deps;
    return { epoch: clock.epoch, offset: Math.round(now - clock.monotonic()) };
  }

  /** The clock has not stepped since `settle`. */
  get isSettled(): boolean {
    this.#check();
    return this.#moved === this.#seen;
  }

  /** Called before leases are read: moves them after a step. */
  async settle(): Promise<void> {
    this.#check();
    while (this.#moved !== this.#seen) {
      await this.#moving.share('', async () => {
        const seen = this.#seen;
        for (let pass = 0; pass < PASSES && (await this.#move({ gt: '' })); pass++);
        this.#moved = seen;
      });
    }
  }

  /** For the job: shortens leases that a machine wrote whose clock was far ahead. */
  async anchor(): Promise<void> {
    await this.settle();
    await this.#move({ gt: isoOf(this.#latest() + MAX_LEASE_MS + CLOCK_SKEW_MS) });
  }

  /** Those that have run out, of what fits. */
  over(fits: Filter = {}): Filter {
    const now = this.deps.clock.now();
    const ahead = this.#ahead();
    if (ahead === 0) return { ...fits, 'claim.expires_at': { gt: '', lte: isoOf(now) } };
    return narrowToAny(fits, [
      { 'claim.epoch': this.deps.clock.epoch, 'claim.expires_at': { gt: '', lte: isoOf(now) } },
      { 'claim.expires_at': { gt: '', lte: isoOf(now - ahead) } },
    ]);
  }

  isOver({ epoch, expires_at }: ClaimLease): boolean {
    const { clock } = this.deps;
    const now = epoch === clock.epoch ? clock.now() : clock.now() - this.#ahead();
    return Date.parse(expires_at) <= now;
  }

  #check(): void {
    if (this.#steps.check() !== 0) this.#seen += 1;
  }

  /** By how much this clock may be further ahead than others. */
  #ahead(): number {
    return Math.max(0, this.#steps.recentMs);
  }

  /** The latest that it can be now on another machine. */
  #latest(): number {
    return this.deps.clock.now() - Math.min(0, this.#steps.recentMs);
  }

  /** @returns whether a lease was moved */
  async #move(ends: { gt: string }): Promise<boolean> {
    const { items } = this.deps;
    const find: Find = { filter: { 'claim.expires_at': ends }, sort: [['claim.expires_at', 'asc']], limit: PAGE };
    let moved = false;
    let after: string | null = null;
    do {
      const page = await items.find({ ...find, after });
      const ops = page.items.flatMap((item) => this.#moveOf(item) ?? []);
      if (ops.length > 0) await items.bulk(ops);
      moved ||= ops.length > 0;
      after = page.next;
    } while (after !== null);
    return moved;
  }

  /** Where nobody else renews or ends the lease meanwhile. */
  #moveOf({ id, claim }: ItemDoc): WriteOp<ItemDoc> | null {
    const times = claim && this.#anchored(claim);
    if (claim === null || times === null) return null;
    const set = Object.fromEntries(Object.entries(times).map(([field, value]) => [`claim.${field}`, value]));
    return {
      change: { id, 'claim.token_hash': claim.token_hash, 'claim.expires_at': claim.expires_at },
      update: { set },
    };
  }

  /** Its times by the clock of now; null: they are. */
  #anchored(lease: ClaimLease): Times | null {
    const { clock } = this.deps;
    const mark = this.mark();
    if (lease.epoch === mark.epoch) {
      const by = mark.offset - (lease.offset ?? mark.offset);
      if (Math.abs(by) <= CLOCK_SLACK_MS) return null;
      const moved = (time: string): string => isoOf(Date.parse(time) + by);
      return { ...mark, claimed_at: moved(lease.claimed_at), expires_at: moved(lease.expires_at) };
    }
    const length = lease.lease_seconds * SECOND_MS;
    if (Date.parse(lease.expires_at) > this.#latest() + length + CLOCK_SKEW_MS)
      return { ...mark, claimed_at: clock.iso(), expires_at: isoOf(clock.now() + length) };
    // Where all writes are one there is one process: nobody else looks after what an earlier one has left.
    return !this.commit.isTogether ? null : { ...mark, claimed_at: lease.claimed_at, expires_at: lease.expires_at };
  }
}
