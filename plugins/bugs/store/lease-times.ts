/**
 * Leases on a machine whose clock is put forward and back (contract 95, a bad day). The end of a lease is stored as a
 * time of day, since agents and other processes know no other; beside it stands by which clock it was written. Once a
 * clock was put anywhere, the leases that were written by it move with it, before anybody judges one: each lasts as
 * long as it would have. Where it moves to follows from the lease and the clock alone, so any number of processes of
 * the machine may do it at once, or again.
 *
 * The clocks of other machines cannot be compared. Right after this machine's was put ahead, their leases count as run
 * out when they would be by the clock before, too; and one that ends later than it can at all is brought to where it
 * can be.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { CLOCK_SLACK_MS, ClockSteps } from '../../../lib/clock-steps.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import { HOUR_MS, isoOf, SECOND_MS } from '../../../lib/time.js';
import type { Filter, Find, WriteOp } from '../../../ports/store.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { ClaimLease, ItemDoc, LeaseMark } from '../item/model.js';
import { either } from '../item/queue.js';
import { Commit } from './commit.js';

/** The longest lease, `lease_seconds` 14,400. */
const LONGEST_MS = 4 * HOUR_MS;
/** How far the clocks of two machines may differ. */
const SKEW_MS = 30 * SECOND_MS;
const PAGE = 200;
/** A write that was planned before the first pass may have put a lease back. */
const PASSES = 3;

type Times = Required<LeaseMark> & Pick<ClaimLease, 'claimed_at' | 'expires_at'>;

@injectable()
export class LeaseTimes {
  readonly #steps: ClockSteps;
  readonly #moving = new SingleFlight<void>();
  /** Until this time of the monotonic clock leases of other machines may end by the clock before the last steps. */
  #stepped = { by: 0, until: -Infinity };
  /** Steps that were seen, the start of the process as the first, and those after which all leases were moved. */
  #seen = 1;
  #moved = 0;

  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Commit) private readonly commit: Commit,
  ) {
    this.#steps = new ClockSteps(deps.clock);
  }

  /** By this process's clock. @param now the time that the lease is written with */
  mark(now = this.deps.clock.now()): Required<LeaseMark> {
    const { clock } = this.deps;
    return { epoch: clock.epoch, offset: Math.round(now - clock.monotonic()) };
  }

  /** Nobody has put the clock anywhere since `settle`. */
  get isSettled(): boolean {
    this.#look();
    return this.#moved === this.#seen;
  }

  /** Before leases are read: by the time of day of now. Costs nothing while nobody puts the clock anywhere. */
  async settle(): Promise<void> {
    this.#look();
    while (this.#moved !== this.#seen) {
      await this.#moving.share('', async () => {
        const seen = this.#seen;
        for (let pass = 0; pass < PASSES && (await this.#move({ gt: '' })); pass++);
        this.#moved = seen;
      });
    }
  }

  /** For the job: what a machine wrote whose clock was far ahead. */
  async anchor(): Promise<void> {
    await this.settle();
    await this.#move({ gt: isoOf(this.#latest() + LONGEST_MS + SKEW_MS) });
  }

  /** Those that have run out, of what fits. */
  over(fits: Filter = {}): Filter {
    const now = this.deps.clock.now();
    const ahead = this.#ahead();
    if (ahead === 0) return { ...fits, 'claim.expires_at': { gt: '', lte: isoOf(now) } };
    return either(fits, [
      { 'claim.epoch': this.deps.clock.epoch, 'claim.expires_at': { gt: '', lte: isoOf(now) } },
      { 'claim.expires_at': { gt: '', lte: isoOf(now - ahead) } },
    ]);
  }

  isOver({ epoch, expires_at }: ClaimLease): boolean {
    const { clock } = this.deps;
    const now = epoch === clock.epoch ? clock.now() : clock.now() - this.#ahead();
    return Date.parse(expires_at) <= now;
  }

  #look(): void {
    const step = this.#steps.look();
    if (step === 0) return;
    const monotonic = this.deps.clock.monotonic();
    const before = monotonic < this.#stepped.until ? this.#stepped.by : 0;
    this.#stepped = { by: before + step, until: monotonic + LONGEST_MS };
    this.#seen += 1;
  }

  #by(): number {
    return this.deps.clock.monotonic() < this.#stepped.until ? this.#stepped.by : 0;
  }

  /** By how much this clock may be further ahead than others. */
  #ahead(): number {
    return Math.max(0, this.#by());
  }

  /** The latest that it can be now on another machine. */
  #latest(): number {
    return this.deps.clock.now() - Math.min(0, this.#by());
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
    if (Date.parse(lease.expires_at) > this.#latest() + length + SKEW_MS)
      return { ...mark, claimed_at: clock.iso(), expires_at: isoOf(clock.now() + length) };
    // Where all writes are one there is one process: nobody else looks after what an earlier one has left.
    return !this.commit.isTogether ? null : { ...mark, claimed_at: lease.claimed_at, expires_at: lease.expires_at };
  }
}
