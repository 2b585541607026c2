/** Read at most every five seconds, because events come in bursts. */
import type { Clock, Collection } from '../../../kernel/contract/index.js';
import { collectAll } from '../../../lib/paging.js';
import { SECOND_MS } from '../../../lib/time.js';
import type { Channel } from './channel.js';

const CACHE_TTL_MS = 5 * SECOND_MS;

export class ChannelCache {
  #read: { channels: Promise<Channel[]>; at: number } | null = null;

  constructor(
    private readonly rows: Pick<Collection<Channel>, 'find'>,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  listAll(): Promise<Channel[]> {
    const now = this.clock.monotonic();
    if (this.#read !== null && now - this.#read.at < CACHE_TTL_MS) return this.#read.channels;
    const read = { channels: collectAll(this.rows, { limit: 1_000 }), at: now };
    this.#read = read;
    read.channels.catch(() => {
      if (this.#read === read) this.#read = null;
    });
    return read.channels;
  }

  invalidate(): void {
    this.#read = null;
  }
}
