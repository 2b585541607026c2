import { CORE_PORTS, DECLARED_PORTS, type Ports } from '../../ports/ports.js';
import type { Collection, Doc } from '../../ports/store/index.js';
import { token, type ExtensionPoint, type Token } from '../../ports/token.js';

/** Settings of the service that every plugin may read (`config/schema.ts`). */
export interface AppSettings {
  version: string;
  base_url: string;
  timezone: string;
  debug: boolean;
  shared_key: string;
  /** Signs webhooks without their own secret; empty if not set. */
  webhook_key: string;
  limits: Readonly<Record<string, number>>;
  grouping: Readonly<Record<string, number | boolean>>;
}

type PortTokens = { readonly [N in keyof Ports]: Token<Ports[N]> } & { readonly app: Token<AppSettings> };

/** Tokens of the ports and the settings, for `@inject(PORT.clock)`. */
export const PORT = Object.fromEntries(
  [...CORE_PORTS, ...DECLARED_PORTS, 'app'].map((name) => [name, token(name)]),
) as unknown as PortTokens;

/** Returns the token of a collection in the manifest, for `@inject(collection<Note>('notes'))`. */
export function collection<T extends Doc>(name: string): Token<Collection<T>> {
  return token(`collection:${name}`);
}

/**
 * Returns the token of the additions to an extension point of the manifest, for
 * `@inject(added(POINT))`.
 */
export function added<T>({ point }: ExtensionPoint<T>): Token<() => readonly T[]> {
  return token(`added:${point}`);
}

/** Addition of a plugin to an extension point. */
export interface Addition<T> {
  plugin: string;
  value: T;
}

/** Like `added`, with the plugin of each addition. */
export function addedBy<T>({ point }: ExtensionPoint<T>): Token<() => readonly Addition<T>[]> {
  return token(`addedBy:${point}`);
}
