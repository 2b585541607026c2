import type { ObjectSchema } from 'joi';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import type { Logger } from '../../ports/logger.js';
import type { DeclaredPorts } from '../../ports/ports.js';
import type { Collection, CollectionSpec, Doc } from '../../ports/store/index.js';
import type { ErrorCatalog } from '../errors.js';

/** A numbered, additive change of the plugin's own data; runs once, under a lease. */
export interface Migration {
  number: number;
  name: string;
  run(ctx: MigrationContext): Promise<void>;
}

export interface MigrationContext {
  collection<T extends Doc>(name: string): Collection<T>;
  clock: Clock;
  ids: Ids;
  log: Logger;
}

/** The manifest can be read without running the plugin. */
export interface Manifest {
  /** `^[a-z][a-z0-9]{1,31}$`; prefix of its collections and jobs. */
  id: string;
  /** Default: the id. */
  section?: string;
  version: string;
  api: number;
  title: string;
  /** Its failure stops the boot; otherwise a failure only makes the plugin `failed(reason)`. */
  critical?: boolean;
  /** Set up first if installed. */
  after?: readonly string[];
  /** Tokens that another plugin must provide. */
  needs?: readonly string[];
  uses?: readonly string[];
  provides?: readonly string[];
  /** In addition to those of every plugin. */
  ports?: readonly (keyof DeclaredPorts)[];
  /** Extension points that it offers. */
  extensionPoints?: readonly string[];
  /** Extension points to which it adds. */
  extends?: readonly string[];
  config?: ObjectSchema;
  scopes?: readonly string[];
  events?: readonly string[];
  /** Thrown with `refuse`. */
  errors?: ErrorCatalog;
  tags?: Readonly<Record<string, string>>;
  /**
   * Whether the service is unhealthy while this plugin has failed or its `health` returns `ok:
   * false`.
   */
  decidesHealth?: boolean;
  collections?: readonly CollectionSpec[];
  migrations?: readonly Migration[];
}
