/** Settings of the service, and the tokens that stand for them and for the ports in a plugin's container. */
import { CORE_PORTS, DECLARED_PORTS, type Ports } from '../../ports/ports.js';
import type { Collection, Doc } from '../../ports/store.js';
import { token, type ExtensionPoint, type Token } from '../../ports/token.js';

/** Settings of the whole service that every plugin may read (`config/schema.ts`). */
export interface AppSettings {
  version: string;
  base_url: string;
  timezone: string;
  debug: boolean;
  shared_key: string;
  /** `security.webhook_key`: signs webhooks that have no secret of their own; empty: there is none. */
  webhook_key: string;
  limits: Readonly<Record<string, number>>;
  /** Which reports are one error. */
  grouping: Readonly<Record<string, number | boolean>>;
}

type PortTokens = { readonly [N in keyof Ports]: Token<Ports[N]> } & { readonly app: Token<AppSettings> };

/**
 * The tokens of the ports, and of the settings, for `@inject(PORT.clock)`. A plugin's container has the ports of every
 * plugin and those that its manifest declares.
 */
export const PORT = Object.fromEntries(
  [...CORE_PORTS, ...DECLARED_PORTS, 'app'].map((name) => [name, token(name)]),
) as unknown as PortTokens;

/**
 * The token of one of the manifest's collections, for `@inject(collection<Note>('notes'))`; the type is the plugin's
 * word.
 */
export function collection<T extends Doc>(name: string): Token<Collection<T>> {
  return token(`collection:${name}`);
}

/**
 * The token of what others have added to one of the manifest's extension points, for `@inject(added(POINT))`; asked
 * when it is used.
 */
export function added<T>({ point }: ExtensionPoint<T>): Token<() => readonly T[]> {
  return token(`added:${point}`);
}

/** What a plugin has added to an extension point. */
export interface Added<T> {
  /** Its id. */
  plugin: string;
  value: T;
}

/** The same with the plugin of each, for what is remembered of plugins that come and go. */
export function addedBy<T>({ point }: ExtensionPoint<T>): Token<() => readonly Added<T>[]> {
  return token(`addedBy:${point}`);
}
