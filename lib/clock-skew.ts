/**
 * Guarantees for a clock that steps (contract 95, a bad day): due times are monotonic within a
 * process, nothing is deleted by age while the clock is not trusted (decision 050), and delta
 * queries miss nothing.
 */
import { DAY_MS, HOUR_MS, toIsoString, MINUTE_MS, SECOND_MS } from './time.js';
import { iterateItems } from './paging.js';

interface Clock {
  now(): number;
  monotonic(): number;
}

/** Between readings of one clock. */
export const CLOCK_SLACK_MS = 2 * SECOND_MS;
/** Between the clocks of two processes. */
export const CLOCK_SKEW_MS = 30 * SECOND_MS;
/** Further ahead: written before the clock moved backwards. */
export const MAX_AHEAD_MS = MINUTE_MS;

/** Detects clock steps; a suspended machine has stepped ahead. */
export class ClockStepDetector {
  #offset: number;
  #recent = { ms: 0, until: -Infinity };

  constructor(
    private readonly clock: Clock,
    private readonly memoryMs = 0,
  ) {
    this.#offset = clock.now() - clock.monotonic();
  }

  check(): number {
    const monotonic = this.clock.monotonic();
    const offset = this.clock.now() - monotonic;
    const step = offset - this.#offset;
    this.#offset = offset;
    if (Math.abs(step) <= CLOCK_SLACK_MS) return 0;
    this.#recent = { ms: this.recentMs + step, until: monotonic + this.memoryMs };
    return step;
  }

  get recentMs(): number {
    return this.clock.monotonic() < this.#recent.until ? this.#recent.ms : 0;
  }
}

interface Rows<T> {
  find(query: object): Promise<{ items: T[]; next: string | null }>;
  change(filter: object, update: { set: Record<string, string | number> }): Promise<unknown>;
}

interface ReanchorOptions<T> {
  field: string;
  filter?: object;
  sort?: readonly (readonly [string, 'asc'])[];
  /** Infinity: any. */
  longest: (row: T) => number;
  fields?: (row: T, time: number) => Record<string, string | number>;
}

const MAX_DUE_TIMES = 20_000;
const PAGE_SIZE = 200;

/**
 * Due times of a queue, stored as times of day and tracked by the monotonic clock. After a
 * backwards step they are reanchored: this process's exactly, others' within their maximum delay.
 */
export class DueTimeTracker {
  readonly #steps: ClockStepDetector;
  readonly #scheduled = new Map<string, number>();
  /** Monotonic. */
  #checkedAt = -Infinity;

  /** @param recheckMs default: only after steps */
  constructor(
    private readonly clock: Clock,
    private readonly recheckMs = Infinity,
  ) {
    this.#steps = new ClockStepDetector(clock);
  }

  scheduleIn(ms: number): string {
    return this.scheduleAt(this.clock.now() + ms);
  }

