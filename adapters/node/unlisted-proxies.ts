/**
 * Addresses from which `X-Forwarded-For` arrived although `server.trusted_proxies` does not list them. Behind such a
 * proxy all callers are one address: one of them uses up the limits of all. What is seen is kept in a file of the data
 * directory too, so that `aos doctor` knows it, whether the service runs or not.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../ports/clock.js';
import type { Logger } from '../../ports/logger.js';
import type { UnlistedProxy } from '../../ports/domain/system.js';
import { replaceFile } from '../../lib/files/replace-file.js';

const FILE = 'unlisted-proxies.json';
/** Strangers can send that header from as many addresses as they have. */
const MOST = 20;
/** An address that was seen is written down again after this. */
const AGAIN_MS = 3_600_000;
/** What was seen longer ago is no news. */
const KEPT_MS = 7 * 24 * AGAIN_MS;

export class UnlistedProxies {
  readonly #seen = new Map<string, number>();
  #writing: Promise<void> = Promise.resolve();

  /** @param folder null: nothing is written */
  constructor(
    private readonly folder: string | null,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Bound, since the web server is handed it alone. */
  readonly note = (address: string): void => {
    const now = this.clock.now();
    const known = this.#seen.get(address);
    if (known !== undefined && now - known < AGAIN_MS) return;
    this.#seen.delete(address);
    this.#seen.set(address, now);
    for (const oldest of this.#seen.keys()) {
      if (this.#seen.size <= MOST) break;
      this.#seen.delete(oldest);
    }
    this.#writing = this.#writing.then(() => this.#write());
  };

  list(): UnlistedProxy[] {
    return newest(
      [...this.#seen].map(([address, at]) => ({ address, last_at: new Date(at).toISOString() })),
      this.clock.now(),
    );
  }

  /** What was seen is written. */
  flush(): Promise<void> {
    return this.#writing;
  }

  async #write(): Promise<void> {
    if (this.folder === null) return;
    try {
      await replaceFile(join(this.folder, FILE), `${JSON.stringify({ seen: this.list() })}\n`);
    } catch (err) {
      this.log.warn({ err }, 'the addresses of unlisted proxies could not be written down');
    }
  }
}

/** What a service of this data directory has seen within a week. */
export async function unlistedProxiesIn(folder: string, now: number): Promise<UnlistedProxy[]> {
  let text: string;
  try {
    text = await readFile(join(folder, FILE), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return newest((JSON.parse(text) as { seen: UnlistedProxy[] }).seen, now);
}

const newest = (all: readonly UnlistedProxy[], now: number): UnlistedProxy[] =>
  all.filter(({ last_at }) => now - Date.parse(last_at) < KEPT_MS).toSorted((a, b) => (a.last_at < b.last_at ? 1 : -1));
