/**
 * Whether the time of day may be believed by what cannot be taken back: deleting by age (decision 050). Pure.
 *
 * A clock may go on as far as the service has run since its last note, by the monotonic clock, and an hour more: a stop
 * of the machine, a clock that lagged. Further ahead it is doubted, until the service has run for a day with it.
 */
import { DAY_MS, HOUR_MS } from '../time.js';

/** A clock that is further ahead than this is doubted. */
export const LEAP_MS = HOUR_MS;
/** A clock that stays ahead for so long of running is right. */
export const PROOF_MS = DAY_MS;

/** What one look leaves for the next one, of whatever process. */
export interface ClockNote {
  /** The time of day that is believed, in milliseconds since 1970. */
  at: number;
  /** When the note was written, by the monotonic clock of `epoch` (ports/clock.ts). */
  monotonic: number;
  epoch: string;
  /** For how long the service has run with a clock that is doubted. */
  doubted_ms: number;
  /** Null: it is not doubted. */
  doubt: Doubt | null;
}

/** A clock that leapt while the service ran is wrong, or was. After a stop of the machine it may well be right. */
export type Doubt = 'leap' | 'stop';

export interface ClockLook {
  now: number;
  monotonic: number;
  epoch: string;
}

export interface ClockVerdict {
  note: ClockNote;
  /** How far the clock is ahead of what is believed; 0: it is believed. */
  ahead_ms: number;
}

/**
 * @param known the last note; null: there is none, and the clock is believed
 * @param looked when this process looked last, by its monotonic clock; null: never
 */
export function judge(known: ClockNote | null, look: ClockLook, looked: number | null): ClockVerdict {
  const believed: ClockNote = {
    at: look.now,
    monotonic: look.monotonic,
    epoch: look.epoch,
    doubted_ms: 0,
    doubt: null,
  };
  if (known === null) return { note: believed, ahead_ms: 0 };
  const since = known.epoch === look.epoch ? known.monotonic : (looked ?? look.monotonic);
  const ran = Math.max(0, look.monotonic - since);
  const ahead_ms = look.now - (known.at + ran);
  const doubted_ms = known.doubted_ms + ran;
  if (ahead_ms <= LEAP_MS || doubted_ms >= PROOF_MS) return { note: believed, ahead_ms: 0 };
  const doubt = known.doubt ?? (known.epoch === look.epoch || looked !== null ? 'leap' : 'stop');
  return { note: { ...believed, at: known.at + ran, doubted_ms, doubt }, ahead_ms };
}
