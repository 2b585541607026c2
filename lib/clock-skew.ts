/**
 * The three promises about a clock that steps (contract 95, a bad day):
 *
 * 1. Due times are monotonic within a process (`DueTimes`).
 * 2. Nothing is deleted by age while the clock is not trusted (`evaluateClock`, decision 050).
 * 3. Delta queries miss nothing (`RepeatedTimes`).
 *
 * Steps of the time of day are detected by comparison with the monotonic clock (`ClockSteps`).
 */
import { DAY_MS, HOUR_MS, isoOf, MINUTE_MS, SECOND_MS } from './time.js';
import { each } from './paging.js';

interface Clock {
  now(): number;
  monotonic(): number;
}

/** Tolerated difference of two readings of a clock that did not step. */
export const CLOCK_SLACK_MS = 2 * SECOND_MS;
/** Tolerated difference of the clocks of two processes. */
export const CLOCK_SKEW_MS = 30 * SECOND_MS;
/** A stored time further ahead was written by a clock that moved backwards since. */
export const AHEAD_MS = MINUTE_MS;

/** Detects steps of a clock. A machine that was suspended has stepped ahead, since its monotonic clock stood still. */
export class ClockSteps {
  #offset: number;
  #recent = { ms: 0, until: -Infinity };

  /** @param memoryMs how long a step counts as recent */
  constructor(
    private readonly clock: Clock,
    private readonly memoryMs = 0,
  ) {
    this.#offset = clock.now() - clock.monotonic();
  }

  /** Returns the step since the last check in milliseconds, negative when the clock moved backwards; 0: no step. */
  check(): number {
    const monotonic = this.clock.monotonic();
    const offset = this.clock.now() - monotonic;
    const step = offset - this.#offset;
    this.#offset = offset;
    if (Math.abs(step) <= CLOCK_SLACK_MS) return 0;
    this.#recent = { ms: this.recentMs + step, until: monotonic + this.memoryMs };
    return step;
  }

  /** Sum of the recent steps in milliseconds. */
  get recentMs(): number {
    return this.clock.monotonic() < this.#recent.until ? this.#recent.ms : 0;
  }
}

/** Structural type of a collection of the store port. */
interface Rows<T> {
  find(query: object): Promise<{ items: T[]; next: string | null }>;
  change(filter: object, update: { set: Record<string, string | number> }): Promise<unknown>;
}

interface Reanchored<T> {
  field: string;
  filter?: object;
  sort?: readonly (readonly [string, 'asc'])[];
  /** The longest delay in milliseconds that this row could get now; Infinity: any time is possible. */
  longest: (row: T) => number;
  /** Fields to store; default: the due time. */
  fields?: (row: T, time: number) => Record<string, string | number>;
}

const MAX_DUE_TIMES = 20_000;
const PAGE_SIZE = 200;

/**
 * Due times of a queue. They are stored as times of day, since processes share no other clock, and remembered by the
 * monotonic clock. After the clock moved backwards they lie too far ahead and are anchored again: those of this process
 * where they belong, those of other processes within their longest delay.
 */
export class DueTimes {
  readonly #steps: ClockSteps;
  /** Stored time → when it is due by the monotonic clock. */
  readonly #scheduled = new Map<string, number>();
  /** When the stored times were checked last, by the monotonic clock. They may be wrong when a process starts. */
  #checkedAt = -Infinity;

  /** @param recheckMs interval of checks for times that other processes wrote; default: only after steps */
  constructor(
    private readonly clock: Clock,
    private readonly recheckMs = Infinity,
  ) {
    this.#steps = new ClockSteps(clock);
  }

  /** Returns the time `ms` from now to store. */
  in(ms: number): string {
    return this.at(this.clock.now() + ms);
  }

