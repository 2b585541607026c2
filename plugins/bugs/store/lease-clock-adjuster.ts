/**
 * Adjusts leases after clock steps (contract 95, a bad day). After a step, leases written by this
 * clock are moved before one is evaluated, so each keeps its duration. The new end depends only on
 * lease and clock, so processes of one machine may move a lease concurrently. Clocks of other
 * machines cannot be compared: their leases expire as by the previous clock, and one that ends
 * later than its length allows is shortened.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { CLOCK_SKEW_MS, CLOCK_SLACK_MS, ClockStepDetector } from '../../../lib/clock-skew.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import { HOUR_MS, toIsoString, SECOND_MS } from '../../../lib/time.js';
import type { Filter, FindQuery, WriteOp, Collection } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import type { ClaimLease, ItemDoc, LeaseClockStamp } from '../item/model.js';
import { narrowToAny } from '../item/queue-filters.js';
import { WriteCommitter } from './write-committer.js';
import type { Clock } from '../../../ports/clock.js';

const MAX_LEASE_MS = 4 * HOUR_MS;
const PAGE_SIZE = 200;
/** A concurrent write may restore an old lease. */
const MAX_PASSES = 3;

type StampedLeaseTimes = Required<LeaseClockStamp> & Pick<ClaimLease, 'claimed_at' | 'expires_at'>;

@injectable()
export class LeaseClockAdjuster {
  readonly #steps: ClockStepDetector;
  readonly #moving = new SingleFlight<void>();
  /** Includes the process start. */
  #detectedSteps = 1;
  #moved = 0;

  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(WriteCommitter) private readonly commit: WriteCommitter,
  ) {
    this.#steps = new ClockStepDetector(clock, MAX_LEASE_MS);
  }

  getClockStamp(now = this.clock.now()): Required<LeaseClockStamp> {
    const clock = this.clock;
    return { epoch: clock.epoch, offset: Math.round(now - clock.monotonic()) };
  }

  /** Whether the clock has not stepped since `adjustAfterStep`. */
  get isAdjusted(): boolean {
    this.#check();
    return this.#moved === this.#detectedSteps;
  }

  /** Call before reading leases. */
  async adjustAfterStep(): Promise<void> {
    this.#check();
    while (this.#moved !== this.#detectedSteps) {
      await this.#moving.share('', async () => {
        const seen = this.#detectedSteps;
        for (let pass = 0; pass < MAX_PASSES && (await this.#moveLeases({ gt: '' })); pass++);
        this.#moved = seen;
      });
    }
  }

  /** Shortens those of machines whose clock was far ahead. */
  async shortenOverlong(): Promise<void> {
    await this.adjustAfterStep();
    await this.#moveLeases({ gt: toIsoString(this.#getLatestTime() + MAX_LEASE_MS + CLOCK_SKEW_MS) });
  }

  buildExpiredFilter(fits: Filter = {}): Filter {
    const now = this.clock.now();
    const ahead = this.#getMaxLead();
    if (ahead === 0) return { ...fits, 'claim.expires_at': { gt: '', lte: toIsoString(now) } };
    return narrowToAny(fits, [
      { 'claim.epoch': this.clock.epoch, 'claim.expires_at': { gt: '', lte: toIsoString(now) } },
      { 'claim.expires_at': { gt: '', lte: toIsoString(now - ahead) } },
    ]);
  }

  isExpired({ epoch, expires_at }: ClaimLease): boolean {
    const clock = this.clock;
    const now = epoch === clock.epoch ? clock.now() : clock.now() - this.#getMaxLead();
    return Date.parse(expires_at) <= now;
  }

  #check(): void {
    if (this.#steps.check() !== 0) this.#detectedSteps += 1;
  }

  /** Returns how far this clock may be ahead of others. */
  #getMaxLead(): number {
    return Math.max(0, this.#steps.recentMs);
  }

  #getLatestTime(): number {
    return this.clock.now() - Math.min(0, this.#steps.recentMs);
  }

  async #moveLeases(ends: { gt: string }): Promise<boolean> {
    const items = this.items;
    const find: FindQuery = {
      filter: { 'claim.expires_at': ends },
      sort: [['claim.expires_at', 'asc']],
      limit: PAGE_SIZE,
    };
    let moved = false;
    let after: string | null = null;
    do {
      const page = await items.find({ ...find, after });
      const ops = page.items.flatMap((item) => this.#buildMove(item) ?? []);
      if (ops.length > 0) await items.bulk(ops);
      moved ||= ops.length > 0;
      after = page.next;
    } while (after !== null);
    return moved;
  }

  /** Unless renewed or ended concurrently. */
  #buildMove({ id, claim }: ItemDoc): WriteOp<ItemDoc> | null {
    const times = claim && this.#adjustTimes(claim);
    if (claim === null || times === null) return null;
    const set = Object.fromEntries(Object.entries(times).map(([field, value]) => [`claim.${field}`, value]));
    return {
      change: { id, 'claim.token_hash': claim.token_hash, 'claim.expires_at': claim.expires_at },
      update: { set },
    };
  }

  #adjustTimes(lease: ClaimLease): StampedLeaseTimes | null {
    const clock = this.clock;
    const mark = this.getClockStamp();
    if (lease.epoch === mark.epoch) {
      const by = mark.offset - (lease.offset ?? mark.offset);
      if (Math.abs(by) <= CLOCK_SLACK_MS) return null;
      const moved = (time: string): string => toIsoString(Date.parse(time) + by);
      return { ...mark, claimed_at: moved(lease.claimed_at), expires_at: moved(lease.expires_at) };
    }
    const length = lease.lease_seconds * SECOND_MS;
    if (Date.parse(lease.expires_at) > this.#getLatestTime() + length + CLOCK_SKEW_MS)
      return { ...mark, claimed_at: clock.iso(), expires_at: toIsoString(clock.now() + length) };
    // A single process adopts the leases of its predecessor.
    return !this.commit.isAtomic ? null : { ...mark, claimed_at: lease.claimed_at, expires_at: lease.expires_at };
  }
}
