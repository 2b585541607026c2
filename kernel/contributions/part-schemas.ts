import Joi from 'joi';
import type { ListenSpec } from '../../ports/events.js';
import {
  PANEL_KINDS,
  type PageNav,
  type PageSpec,
  type PanelSpec,
  type RouteSpec,
  type StreamedInput,
  type ToolSpec,
} from '../../ports/http/index.js';
import type { JobSpec } from '../../ports/jobs.js';
import type { Extension } from '../../ports/token.js';
import type { CommandSpec } from '../contract/command.js';
import type { PluginParts } from '../contract/plugin.js';

/** A new member of the contract does not compile without a schema. */
export type SchemaOf<T> = Record<keyof T, Joi.Schema>;

export const functionSchema = Joi.function().required();
const anySchema = Joi.any();
/** Schemas of different joi versions cannot be combined. */
const JOI_VERSION_KEY = Symbol.for('@hapi/joi/schema');
const joiSchema = Joi.any()
  .custom((value: Partial<Record<symbol, { version?: string }>>, helpers) => {
    const made = value[JOI_VERSION_KEY]?.version;
    if (made === undefined) return helpers.error('schema.none');
    return made === Joi.version ? value : helpers.error('schema.version', { made, ours: Joi.version });
  })
  .messages({
    'schema.none': '{{#label}} must be a joi schema: import `joi` from aos/plugin',
    'schema.version':
      '{{#label}} is a schema of joi {{#made}}, but the service uses {{#ours}}: import `joi` from aos/plugin',
  });
