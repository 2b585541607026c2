/** Validates manifests against a closed schema, without running the plugin. */
import Joi, { type ObjectSchema } from 'joi';
import { DECLARED_PORTS, type DeclaredPorts } from '../ports/ports.js';
import type { CollectionSpec } from '../ports/store/index.js';
import type { Migration, Plugin } from './contract/index.js';
import type { ErrorCatalog } from './errors.js';

export const BUILT_IN = 'built in';

export interface LoadedPlugin {
  plugin: unknown;
  entry: string;
  module: string | null;
  views: string | null;
  /** The tests have validated its shapes, views and sources. */
  tested?: boolean;
}

export interface InstalledPlugin {
  plugin: Plugin;
  manifest: FullManifest;
  loaded: LoadedPlugin;
}

export interface FullManifest {
  id: string;
  section: string;
  version: string;
  title: string;
  critical: boolean;
  after: readonly string[];
  needs: readonly string[];
  uses: readonly string[];
  provides: readonly string[];
  ports: readonly (keyof DeclaredPorts)[];
  extensionPoints: readonly string[];
  extends: readonly string[];
  config: ObjectSchema | null;
  scopes: readonly string[];
  events: readonly string[];
  errors: ErrorCatalog;
  tags: Readonly<Record<string, string>>;
  decidesHealth: boolean;
  collections: readonly CollectionSpec[];
  migrations: readonly Migration[];
}

const SEMVER_PATTERN =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/;
const ID_PATTERN = /^[a-z][a-z0-9]{1,31}$/;

const textSchema = (pattern: RegExp, shape: string) =>
  Joi.string()
    .pattern(pattern)
    .messages({ 'string.pattern.base': `{{#label}} must be ${shape}` });
const listSchema = (items: Joi.Schema) =>
  Joi.array().items(items).unique().messages({ 'array.unique': '{{#label}} appears twice' });
const namedItemsSchema = (items: Joi.Schema, key: string) =>
  Joi.array()
    .items(items)
    .unique(key)
    .messages({ 'array.unique': `{{#label}}: its ${key} appears twice` });

const idSchema = textSchema(ID_PATTERN, 'lower-case letters and digits, a letter first, 2 to 32 in all');
const tokenNameSchema = textSchema(/^[a-z][a-z0-9]*(\.[a-z][a-z0-9_-]*)+$/, 'the name of a token such as "bugs.api"');
const pointNameSchema = textSchema(
  /^[a-z][a-z0-9]*(\.[a-z][a-z0-9_-]*)+$/,
  'the name of an extension point such as "bugs.item_actions"',
);
const ERROR_CODE_PATTERN = /^[a-z][a-z0-9_]{2,63}$/;
const fieldPathSchema = textSchema(
  /^[a-z][a-z0-9_]*(\.[a-z0-9][a-z0-9_]*)*$/,
  'a field path such as "claim.expires_at"',
);

const indexSchema = Joi.object({
  fields: listSchema(fieldPathSchema).min(1).required(),
  unique: Joi.boolean(),
}).custom((value: { fields: string[]; unique?: boolean }, helpers) =>
  value.unique === true && value.fields.length !== 1 ? helpers.error('index.unique') : value,
);

const checkJoiSchema = (value: unknown, helpers: Joi.CustomHelpers): unknown => {
  const schema = value as { type?: unknown; validate?: unknown };
  return schema.type === 'object' && typeof schema.validate === 'function' ? value : helpers.error('config.schema');
};

const manifestSchema = Joi.object({
  id: idSchema.required(),
  section: idSchema,
  version: textSchema(SEMVER_PATTERN, 'a semantic version such as "1.2.0"').required(),
  api: Joi.number().required(),
  title: Joi.string().max(100).required(),
  critical: Joi.boolean(),
  after: listSchema(idSchema),
  needs: listSchema(tokenNameSchema),
  uses: listSchema(tokenNameSchema),
  provides: listSchema(tokenNameSchema),
  ports: listSchema(Joi.valid(...DECLARED_PORTS)),
  extensionPoints: listSchema(pointNameSchema),
  extends: listSchema(pointNameSchema),
  config: Joi.any().custom(checkJoiSchema),
  scopes: listSchema(textSchema(/^[a-z][a-z0-9_-]*:[a-z][a-z0-9_-]*$/, 'a scope such as "chat:read"')),
  events: listSchema(textSchema(/^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/, 'an event name such as "bug.created"')),
  errors: Joi.object().pattern(
    ERROR_CODE_PATTERN,
    Joi.array()
      .ordered(
        Joi.number().integer().min(400).max(599).required(),
        Joi.string().max(300).required(),
        Joi.string().max(50),
      )
      .required(),
  ),
  tags: Joi.object().pattern(Joi.string(), Joi.string().max(500).required()),
  decidesHealth: Joi.boolean(),
  collections: namedItemsSchema(
    Joi.object({
      name: textSchema(
        /^[a-z][a-z0-9_]{0,63}$/,
        'lower-case letters, digits and underscores, a letter first',
      ).required(),
      indexes: Joi.array().items(indexSchema).required(),
      values: Joi.array().items(fieldPathSchema),
      search: Joi.array().items(fieldPathSchema),
      compressed: Joi.array().items(fieldPathSchema),
      bytes: fieldPathSchema,
    }),
    'name',
  ),
  migrations: namedItemsSchema(
    Joi.object({
      number: Joi.number().integer().min(1).max(999_999).required(),
      name: textSchema(/^[a-z0-9][a-z0-9-]{0,63}$/, 'lower-case words joined by hyphens').required(),
      run: Joi.function().required(),
    }).unknown(),
    'number',
  ),
  from: Joi.string(),
  setup: Joi.function().required(),
} satisfies Record<keyof Plugin, Joi.Schema>)
  .required()
  .messages({
    'object.unknown': '{{#label}} is not a member of a manifest',
    'any.required': '{{#label}} is missing',
    'index.unique': '{{#label}} is unique, so it must have exactly one field',
    'config.schema': '{{#label}} must be a joi object schema',
  });

/** Finds faults in the shape of `plugin`, one sentence each. */
export function findManifestFaults(plugin: object): string[] {
  const { error } = manifestSchema.validate(plugin, {
    abortEarly: false,
    convert: false,
    errors: { wrap: { label: false } },
  });
  return error === undefined ? [] : error.details.map(({ message }) => message);
}

/** A snapshot: later changes to the plugin have no effect. */
export function completeManifest(plugin: Plugin): FullManifest {
  return {
    id: plugin.id,
    section: plugin.section ?? plugin.id,
    version: plugin.version,
    title: plugin.title,
    critical: plugin.critical ?? false,
    after: [...(plugin.after ?? [])],
    needs: [...(plugin.needs ?? [])],
    uses: [...(plugin.uses ?? [])],
    provides: [...(plugin.provides ?? [])],
    ports: [...(plugin.ports ?? [])],
    extensionPoints: [...(plugin.extensionPoints ?? [])],
    extends: [...(plugin.extends ?? [])],
    config: plugin.config ?? null,
    scopes: [...(plugin.scopes ?? [])],
    events: [...(plugin.events ?? [])],
    errors: { ...plugin.errors },
    tags: { ...plugin.tags },
    decidesHealth: plugin.decidesHealth ?? false,
    collections: [...(plugin.collections ?? [])],
    migrations: [...(plugin.migrations ?? [])].sort((a, b) => a.number - b.number),
  };
}
