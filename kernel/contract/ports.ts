/**
 * The ports that a plugin may use, the settings of the service, and the tokens that stand for both in its container.
 */
import type { Backups } from '../../ports/store/backups.js';
import type { Cipher } from '../../ports/cipher.js';
import type { Clock } from '../../ports/clock.js';
import type { PasswordHasher } from '../../ports/hasher.js';
import type { Ids } from '../../ports/ids.js';
import type { Installers } from '../../ports/installers.js';
import type { Manual } from '../../ports/manual.js';
import type { Jobs } from '../../ports/jobs.js';
import type { Logger } from '../../ports/logger.js';
import type { Metrics } from '../../ports/metrics.js';
import type { Outbound } from '../../ports/outbound.js';
import type { Reach } from '../../ports/reach.js';
import type { ReleaseStore } from '../../ports/release-store.js';
import type { SourceMaps } from '../../ports/source-maps/reader.js';
import type { Signers } from '../../ports/signer.js';
import type { Collection, Doc } from '../../ports/store.js';
import { token, type ExtensionPoint, type Token } from '../../ports/token.js';

/** The ports a plugin may use, beside its own collections. */
export interface Ports {
  clock: Clock;
  ids: Ids;
  log: Logger;
  hasher: PasswordHasher;
  cipher: Cipher;
  outbound: Outbound;
  /** Whether a port, a name or a machine answers. */
  reach: Reach;
  metrics: Metrics;
  /** Where packages lie. */
  releaseStore: ReleaseStore;
  /** The update agents that are given to machines. */
  installers: Installers;
  /** The guides of this version. */
  manual: Manual;
  /** The keys of releases and of licenses. */
  signers: Signers;
  /** Copies of the embedded store. */
  backups: Backups;
  /** What builds upload so that stack traces of minified scripts can be read. */
  sourceMaps: SourceMaps;
  jobs: Pick<Jobs, 'enqueue' | 'runNow' | 'list'>;
}

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

/** The tokens of the ports, and of the settings, for `@inject(PORT.clock)`: every plugin's container has them. */
export const PORT: { readonly [N in keyof Ports]: Token<Ports[N]> } & { readonly app: Token<AppSettings> } = {
  clock: token('clock'),
  ids: token('ids'),
  log: token('log'),
  hasher: token('hasher'),
  cipher: token('cipher'),
  outbound: token('outbound'),
  reach: token('reach'),
  metrics: token('metrics'),
  releaseStore: token('releaseStore'),
  installers: token('installers'),
  manual: token('manual'),
  signers: token('signers'),
  backups: token('backups'),
  sourceMaps: token('sourceMaps'),
  jobs: token('jobs'),
  app: token('app'),
};

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
