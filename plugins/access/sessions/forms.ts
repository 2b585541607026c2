/**
 * Forms of a session, and texts that are shown once (contract 80, conduct); both expire after an
 * hour. A repeated submission finds the result of the first in any process; a secret is deleted
 * when read.
 */
import { randomBytes } from 'node:crypto';
import {
  PORT,
  StoreConflict,
  collection,
  inject,
  injectable,
  type Clock,
  type Collection,
  type Doc,
  type Logger,
} from '../../../kernel/contract/index.js';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import { HOUR_MS } from '../../../lib/time.js';
import type { Cipher } from '../../../ports/cipher.js';
import type { FormRunResult, FormResultStore, SessionRef } from '../../../ports/http/index.js';
import { computeSha256 } from '../model/token.js';

const SEAL_PURPOSE = 'shown-once';

export interface FormDoc extends Doc {
  session_id: string;
  expires_at: string;
  /** Null until the form is processed. */
  location?: string | null;
  sealed?: string;
  reads?: number;
}

@injectable()
export class SubmittedFormStore implements FormResultStore {
  readonly #underWay = new KeyedMutex();

  constructor(
    @inject(collection<FormDoc>('forms')) private readonly rows: Collection<FormDoc>,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.cipher) private readonly cipher: Cipher,
    @inject(PORT.log) private readonly log: Logger,
  ) {}

  runOnce<T>(
    session: SessionRef,
    form: string,
    run: () => Promise<FormRunResult<T>>,
  ): Promise<{ answer: T } | { sentBefore: string | null }> {
    const id = computeSha256(`${session.session_id}\n${form}`);
    return this.#underWay.run(id, async () => {
      if (!(await this.#claim(id, session))) return { sentBefore: (await this.rows.get(id))?.location ?? null };
      let done: FormRunResult<T> | null = null;
      try {
        done = await run();
        return { answer: done.answer };
      } finally {
        await this.#saveResult(id, done?.location ?? null);
      }
    });
  }

  async saveText(session: SessionRef, text: string): Promise<string> {
    const id = randomBytes(16).toString('hex');
    const { session_id } = session;
    await this.rows.insert({
      id,
      session_id,
      sealed: this.cipher.seal(text, SEAL_PURPOSE),
      expires_at: this.#getExpiry(),
    });
    return id;
  }

  async takeText(session: SessionRef, id: string): Promise<string | null> {
    const doc = await this.rows.get(id);
    if (doc?.sealed === undefined || doc.session_id !== session.session_id || doc.expires_at <= this.clock.iso())
      return null;
    // Of two reads, only the one that removes it sees it.
    return (await this.rows.remove({ id })) > 0 ? this.cipher.open(doc.sealed, SEAL_PURPOSE) : null;
  }

  /** Does not remove it; `first` is true for the first read. */
  async read({ session_id }: SessionRef, id: string): Promise<{ text: string; first: boolean } | null> {
    const changed = await this.rows.change(
      { id, session_id, expires_at: { gt: this.clock.iso() } },
      { inc: { reads: 1 } },
    );
    if (changed?.doc.sealed === undefined) return null;
    return { text: this.cipher.open(changed.doc.sealed, SEAL_PURPOSE), first: changed.doc.reads === 1 };
  }

  async sweep(): Promise<number> {
    return this.rows.remove({ expires_at: { lte: this.clock.iso() } }, 1000);
  }

  async #saveResult(id: string, location: string | null): Promise<void> {
    try {
      if (location === null) await this.rows.remove({ id });
      else await this.rows.change({ id }, { set: { location } });
    } catch (err) {
      this.log.error({ err }, 'the result of a form could not be stored');
    }
  }

  /** Returns whether the form is new. */
  async #claim(id: string, { session_id }: SessionRef): Promise<boolean> {
    try {
      await this.rows.insert({ id, session_id, location: null, expires_at: this.#getExpiry() });
      return true;
    } catch (error) {
      if (error instanceof StoreConflict) return false;
      throw error;
    }
  }

  #getExpiry(): string {
    return new Date(this.clock.now() + HOUR_MS).toISOString();
  }
}
