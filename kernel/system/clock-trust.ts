/** Checks the clock before anything is deleted by age (decision 050). */
import { evaluateClock, CLOCK_TRUST_DELAY_MS, type ClockNote } from '../../lib/clock-skew.js';
import { MINUTE_MS } from '../../lib/time.js';
import type { Clock } from '../../ports/clock.js';
import type { ClockState } from '../../ports/domain/system.js';
import type { Logger } from '../../ports/logger.js';
import type { Collection, Doc, DocumentStore } from '../../ports/store/index.js';

const NOTE_ID = 'clock';
const CHECK_INTERVAL_MS = 5 * MINUTE_MS;

export class ClockTrust {
  readonly #notes: Collection<Doc & ClockNote>;
  #checkedAt: number | null = null;
  #isTrusted = true;

  constructor(private readonly parts: { store: DocumentStore; clock: Clock; log: Logger }) {
    this.#notes = parts.store.collection('kernel_clock');
  }

  async check(): Promise<ClockState> {
    const { clock } = this.parts;
    const last = await this.#notes.get(NOTE_ID);
    const reading = { now: clock.now(), monotonic: clock.monotonic(), epoch: clock.epoch };
    const { note, ahead_ms } = evaluateClock(last, reading, this.#checkedAt);
    const isTrusted = ahead_ms === 0;
    const isStale =
      last === null ||
      Math.abs(note.at - last.at) >= CHECK_INTERVAL_MS ||
      // After a reboot the run time of an untrusted clock is measured with the new monotonic clock.
      (isTrusted ? last.doubted_ms > 0 : last.epoch !== note.epoch);
    if (isStale) await this.#notes.change({ id: NOTE_ID }, { set: { ...note } }, { upsert: true });
    if (isStale || isTrusted || this.#checkedAt === null) this.#checkedAt = reading.monotonic;
    const ahead_seconds = Math.round(ahead_ms / 1000);
    this.#log(isTrusted, note, ahead_seconds);
    return {
      believed: isTrusted,
      leapt: note.doubt === 'leap',
      ahead_seconds,
      believed_in_seconds: isTrusted ? 0 : Math.ceil((CLOCK_TRUST_DELAY_MS - note.doubted_ms) / 1000),
    };
  }

  /** @returns a function that stops the checks */
  async watch(): Promise<() => Promise<void>> {
    let last: Promise<unknown> = Promise.resolve();
    const check = (): void => {
      last = this.check().catch((err: unknown) => this.parts.log.warn({ err }, 'the clock could not be checked'));
    };
    check();
    await last;
    const timer = setInterval(check, CHECK_INTERVAL_MS).unref();
    return async () => {
      clearInterval(timer);
      await last;
    };
  }

  #log(isTrusted: boolean, { doubt }: ClockNote, ahead_seconds: number): void {
    if (isTrusted === this.#isTrusted) return;
    this.#isTrusted = isTrusted;
    const { log } = this.parts;
    if (isTrusted) log.info({}, 'the clock is trusted again: expired data is deleted');
    else
      log[doubt === 'leap' ? 'warn' : 'info'](
        { ahead_seconds },
        'the clock is ahead of the last stored time: no data is deleted by age until it has stayed ahead for a day',
      );
  }
}
