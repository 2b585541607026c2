import { CODES, type ErrorCatalog } from '../errors.js';

/** Registry of names that only one plugin may have. */
export class NameRegistry {
  readonly #owners = new Map<string, string>();

  constructor(
    readonly scopes: ReadonlySet<string>,
    readonly codes: ErrorCatalog = CODES,
  ) {}

  /** Returns the plugin that already has the key, or null. */
  claim(key: string, plugin: string): string | null {
    const owner = this.#owners.get(key);
    if (owner !== undefined) return owner;
    this.#owners.set(key, plugin);
    return null;
  }
}
