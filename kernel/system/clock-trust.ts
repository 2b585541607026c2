/**
 * The clock that deleting by age asks before it acts (decision 050). Its note lies in the store, so that it is known
 * across starts and to all processes.
 */
import { judge, PROOF_MS, type ClockNote, type Doubt } from '../../lib/clocks/believed.js';
import { MINUTE_MS } from '../../lib/time.js';
import type { Clock } from '../../ports/clock.js';
import type { ClockState } from '../../ports/domain/system.js';
import type { Logger } from '../../ports/logger.js';
import type { Collection, Doc, DocumentStore } from '../../ports/store.js';

type NoteDoc = Doc & ClockNote;

const ID = 'clock';
/** Between two looks of a process, and how old a note grows. */
const EVERY_MS = 5 * MINUTE_MS;

export class ClockTrust {
  readonly #notes: Collection<NoteDoc>;
  #looked: number | null = null;
  #doubted = false;

  constructor(private readonly parts: { store: DocumentStore; clock: Clock; log: Logger }) {
    this.#notes = parts.store.collection('kernel_clock');
  }

  /** Asks the store. */
  async look(): Promise<ClockState> {
    const { clock } = this.parts;
    const known = await this.#notes.get(ID);
    const at = { now: clock.now(), monotonic: clock.monotonic(), epoch: clock.epoch };
    const { note, ahead_ms } = judge(known, at, this.#looked);
    const writes = isWorthWriting(known, note, ahead_ms > 0);
    if (writes) await this.#notes.change({ id: ID }, { set: { ...note } }, { upsert: true });
    // Running with a clock that is doubted counts from the note.
    if (writes || ahead_ms === 0 || this.#looked === null) this.#looked = at.monotonic;
    this.#tell(ahead_ms, note.doubt);
    return {
      believed: ahead_ms === 0,
      leapt: note.doubt === 'leap',
      ahead_seconds: Math.round(ahead_ms / 1000),
      believed_in_seconds: ahead_ms === 0 ? 0 : Math.ceil((PROOF_MS - note.doubted_ms) / 1000),
    };
  }

  /** Looks now and every few minutes, so that a short stop is not taken for a leap. Answers how that ends. */
  async watch(): Promise<() => Promise<void>> {
    let last: Promise<unknown> = Promise.resolve();
    const look = (): void => {
      last = this.look().catch((err: unknown) => this.parts.log.warn({ err }, 'the clock was not compared'));
    };
    look();
    await last;
    const timer = setInterval(look, EVERY_MS).unref();
    return async () => {
      clearInterval(timer);
      await last;
    };
  }

  /** After a stop of the machine it is no fault, and told as what the service waits for. */
  #tell(ahead_ms: number, doubt: Doubt | null): void {
    const doubted = ahead_ms > 0;
    if (doubted === this.#doubted) return;
    this.#doubted = doubted;
    const { log } = this.parts;
    if (doubted)
      log[doubt === 'leap' ? 'warn' : 'info'](
        { ahead_seconds: Math.round(ahead_ms / 1000) },
        'the clock is ahead of what the store knew last: nothing is deleted by its age until it was so for a day',
      );
    else log.info({}, 'the clock is believed again: what is past its time is deleted');
  }
}

/** A look that says what is written already changes nothing. */
function isWorthWriting(known: ClockNote | null, note: ClockNote, doubted: boolean): boolean {
  if (known === null || (!doubted && known.doubted_ms > 0)) return true;
  if (Math.abs(note.at - known.at) >= EVERY_MS) return true;
  // From here on the monotonic clock counts for whoever looks next.
  return doubted && known.epoch !== note.epoch;
}
