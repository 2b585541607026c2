/**
 * Stores texts for all pages of an origin; in memory when the browser provides no storage (a
 * private window, a setting).
 */
import type { TextStore } from '../store.js';

interface WebStorage {
  readonly length: number;
  key(index: number): string | null;
  getItem(name: string): string | null;
  setItem(name: string, text: string): void;
  removeItem(name: string): void;
}

class MemoryStorage implements WebStorage {
  readonly #texts = new Map<string, string>();
  get length(): number {
    return this.#texts.size;
  }
  key(index: number): string | null {
    return [...this.#texts.keys()][index] ?? null;
  }
  getItem(name: string): string | null {
    return this.#texts.get(name) ?? null;
  }
  setItem(name: string, text: string): void {
    this.#texts.set(name, text);
  }
  removeItem(name: string): void {
    this.#texts.delete(name);
  }
}

/** Subset of `navigator.locks`: one page of the origin at a time. */
interface LockManager {
  request<T>(name: string, options: { signal: AbortSignal }, work: () => T): Promise<T>;
}

/** After this the work runs without a lock. */
const LOCK_TIMEOUT_MS = 5_000;

function getStorage(): WebStorage {
  try {
    // Reading the property itself throws where a browser blocks it.
    return (globalThis as unknown as { localStorage?: WebStorage }).localStorage ?? new MemoryStorage();
  } catch {
    return new MemoryStorage();
  }
}

export class LocalStore implements TextStore {
  readonly #storage = getStorage();

  /** @param prefix of this store's names */
  constructor(private readonly prefix: string) {}

  read(name: string): string | null {
    return this.#storage.getItem(this.prefix + name);
  }

  write(name: string, text: string): boolean {
    try {
      this.#storage.setItem(this.prefix + name, text);
      return true;
    } catch {
      // The origin's quota is exceeded.
      return false;
    }
  }

  async withLock<T>(name: string, work: () => T): Promise<T> {
    // Only https pages have locks.
    const { locks } = (globalThis as unknown as { navigator?: { locks?: LockManager } }).navigator ?? {};
    let done: { result: T } | undefined;
    const once = (): { result: T } => (done ??= { result: work() });
    try {
      await locks?.request(this.prefix + name, { signal: AbortSignal.timeout(LOCK_TIMEOUT_MS) }, once);
    } catch {
      // The lock timed out, or a page without an origin has none.
    }
    return once().result;
  }

  remove(name: string): boolean {
    const was = this.read(name) !== null;
    this.#storage.removeItem(this.prefix + name);
    return was;
  }

  listNames(): string[] {
    const names = Array.from({ length: this.#storage.length }, (_none, i) => this.#storage.key(i) ?? '');
    return names.filter((name) => name.startsWith(this.prefix)).map((name) => name.slice(this.prefix.length));
  }
}
