import type { ObjectSchema } from 'joi';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import type { Logger } from '../../ports/logger.js';
import type { DeclaredPorts } from '../../ports/ports.js';
import type { Collection, CollectionSpec, Doc } from '../../ports/store.js';
import type { ErrorCatalog } from '../errors.js';

/**
 * A numbered, additive change of the plugin's own data. It is recorded as
 * `<plugin>:<number>-<name>` and runs once, under a lease.
 */
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

/** The manifest can be read without running the plugin. Unknown members are rejected. */
export interface Manifest {
  /** `^[a-z][a-z0-9]{1,31}$`; prefix of its collections and jobs, and its configuration section. */
  id: string;
  /** Its configuration section, if that is not its id. */
  section?: string;
  version: string;
  api: number;
  title: string;
  /**
   * Its failure stops the boot; otherwise a failure only makes the plugin `failed(reason)`. Default
   * false.
   */
  critical?: boolean;
  /** Plugins that are set up first if they are installed. */
  after?: readonly string[];
  /** Names of tokens that another plugin must provide. */
  needs?: readonly string[];
  /** Names of tokens that another plugin may provide, for `ctx.find`. */
  uses?: readonly string[];
  provides?: readonly string[];
  /** Ports that it uses in addition to those of every plugin. */
  ports?: readonly (keyof DeclaredPorts)[];
  /** Names of extension points that it offers: other plugins add to them. */
  extensionPoints?: readonly string[];
  /** Extension points of other plugins to which it adds. */
  extends?: readonly string[];
  /** Validates its configuration section and sets the defaults. */
  config?: ObjectSchema;
  /** Scopes that it defines for tokens. */
  scopes?: readonly string[];
  /** Events that it emits. */
  events?: readonly string[];
  /** Its error codes with status and meaning; thrown with `refuse`. */
  errors?: ErrorCatalog;
  /** Descriptions of its route groups in openapi.json, by the first path segment below `/api/`. */
  tags?: Readonly<Record<string, string>>;
  /**
   * Whether the service is unhealthy while this plugin has failed or its `health` returns `ok:
   * false`. Default false.
   */
  decidesHealth?: boolean;
  collections?: readonly CollectionSpec[];
  migrations?: readonly Migration[];
}
