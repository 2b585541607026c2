/** The manifest: what a plugin says of itself. */
import type { ObjectSchema } from 'joi';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import type { Logger } from '../../ports/logger.js';
import type { DeclaredPorts } from '../../ports/ports.js';
import type { Collection, CollectionSpec, Doc } from '../../ports/store.js';
import type { Catalogue } from '../errors.js';

/**
 * A numbered, additive change of the plugin's own data. Recorded as `<plugin>:<number>-<name>`, run once, under a
 * lease.
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

/** What the manifest says can be read without running the plugin. The kernel refuses unknown members. */
export interface Manifest {
  /** `^[a-z][a-z0-9]{1,31}$`; the prefix of its collections and jobs, its section in the configuration. */
  id: string;
  /** Its section in the configuration, where that is not its id. */
  section?: string;
  version: string;
  api: number;
  title: string;
  /** Its failure stops the boot; another plugin's becomes `failed(reason)`. Default false. */
  critical?: boolean;
  /** Plugins that come first where they are installed: an order, not a demand. */
  after?: readonly string[];
  /** Names of tokens that another plugin must provide. */
  needs?: readonly string[];
  /** Names of tokens that another plugin may provide: what `ctx.find` asks for. */
  uses?: readonly string[];
  provides?: readonly string[];
  /** Ports that it uses beyond those of every plugin. */
  ports?: readonly (keyof DeclaredPorts)[];
  /** Extension points that it offers, by name: other plugins add to them, and it asks what they added. */
  extensionPoints?: readonly string[];
  /** Extension points of other plugins to which it adds. */
  extends?: readonly string[];
  /** Validates its section of the configuration; defaults come from the schema. */
  config?: ObjectSchema;
  /** Scopes that tokens may carry because of it. */
  scopes?: readonly string[];
  /** Events that it emits. */
  events?: readonly string[];
  /** Its error codes, each with its status and meaning; `refuse` throws them. */
  errors?: Catalogue;
  /**
   * Groups of its routes in openapi.json, by the first segment of their paths below `/api/`, each with what it is for.
   */
  tags?: Readonly<Record<string, string>>;
  /** True: while its `health` answers `ok: false`, or it has failed, the service counts as unhealthy. Default false. */
  decidesHealth?: boolean;
  collections?: readonly CollectionSpec[];
  migrations?: readonly Migration[];
}
