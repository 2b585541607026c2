import { CODES, type ErrorCatalog } from '../errors.js';

/**
 * Registry of names that only one plugin may have (routes, pages, tools, jobs, commands), and of
 * all scopes and error codes.
 */
export class NameRegistry {
  readonly #owners = new Map<string, string>();

  constructor(
    readonly scopes: ReadonlySet<string>,
    readonly codes: ErrorCatalog = CODES,
  ) {}

  /** Claims `key` for the plugin. Returns the plugin that already has it, or null. */
  claim(key: string, plugin: string): string | null {
    const owner = this.#owners.get(key);
    if (owner !== undefined) return owner;
    this.#owners.set(key, plugin);
    return null;
  }
}
