/** Kinds of objects that a configuration document describes (contract 97, apply). */
import type { Principal, RouteSpec } from '../../http/index.js';
import { extensionPoint } from '../../token.js';

/** Body fields of the kind's API. */
export type ConfigFields = Readonly<Record<string, unknown>>;

/** A stored object. */
export interface ConfigObject {
  id: string;
  name: string;
  /** An apply created it, so `prune` may delete it. */
  managed: boolean;
  /** Values by body field, secrets in clear text. Other members are ignored. */
  fields: ConfigFields;
}

/** An object that an entry names in one of its fields. */
export interface ConfigReference {
  field: string;
  kind: string;
  name: string;
}

/** Objects of one kind: a section of the document. Calls have the rights of the principal. */
export interface ConfigKind {
  /** Section of the document: `monitors`. */
  kind: string;
  /** Kinds are created in ascending order and deleted in descending order. */
  order: number;
  /** Body of the API's creation, with `fields` that only the document has. */
  schema: NonNullable<NonNullable<RouteSpec['input']>['params']>;
  /** Fields that make up the name; required in the document. */
  nameFields: readonly string[];
  getName(fields: ConfigFields): string;
  /** Lists fields whose values are never shown: `secret`, `probe.headers`. */
  listSecrets?(fields: ConfigFields): readonly string[];
  /** Fields whose null differs from an absent field. */
  explicitNulls?: readonly string[];
  /** Lists objects of other kinds that must exist. */
  listReferences?(fields: ConfigFields): readonly ConfigReference[];
  /** Lists the objects that the principal may see. */
  list(principal: Principal): Promise<ConfigObject[]>;
  /**
   * Checks an entry without writing, and returns its fields as `list` returns them. References are
   * checked by the caller. Returns null when the entry has no effect any more.
   * @param before null for a new object
   * @throws ServiceError with fields of the entry
   */
  normalize?(principal: Principal, fields: ConfigFields, before: ConfigObject | null): Promise<ConfigFields | null>;
  /**
   * Creates the object with `managed: true`.
   * @returns warnings
   */
  create(principal: Principal, fields: ConfigFields): Promise<readonly string[]>;
  /**
   * @param changed only fields that differ
   * @param whole all fields of the entry
   */
  update(principal: Principal, before: ConfigObject, changed: ConfigFields, whole: ConfigFields): Promise<void>;
  delete(principal: Principal, object: ConfigObject): Promise<void>;
}

/** For plugins whose objects can be configured by a document. */
export const CONFIG_KINDS = extensionPoint<ConfigKind>('apply.kinds');

/** References to projects in one field: a slug or a list of slugs. */
export const listProjectReferences = (fields: ConfigFields, field: string): ConfigReference[] =>
  [fields[field] ?? []]
    .flat()
    .filter((slug): slug is string => typeof slug === 'string' && slug !== '')
    .map((name) => ({ field, kind: 'projects', name }));