const inputSchemas = Joi.object({
  params: joiSchema,
  query: joiSchema,
  body: joiSchema,
  stream: Joi.object({
    mediaTypes: Joi.array().items(Joi.string().lowercase()).min(1).required(),
    multipart: Joi.object({
      file: Joi.string().required(),
      fields: Joi.array().items(Joi.string()).required(),
      fieldBytes: Joi.number().integer().min(1).required(),
    } satisfies SchemaOf<NonNullable<StreamedInput['multipart']>>),
    bytes: Joi.number().integer().min(1).required(),
  } satisfies SchemaOf<StreamedInput>),
  report: Joi.boolean(),
  optionalBody: Joi.boolean(),
  mediaType: Joi.alternatives(Joi.string(), Joi.array().items(Joi.string()).min(1)),
  headers: Joi.object().pattern(Joi.string(), Joi.string()),
} satisfies SchemaOf<NonNullable<RouteSpec['input']>>).oxor('body', 'stream');
const pathSchema = Joi.string()
  .required()
  .custom((value: string, helpers) => {
    if (!value.startsWith('/')) return helpers.error('path.start');
    if (/\/:\w/.test(value)) return helpers.error('path.colon');
    return /^(?:[^{}\s?#]|\{[A-Za-z_]\w*(?:\*\d*|\?)?\})*$/.test(value) ? value : helpers.error('path.shape');
  })
  .messages({
    'path.start': '{{#label}} must start with /',
    'path.colon': '{{#label}} has a parameter with a colon: write its name in braces',
    'path.shape': '{{#label}} is not a valid path: parameters are names in braces, without a query',
  });
const methodSchema = Joi.string().valid('GET', 'POST', 'PATCH', 'PUT', 'DELETE');

const operationIdSchema = Joi.string()
  .pattern(/^[a-z][A-Za-z0-9]{0,99}$/)
  .messages({ 'string.pattern.base': '{{#label}} must be letters and digits, a lower-case letter first' });
const successStatusSchema = Joi.number().integer().min(200).max(399);

const namesSchema = Joi.array().items(Joi.string());
const toolSchema = Joi.object({
  name: Joi.string()
    .pattern(/^[a-z][a-z0-9_]{0,63}$/)
    .required()
    .messages({ 'string.pattern.base': '{{#label}} must be one lower-case word' }),
  title: Joi.string(),
  description: Joi.string().required(),
  readOnly: Joi.boolean(),
  destructive: Joi.boolean(),
  idempotent: Joi.boolean(),
  only: namesSchema,
  omit: namesSchema,
  fixed: Joi.object(),
  choices: Joi.object().pattern(Joi.string(), Joi.array().items(Joi.string()).min(1)),
  defaults: Joi.object(),
  describe: Joi.object().pattern(Joi.string(), Joi.string().allow('')),
  untrusted: namesSchema,
  textLimit: Joi.number().integer().min(1),
  answer: Joi.function(),
  refusal: Joi.function(),
} satisfies SchemaOf<ToolSpec>);

export const routeSchema = Joi.object({
  method: Joi.alternatives(methodSchema, Joi.array().items(methodSchema).min(1)).required(),
  path: pathSchema,
  aliases: Joi.array().items(pathSchema),
  operationId: Joi.alternatives(operationIdSchema, Joi.array().items(operationIdSchema).min(1)),
  tag: Joi.string(),
  summary: Joi.string().required(),
  description: Joi.string(),
  access: anySchema,
  input: inputSchemas,
  output: anySchema,
  status: Joi.alternatives(successStatusSchema, Joi.array().items(successStatusSchema).min(1)),
  errors: Joi.array().items(Joi.string()),
  strictQuery: Joi.boolean(),
  bare: Joi.boolean(),
  plain: Joi.boolean(),
  hidden: Joi.boolean(),
  waits: Joi.function(),
  onOwnHosts: Joi.boolean(),
  tool: Joi.alternatives(toolSchema, Joi.array().items(toolSchema).min(1)),
  limits: Joi.object(),
  cors: Joi.boolean(),
  credential: Joi.function(),
  credentialIn: Joi.array().items(
    Joi.object({ in: Joi.string().valid('header', 'query').required(), name: Joi.string().required() }),
  ),
  onRefused: Joi.function(),
  handle: functionSchema,
} satisfies SchemaOf<RouteSpec>);
const navSchema = Joi.object({
  section: Joi.string().valid('overview', 'work', 'operations', 'delivery', 'administration', 'help').required(),
  label: Joi.string().required(),
  icon: Joi.string().required(),
  order: Joi.number().required(),
  within: Joi.string().pattern(/^\//),
  tab: Joi.string(),
  group: Joi.string().valid('workspace', 'project', 'alerts', 'system'),
  also: Joi.array().items(Joi.string()),
  badge: Joi.function(),
} satisfies SchemaOf<PageNav>);
export const pageSchema = Joi.object({
  method: Joi.string().valid('GET', 'POST'),
  path: pathSchema,
  title: Joi.string().required(),
  nav: navSchema,
  entry: Joi.string().pattern(/^\//).allow(null),
  access: anySchema,
  limits: Joi.object(),
  panels: Joi.boolean(),
  creates: Joi.boolean(),
  shared: Joi.object({ maxAgeMs: Joi.number().integer().min(100).required(), personal: Joi.function() }),
  basic: anySchema,
  onOwnHosts: Joi.boolean(),
  projectQuery: Joi.string(),
  upload: Joi.object({
    file: Joi.string().required(),
    fields: Joi.array().items(Joi.string()).required(),
    fieldBytes: Joi.number().integer().min(1).required(),
    bytes: Joi.number().integer().min(1).required(),
  }),
  files: Joi.boolean(),
  duringEnrollment: Joi.boolean(),
  input: inputSchemas,
  again: Joi.function(),
  handle: functionSchema,
} satisfies SchemaOf<PageSpec>);
export const panelSchema = Joi.object({
  id: Joi.string().required(),
  kind: Joi.string()
    .valid(...PANEL_KINDS, 'trend')
    .required(),
  order: Joi.number().required(),
  load: functionSchema,
} satisfies SchemaOf<PanelSpec>);
export const jobSchema = Joi.object({
  name: Joi.string().required(),
  everyMs: Joi.number().integer().min(1),
  cron: Joi.string()
    .pattern(/^\s*(\S+\s+){4}\S+\s*$/)
    .messages({ 'string.pattern.base': '{{#label}} must have five fields: minute, hour, day, month, day of the week' }),
  timeoutMs: Joi.number().integer().min(1),
  removesByAge: Joi.boolean(),
  run: functionSchema,
} satisfies SchemaOf<JobSpec>).oxor('everyMs', 'cron');
export const listenSchema = Joi.object({
  event: Joi.string().required(),
  durable: Joi.boolean(),
  handle: functionSchema,
} satisfies SchemaOf<ListenSpec>);
export const extensionSchema = Joi.object({
  point: Joi.string().required(),
  value: Joi.any().required(),
} satisfies SchemaOf<Extension>);
export const commandSchema = Joi.object({
  name: Joi.string()
    .pattern(/^[a-z][a-z0-9-]*( [a-z][a-z0-9-]*)?$/)
    .required()
    .messages({ 'string.pattern.base': '{{#label}} must be one or two lower-case words' }),
  summary: Joi.string().required(),
  args: Joi.array().items(Joi.string()),
  options: Joi.object(),
  run: functionSchema,
} satisfies SchemaOf<CommandSpec>);
export const partsSchema = Joi.object({
  routes: Joi.array(),
  pages: Joi.array(),
  panels: Joi.array(),
  hosts: Joi.object({ findPage: functionSchema }).unknown(),
  jobs: Joi.array(),
  listens: Joi.array(),
  commands: Joi.array(),
  services: Joi.object(),
  extensions: Joi.array(),
  health: Joi.function(),
  start: Joi.function(),
  stop: Joi.function(),
} satisfies SchemaOf<PluginParts>).required();

const MESSAGES = { 'object.unknown': '{{#label}} is not allowed here', 'any.required': '{{#label}} is missing' };

/** joi would compile the messages on each validation. */
const preparedSchemas = new WeakMap<Joi.Schema, Joi.Schema>();

function prepareSchema(schema: Joi.Schema): Joi.Schema {
  const known = preparedSchemas.get(schema);
  if (known !== undefined) return known;
  const made = schema.prefs({
    abortEarly: false,
    convert: false,
    errors: { wrap: { label: false } },
    messages: MESSAGES,
  });
  preparedSchemas.set(schema, made);
  return made;
}

/** Finds faults in the shape of `value`, one sentence each. */
export function findSchemaFaults(schema: Joi.Schema, value: unknown): string[] {
  const { error } = prepareSchema(schema).validate(value);
  return error === undefined ? [] : error.details.map(({ message }) => message);
}