  /** @param time milliseconds since 1970, by the current clock */
  scheduleAt(time: number): string {
    const due = toIsoString(time);
    if (this.#scheduled.size >= MAX_DUE_TIMES) this.#prune();
    this.#scheduled.set(due, this.clock.monotonic() + time - this.clock.now());
    return due;
  }

  /** Retries failed calls. */
  async reanchorIfNeeded(reanchor: () => Promise<unknown>): Promise<void> {
    if (this.#steps.check() < 0) this.#checkedAt = -Infinity;
    const now = this.clock.monotonic();
    if (this.#checkedAt > -Infinity && now - this.#checkedAt < this.recheckMs) return;
    await reanchor();
    this.#checkedAt = now;
  }

  /** Moves due times that are too far ahead, by compare-and-set. */
  async reanchor<T extends { id: string }>(rows: Rows<T>, options: ReanchorOptions<T>): Promise<void> {
    const { field, filter, sort, longest, fields } = options;
    const after = toIsoString(this.clock.now() + CLOCK_SLACK_MS);
    const query = { filter: { ...filter, [field]: { gt: after } }, ...(sort && { sort }), limit: PAGE_SIZE };
    for await (const row of iterateItems<T, object>(rows, query)) {
      const due = Reflect.get(row, field) as string;
      const now = this.clock.now();
      const own = this.#getScheduledTime(due);
      const latest = now + longest(row);
      if (Date.parse(due) <= Math.min(own + CLOCK_SLACK_MS, latest + CLOCK_SKEW_MS)) continue;
      const time = Math.min(own, latest);
      const set = fields?.(row, time) ?? { [field]: this.scheduleAt(time) };
      await rows.change({ id: row.id, [field]: due }, { set });
    }
  }

  /** Infinity: written by another process. */
  #getScheduledTime(due: string): number {
    const at = this.#scheduled.get(due);
    return at === undefined ? Infinity : this.clock.now() + Math.max(0, at - this.clock.monotonic());
  }

  #prune(): void {
    const now = this.clock.monotonic();
    for (const [due, at] of this.#scheduled) if (at < now) this.#scheduled.delete(due);
    for (const due of this.#scheduled.keys()) {
      if (this.#scheduled.size < MAX_DUE_TIMES) return;
      this.#scheduled.delete(due);
    }
  }
}

/** Returns whether `at` (RFC 3339) is at least `ms` ago, or far ahead. */
export function hasElapsed(at: string, ms: number, now: number): boolean {
  const age = now - Date.parse(at);
  return age >= ms || age < -MAX_AHEAD_MS;
}

/** Returns the equivalent filter. */
export const buildElapsedFilter = (field: string, ms: number, now: number): { or: Record<string, object>[] } => ({
  or: [{ [field]: { gt: '', lte: toIsoString(now - ms) } }, { [field]: { gt: toIsoString(now + MAX_AHEAD_MS) } }],
});

/** Maximum lead of a trusted clock. */
export const MAX_CLOCK_LEAP_MS = HOUR_MS;
/** Running time after which a clock ahead is trusted. */
export const CLOCK_TRUST_DELAY_MS = DAY_MS;

/** Stored result of a clock check, for the next check of any process. */
export interface ClockNote {
  /** Trusted time of day, milliseconds since 1970. */
  at: number;
  /** On the clock of `epoch` (ports/clock.ts). */
  monotonic: number;
  epoch: string;
  /** Running time with an untrusted clock. */
  doubted_ms: number;
  /** Null when it is trusted. */
  doubt: 'leap' | 'stop' | null;
}

/**
 * Evaluates whether the clock is trusted: at most an hour ahead of the last note plus elapsed time,
 * or after a day of running (decision 050).
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
  if (now - at <= MAX_CLOCK_LEAP_MS || doubted_ms >= CLOCK_TRUST_DELAY_MS) return { note: trusted, ahead_ms: 0 };
  const doubt = last.doubt ?? (isSameBoot || checkedAt !== null ? 'leap' : 'stop');
  return { note: { ...trusted, at, doubted_ms, doubt }, ahead_ms: now - at };
}

/** How long cursors are corrected after a backwards step. */
const REPEATED_RANGE_TTL_MS = DAY_MS;

/**
 * Times that occurred twice because the clock moved backwards. Queries within the range start at
 * its beginning; they may repeat changes, but miss none (contract 00, lists).
 */
export class RepeatedTimeRange {
  readonly #steps: ClockStepDetector;
  #checkedAt: number;
  #range: { from: number; to: number; seenAt: number; hasUnknownStart: boolean } | null = null;

  /** @param marginMs between timestamp and visibility of a write */
  constructor(
    private readonly clock: Clock,
    private readonly marginMs: number,
  ) {
    this.#steps = new ClockStepDetector(clock);
    this.#checkedAt = clock.monotonic();
  }

  /** @param newest stored timestamp, RFC 3339 */
  detectEarlierStep(newest: string | undefined): void {
    const now = this.clock.now();
    const latest = newest === undefined ? 0 : Date.parse(newest);
    // Cursors may be later than the newest timestamp.
    if (latest > now + CLOCK_SLACK_MS) this.#extend(now, latest + REPEATED_RANGE_TTL_MS, true);
  }

  /** Call before each write. */
  check(): void {
    const step = this.#steps.check();
    const monotonic = this.clock.monotonic();
    const now = this.clock.now();
    // The step may have happened any time since the last check.
    if (step < 0) this.#extend(now - (monotonic - this.#checkedAt), now - step, false);
    this.#checkedAt = monotonic;
  }

  /** @param mark RFC 3339, as the result */
  getQueryStart(mark: string): string {
    this.check();
    const range = this.#range;
    const time = Date.parse(mark);
    if (range === null || time <= range.from || time > range.to) return mark;
    const isAhead = time > this.clock.now() + CLOCK_SLACK_MS;
    if (!isAhead && this.clock.monotonic() - range.seenAt >= REPEATED_RANGE_TTL_MS) return mark;
    return toIsoString(isAhead && range.hasUnknownStart ? 0 : range.from - this.marginMs);
  }

  #extend(from: number, to: number, hasUnknownStart: boolean): void {
    const seenAt = this.clock.monotonic();
    const range = this.#range;
    const isOver = range === null || (seenAt - range.seenAt >= REPEATED_RANGE_TTL_MS && range.to <= this.clock.now());
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
