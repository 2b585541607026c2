/** Names that one plugin alone may have: routes, pages, tools, jobs and commands. */
import { CODES, type Catalogue } from '../errors.js';

/** Who has which route, page and command; and every scope and error code that a manifest registers. */
export class NameRegistry {
  readonly #owners = new Map<string, string>();

  /** @param codes of errors, the service's and every plugin's */
  constructor(
    readonly scopes: ReadonlySet<string>,
    readonly codes: Catalogue = CODES,
  ) {}

  /** The plugin that has `key` already, or null: then it is the caller's from now on. */
  take(key: string, plugin: string): string | null {
    const owner = this.#owners.get(key);
    if (owner !== undefined) return owner;
    this.#owners.set(key, plugin);
    return null;
  }
}
