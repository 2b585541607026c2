/**
 * State that a browser carries between two steps of a sign-in: sealed, so that unauthenticated
 * requests store nothing, and redeemed once in all processes.
 */
import {
  PORT,
  StoreConflict,
  collection,
  inject,
  injectable,
  type Clock,
  type Collection,
  type Doc,
  type Ids,
  type Token,
} from '../../../kernel/contract/index.js';
import type { Cipher } from '../../../ports/cipher.js';
import { computeSha256 } from '../model/token.js';

export interface SpentStateDoc extends Doc {
  expires_at: string;
}

/** Names what is sealed, so that one state never opens as another. */
export type StateKind<T> = Token<T>;

interface SealedState {
  id: string;
  expires_at: string;
  data: unknown;
}

@injectable()
export class OneTimeStates {
  constructor(
    @inject(collection<SpentStateDoc>('spent_states')) private readonly rows: Collection<SpentStateDoc>,
    @inject(PORT.cipher) private readonly cipher: Cipher,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.ids) private readonly ids: Ids,
  ) {}

  /** @param data JSON */
  seal<T extends object>({ name }: StateKind<T>, data: T, lifetimeMs: number): string {
    const expires_at = new Date(this.clock.now() + lifetimeMs).toISOString();
    return this.cipher.seal(JSON.stringify({ id: this.ids.secret(22), expires_at, data }), toSealPurpose(name));
  }

  /** Returns the data of an unexpired state without redeeming it; null otherwise. */
  read<T>({ name }: StateKind<T>, sealed: string | undefined): T | null {
    return (this.#open(name, sealed)?.data ?? null) as T | null;
  }

  /** Returns the data once; null when it is expired, redeemed before, or not from here. */
  async redeem<T>({ name }: StateKind<T>, sealed: string | undefined): Promise<T | null> {
    const state = this.#open(name, sealed);
    if (state === null) return null;
    try {
      await this.rows.insert({ id: computeSha256(state.id), expires_at: state.expires_at });
    } catch (error) {
      if (error instanceof StoreConflict) return null;
      throw error;
    }
    return state.data as T;
  }

  async sweep(): Promise<number> {
    return this.rows.remove({ expires_at: { lte: this.clock.iso() } }, 1000);
  }

  #open(name: string, sealed: string | undefined): SealedState | null {
    if (!sealed) return null;
    let text: string;
    try {
      text = this.cipher.open(sealed, toSealPurpose(name));
    } catch {
      // Sealed elsewhere, or damaged.
      return null;
    }
    const state = JSON.parse(text) as SealedState;
    return this.clock.iso() < state.expires_at ? state : null;
  }
}

const toSealPurpose = (name: string): string => `state:${name}`;
