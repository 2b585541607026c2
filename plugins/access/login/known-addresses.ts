/**
 * A pair of account and address that succeeded within 30 days has its own throttle count at the
 * release store (contract 40, both ways of serving). A machine with an outdated password thus locks
 * out neither its neighbors nor its account elsewhere, and vice versa.
 */
import {
  PORT,
  collection,
  inject,
  injectable,
  type Clock,
  type Collection,
  type Doc,
} from '../../../kernel/contract/index.js';
import { hasElapsed } from '../../../lib/clock-skew.js';
import { getClientNetwork } from '../../../lib/addresses.js';
import { DAY_MS, toIsoString } from '../../../lib/time.js';
import { computeSha256 } from '../model/token.js';

const ADDRESS_RETENTION_MS = 30 * DAY_MS;
/** Every package is a check. */
const RECORD_INTERVAL_MS = DAY_MS;
/** Further addresses share the regular counts. */
const MAX_ADDRESSES = 1_000;

export interface KnownAddress extends Doc {
  /** SHA-256 of the account's name. */
  account: string;
  at: string;
}

@injectable()
export class KnownAddresses {
  constructor(
    @inject(collection<KnownAddress>('known_addresses')) private readonly rows: Collection<KnownAddress>,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {}

  /**
   * Returns null for an unknown pair.
   * @param key of the account's name
   */
  async getThrottleKey(key: string, address: string): Promise<string | null> {
    const id = getAddressId(key, address);
    const known = await this.rows.get(id);
    return known !== null && known.at >= this.#getTimeBefore(ADDRESS_RETENTION_MS) ? `pair:${id}` : null;
  }

  async recordSuccess(key: string, address: string): Promise<void> {
    const id = getAddressId(key, address);
    const known = await this.rows.get(id);
    if (known !== null && !hasElapsed(known.at, RECORD_INTERVAL_MS, this.clock.now())) return;
    const account = computeSha256(key);
    if (known === null && (await this.rows.count({ account })) >= MAX_ADDRESSES) return;
    await this.rows.change({ id }, { set: { account, at: this.clock.iso() } }, { upsert: true });
  }

  async sweep(): Promise<number> {
    return this.rows.remove({ at: { lt: this.#getTimeBefore(ADDRESS_RETENTION_MS) } }, 1000);
  }

  #getTimeBefore(ms: number): string {
    return toIsoString(this.clock.now() - ms);
  }
}

/** Addresses contain no blank. */
const getAddressId = (key: string, address: string): string => computeSha256(`${getClientNetwork(address)} ${key}`);
