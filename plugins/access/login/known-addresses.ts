/**
 * Where an account has logged in from (contract 40, both ways of serving): a pair of account and address that succeeded
 * within 30 days has a throttle count of its own at the release store. So a machine that still sends an old password
 * locks out neither its neighbours behind the same address, nor its account elsewhere, and a neighbour's failures do
 * not lock it. The right password is required as ever; who guesses from a known address is throttled by that pair's
 * count.
 */
import {
  PORT,
  collection,
  inject,
  injectable,
  type Clock,
  type Collection,
  type Doc,
} from '../../../kernel/contract.js';
import { hasElapsed } from '../../../lib/clock-skew.js';
import { getClientNetwork } from '../../../lib/addresses.js';
import { DAY_MS, isoOf } from '../../../lib/time.js';
import { sha256 } from '../model/token.js';

const KNOWN_MS = 30 * DAY_MS;
/** A success is noted this often: the store checks a credential with every package. */
const RECORD_INTERVAL_MS = DAY_MS;
/** Of one account. Further addresses are under the counts of account and address, as before. */
const MAX_ADDRESSES = 1_000;

export interface KnownAddress extends Doc {
  /** SHA-256 of the account's name. */
  account: string;
  /** The last success that was noted. */
  at: string;
}

@injectable()
export class KnownAddresses {
  constructor(
    @inject(collection<KnownAddress>('known_addresses')) private readonly rows: Collection<KnownAddress>,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {}

  /** The count of the pair; null: it has none of its own. @param key of the account's name */
  async count(key: string, address: string): Promise<string | null> {
    const id = getAddressId(key, address);
    const known = await this.rows.get(id);
    return known !== null && known.at >= this.#getTimeBefore(KNOWN_MS) ? `pair:${id}` : null;
  }

  /** The pair has succeeded. */
  async recordSuccess(key: string, address: string): Promise<void> {
    const id = getAddressId(key, address);
    const known = await this.rows.get(id);
    if (known !== null && !hasElapsed(known.at, RECORD_INTERVAL_MS, this.clock.now())) return;
    const account = sha256(key);
    if (known === null && (await this.rows.count({ account })) >= MAX_ADDRESSES) return;
    await this.rows.change({ id }, { set: { account, at: this.clock.iso() } }, { upsert: true });
  }

  async sweep(): Promise<number> {
    return this.rows.remove({ at: { lt: this.#getTimeBefore(KNOWN_MS) } }, 1000);
  }

  #getTimeBefore(ms: number): string {
    return isoOf(this.clock.now() - ms);
  }
}

/** Stores neither name nor address in clear text. An address has no space. */
const getAddressId = (key: string, address: string): string => sha256(`${getClientNetwork(address)} ${key}`);