  /** Returns a time to store. @param time milliseconds since 1970, by the current clock */
  at(time: number): string {
    const due = isoOf(time);
    if (this.#scheduled.size >= MAX_DUE_TIMES) this.#prune();
    this.#scheduled.set(due, this.clock.monotonic() + time - this.clock.now());
    return due;
  }

  /** Calls `reanchor` for the queue when its stored times may be wrong. A call that fails is repeated. */
  async reanchorIfNeeded(reanchor: () => Promise<unknown>): Promise<void> {
    if (this.#steps.check() < 0) this.#checkedAt = -Infinity;
    const now = this.clock.monotonic();
    if (this.#checkedAt > -Infinity && now - this.#checkedAt < this.recheckMs) return;
    await reanchor();
    this.#checkedAt = now;
  }

  /** Moves due times that lie too far ahead. Compare-and-set: processes may do so concurrently. */
  async reanchor<T extends { id: string }>(rows: Rows<T>, options: Reanchored<T>): Promise<void> {
    const { field, filter, sort, longest, fields } = options;
    const after = isoOf(this.clock.now() + CLOCK_SLACK_MS);
    const query = { filter: { ...filter, [field]: { gt: after } }, ...(sort && { sort }), limit: PAGE_SIZE };
    for await (const row of each<T, object>(rows, query)) {
      const due = Reflect.get(row, field) as string;
      const now = this.clock.now();
      const own = this.#scheduledTime(due);
      const latest = now + longest(row);
      if (Date.parse(due) <= Math.min(own + CLOCK_SLACK_MS, latest + CLOCK_SKEW_MS)) continue;
      const time = Math.min(own, latest);
      const set = fields?.(row, time) ?? { [field]: this.at(time) };
      await rows.change({ id: row.id, [field]: due }, { set });
    }
  }

  /** By the current clock; Infinity: another process wrote it. */
  #scheduledTime(due: string): number {
    const at = this.#scheduled.get(due);
    return at === undefined ? Infinity : this.clock.now() + Math.max(0, at - this.clock.monotonic());
  }

  /** Forgets past times, and then the oldest. */
  #prune(): void {
    const now = this.clock.monotonic();
    for (const [due, at] of this.#scheduled) if (at < now) this.#scheduled.delete(due);
    for (const due of this.#scheduled.keys()) {
      if (this.#scheduled.size < MAX_DUE_TIMES) return;
      this.#scheduled.delete(due);
    }
  }
}

/** Whether `at` (RFC 3339) is `ms` ago or more. A time far ahead counts as elapsed. @param now milliseconds */
export function hasElapsed(at: string, ms: number, now: number): boolean {
  const age = now - Date.parse(at);
  return age >= ms || age < -AHEAD_MS;
}

/** The same of a stored field, as a filter. */
export const elapsed = (field: string, ms: number, now: number): { or: Record<string, object>[] } => ({
  or: [{ [field]: { gt: '', lte: isoOf(now - ms) } }, { [field]: { gt: isoOf(now + AHEAD_MS) } }],
});

/** A clock further ahead than this is not trusted. */
export const LEAP_MS = HOUR_MS;
/** Running time after which a clock that stays ahead is trusted. */
export const PROOF_MS = DAY_MS;

/** A check of the clock, stored for the next check of any process. */
export interface ClockNote {
  /** The trusted time of day, in milliseconds since 1970. */
  at: number;
  /** When it was written, by the monotonic clock of `epoch` (ports/clock.ts). */
  monotonic: number;
  epoch: string;
  /** How long the service has run with an untrusted clock. */
  doubted_ms: number;
  /** It leapt while the service ran, or was ahead after a stop of the machine; null: it is trusted. */
  doubt: 'leap' | 'stop' | null;
}

/**
 * Evaluates whether the clock is trusted: it may be ahead of the last note by the time that passed and an hour.
 * Further ahead it is not trusted until the service has run for a day with it (decision 050).
 * @param last null: the first check of this store, which trusts the clock
 * @param checkedAt the last check of this process, by its monotonic clock; null: none
 * @returns the next note, and how far the clock is ahead; 0: it is trusted
 */
export function evaluateClock(
  last: ClockNote | null,
  { now, monotonic, epoch }: { now: number; monotonic: number; epoch: string },
  checkedAt: number | null,
): { note: ClockNote; ahead_ms: number } {
  const trusted: ClockNote = { at: now, monotonic, epoch, doubted_ms: 0, doubt: null };
  if (last === null) return { note: trusted, ahead_ms: 0 };
  const isSameBoot = last.epoch === epoch;
  const passed = Math.max(0, monotonic - (isSameBoot ? last.monotonic : (checkedAt ?? monotonic)));
  const at = last.at + passed;
  const doubted_ms = last.doubted_ms + passed;
  if (now - at <= LEAP_MS || doubted_ms >= PROOF_MS) return { note: trusted, ahead_ms: 0 };
  const doubt = last.doubt ?? (isSameBoot || checkedAt !== null ? 'leap' : 'stop');
  return { note: { ...trusted, at, doubted_ms, doubt }, ahead_ms: now - at };
}

/** How long after a step backwards marks of delta queries are corrected. */
const REMEMBERED_MS = DAY_MS;

/**
 * The range of times that a clock showed twice, because it moved backwards. Changes of the second time have stamps
 * that marks of delta queries have passed already (contract 00, lists), so a query with a mark inside of the range
 * starts where the range starts. It may return changes again, and misses none.
 */
export class RepeatedTimes {
  readonly #steps: ClockSteps;
  #checkedAt: number;
  #range: { from: number; to: number; seenAt: number; hasUnknownStart: boolean } | null = null;

  /** @param marginMs a write may become visible this long after its stamp */
  constructor(
    private readonly clock: Clock,
    private readonly marginMs: number,
  ) {
    this.#steps = new ClockSteps(clock);
    this.#checkedAt = clock.monotonic();
  }

  /**
   * Detects that the clock moved backwards before this process started.
   * @param newest stored stamp, RFC 3339; undefined: none
   */
  start(newest: string | undefined): void {
    const now = this.clock.now();
    const latest = newest === undefined ? 0 : Date.parse(newest);
    // A mark may be later than the newest stamp.
    if (latest > now + CLOCK_SLACK_MS) this.#extend(now, latest + REMEMBERED_MS, true);
  }

  /** Called before each write: the clock may catch up before the next query. */
  check(): void {
    const step = this.#steps.check();
    const monotonic = this.clock.monotonic();
    const now = this.clock.now();
    // The step may have happened at any time since the last check.
    if (step < 0) this.#extend(now - (monotonic - this.#checkedAt), now - step, false);
    this.#checkedAt = monotonic;
  }

  /** Returns where a query with this mark starts. @param mark RFC 3339, as the result */
  since(mark: string): string {
    this.check();
    const range = this.#range;
    const time = Date.parse(mark);
    if (range === null || time <= range.from || time > range.to) return mark;
    const isAhead = time > this.clock.now() + CLOCK_SLACK_MS;
    if (!isAhead && this.clock.monotonic() - range.seenAt >= REMEMBERED_MS) return mark;
    return isoOf(isAhead && range.hasUnknownStart ? 0 : range.from - this.marginMs);
  }

  #extend(from: number, to: number, hasUnknownStart: boolean): void {
    const seenAt = this.clock.monotonic();
    const range = this.#range;
    const isOver = range === null || (seenAt - range.seenAt >= REMEMBERED_MS && range.to <= this.clock.now());
    this.#range = isOver
      ? { from, to, seenAt, hasUnknownStart }
      : {
          from: Math.min(from, range.from),
          to: Math.max(to, range.to),
          seenAt,
          hasUnknownStart: hasUnknownStart || range.hasUnknownStart,
        };
  }
}
