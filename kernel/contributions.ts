/**
 * Judges what `setup` returned: shapes, an access on every route, scopes that are registered, services as the
 * manifest promised, and names that no other plugin has taken. What is in order is kept even when something else is
 * not, so that the routes of a failed plugin can answer 503.
 */
import Joi from 'joi';
import type { ListenSpec } from '../ports/events.js';
import type { BasicGuard, PageSpec, PanelSpec, RouteSpec, StreamedInput, ToolSpec } from '../ports/http.js';
import type { JobSpec } from '../ports/jobs.js';
import type { Extension } from '../ports/token.js';
import { CODES, type Catalogue } from './errors.js';
import type { CommandSpec, PluginParts } from './contract.js';
import type { FullManifest } from './manifest.js';

/** Who has which route, page and command; and every scope and error code that a manifest registers. */
export class Claims {
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

export interface Judged {
  parts: PluginParts;
  faults: string[];
}

/** A schema for every member of `T` and for no other: a new member of the contract does not compile until it is judged here. */
type Keys<T> = Record<keyof T, Joi.Schema>;

const run = Joi.function().required();
const duck = Joi.any();
/** A plugin may bring its own copy of joi, but not another version: the two cannot be put together. */
const VERSION = Symbol.for('@hapi/joi/schema');
const schema = Joi.any()
  .custom((value: Partial<Record<symbol, { version?: string }>>, helpers) => {
    const made = value[VERSION]?.version;
    if (made === undefined) return helpers.error('schema.none');
    return made === Joi.version ? value : helpers.error('schema.version', { made, ours: Joi.version });
  })
  .messages({
    'schema.none': '{{#label}} must be a joi schema: take `joi` from aos/plugin',
    'schema.version':
      '{{#label}} is a schema of joi {{#made}}, and the service has {{#ours}}: take `joi` from aos/plugin',
  });
const schemas = Joi.object({
  params: schema,
  query: schema,
  body: schema,
  stream: Joi.object({
    mediaTypes: Joi.array().items(Joi.string().lowercase()).min(1).required(),
    multipart: Joi.object({
      file: Joi.string().required(),
      fields: Joi.array().items(Joi.string()).required(),
      fieldBytes: Joi.number().integer().min(1).required(),
    } satisfies Keys<NonNullable<StreamedInput['multipart']>>),
    bytes: Joi.number().integer().min(1).required(),
  } satisfies Keys<StreamedInput>),
  optionalBody: Joi.boolean(),
  mediaType: Joi.string(),
  headers: Joi.object().pattern(Joi.string(), Joi.string()),
} satisfies Keys<NonNullable<RouteSpec['input']>>).oxor('body', 'stream');
const path = Joi.string()
  .required()
  .custom((value: string, helpers) => {
    if (!value.startsWith('/')) return helpers.error('path.start');
    if (/\/:\w/.test(value)) return helpers.error('path.colon');
    return /^(?:[^{}\s?#]|\{[A-Za-z_]\w*(?:\*\d*|\?)?\})*$/.test(value) ? value : helpers.error('path.shape');
  })
  .messages({
    'path.start': '{{#label}} must start with /',
    'path.colon': '{{#label}} names a parameter with a colon: write its name in braces',
    'path.shape': '{{#label}} has an unknown shape: parameters are names in braces, and there is no query in it',
  });
const method = Joi.string().valid('GET', 'POST', 'PATCH', 'PUT', 'DELETE');

const operationId = Joi.string()
  .pattern(/^[a-z][A-Za-z0-9]{0,99}$/)
  .messages({ 'string.pattern.base': '{{#label}} must be letters and digits, a lower-case letter first' });
const success = Joi.number().integer().min(200).max(399);

const names = Joi.array().items(Joi.string());
const TOOL = Joi.object({
  name: Joi.string()
    .pattern(/^[a-z][a-z0-9_]{0,63}$/)
    .required()
    .messages({ 'string.pattern.base': '{{#label}} must be one lower-case word' }),
  title: Joi.string().required(),
  description: Joi.string().required(),
  readOnly: Joi.boolean(),
  destructive: Joi.boolean(),
  idempotent: Joi.boolean(),
  only: names,
  omit: names,
  fixed: Joi.object(),
  defaults: Joi.object(),
  describe: Joi.object().pattern(Joi.string(), Joi.string()),
  untrusted: names,
  textLimit: Joi.number().integer().min(1),
  answer: Joi.function(),
  lines: names,
  heading: Joi.string(),
} satisfies Keys<ToolSpec>);

const ROUTE = Joi.object({
  method: Joi.alternatives(method, Joi.array().items(method).min(1)).required(),
  path,
  aliases: Joi.array().items(path),
  operationId: Joi.alternatives(operationId, Joi.array().items(operationId).min(1)),
  tag: Joi.string(),
  summary: Joi.string().required(),
  description: Joi.string(),
  access: duck,
  input: schemas,
  output: duck,
  status: Joi.alternatives(success, Joi.array().items(success).min(1)),
  errors: Joi.array().items(Joi.string()),
  strictQuery: Joi.boolean(),
  bare: Joi.boolean(),
  plain: Joi.boolean(),
  hidden: Joi.boolean(),
  tool: Joi.alternatives(TOOL, Joi.array().items(TOOL).min(1)),
  limits: Joi.object(),
  cors: Joi.boolean(),
  direct: Joi.boolean(),
  credential: Joi.function(),
  credentialIn: Joi.array().items(
    Joi.object({ in: Joi.string().valid('header', 'query').required(), name: Joi.string().required() }),
  ),
  onRefused: Joi.function(),
  handle: run,
} satisfies Keys<RouteSpec>);
const PAGE = Joi.object({
  method: Joi.string().valid('GET', 'POST'),
  path,
  title: Joi.string().required(),
  nav: Joi.object(),
  access: duck,
  limits: Joi.object(),
  panels: Joi.boolean(),
  creates: Joi.boolean(),
  input: schemas,
  again: Joi.function(),
  handle: run,
} satisfies Keys<PageSpec>);
const PANEL = Joi.object({
  id: Joi.string().required(),
  kind: Joi.string().valid('attention', 'trend').required(),
  order: Joi.number().required(),
  load: run,
} satisfies Keys<PanelSpec>);
const JOB = Joi.object({
  name: Joi.string().required(),
  everyMs: Joi.number().integer().min(1),
  cron: Joi.string()
    .pattern(/^\s*(\S+\s+){4}\S+\s*$/)
    .messages({ 'string.pattern.base': '{{#label}} must have five fields: minute, hour, day, month, day of the week' }),
  timeoutMs: Joi.number().integer().min(1),
  run,
} satisfies Keys<JobSpec>).oxor('everyMs', 'cron');
const LISTEN = Joi.object({
  event: Joi.string().required(),
  durable: Joi.boolean(),
  handle: run,
} satisfies Keys<ListenSpec>);
const EXTENSION = Joi.object({
  point: Joi.string().required(),
  value: Joi.any().required(),
} satisfies Keys<Extension>);
const COMMAND = Joi.object({
  name: Joi.string()
    .pattern(/^[a-z][a-z0-9-]*( [a-z][a-z0-9-]*)?$/)
    .required()
    .messages({ 'string.pattern.base': '{{#label}} must be one or two lower-case words' }),
  summary: Joi.string().required(),
  args: Joi.array().items(Joi.string()),
  options: Joi.object(),
  run,
} satisfies Keys<CommandSpec>);
const PARTS = Joi.object({
  routes: Joi.array(),
  pages: Joi.array(),
  panels: Joi.array(),
  jobs: Joi.array(),
  listens: Joi.array(),
  commands: Joi.array(),
  services: Joi.object(),
  extensions: Joi.array(),
  health: Joi.function(),
  start: Joi.function(),
  stop: Joi.function(),
} satisfies Keys<PluginParts>).required();

const MESSAGES = { 'object.unknown': '{{#label}} is not known here', 'any.required': '{{#label}} is missing' };

function shape(schema: Joi.Schema, value: unknown): string[] {
  const { error } = schema.validate(value, {
    abortEarly: false,
    convert: false,
    errors: { wrap: { label: false } },
    messages: MESSAGES,
  });
  return error === undefined ? [] : error.details.map(({ message }) => message);
}

/** @param views the folder of its views, null when there is none to be found. */
export function judgeParts(returned: unknown, manifest: FullManifest, views: string | null, claims: Claims): Judged {
  const wrong = shape(PARTS, returned).map((fault) => `setup returned something else than its parts: ${fault}`);
  if (wrong.length > 0) return { parts: {}, faults: wrong };
  const parts = returned as PluginParts;
  const faults: string[] = [];
  const keep = <T extends object>(list: readonly T[] = [], judge: (one: T) => string[]): T[] =>
    list.filter((one) => {
      const found = judge(one);
      faults.push(...found);
      return found.length === 0;
    });

  const { id } = manifest;
  const kept: PluginParts = {
    // Bound, because the parts may be an instance of a class.
    health: parts.health?.bind(parts),
    start: parts.start?.bind(parts),
    stop: parts.stop?.bind(parts),
    services: parts.services,
    extensions: keep(parts.extensions, (extension) => extensionFaults(extension, manifest)),
    routes: keep(parts.routes, (route) => routeFaults(route, manifest, claims)),
    pages: keep(parts.pages, (page) => pageFaults(page, id, views, claims)),
    panels: keep(parts.panels, (panel) => panelFaults(panel, views)),
    jobs: keep(parts.jobs, (job) => jobFaults(job, id, claims)).map((job) => named(job, id)),
    listens: keep(parts.listens, (listen) => shape(LISTEN, listen).map((f) => `listener of ${listen.event}: ${f}`)),
    commands: keep(parts.commands, (command) => commandFaults(command, id, claims)),
  };
  faults.push(...serviceFaults(parts.services ?? {}, manifest.provides));
  return { parts: kept, faults };
}

/** `sweep` and `chat.sweep` of the plugin chat are the job `chat.sweep`. A dotted name is taken as it is. */
export function jobName(plugin: string, name: string): string {
  return name.includes('.') ? name : `${plugin}.${name}`;
}

const named = (job: JobSpec, plugin: string): JobSpec => ({
  ...job,
  name: jobName(plugin, job.name),
  run: (call) => job.run(call),
});

function routeFaults(route: RouteSpec, { id: plugin }: FullManifest, claims: Claims): string[] {
  const methods = [route.method].flat();
  const label = `route ${methods.join('|')} ${route.path}`;
  const faults = [...shape(ROUTE, route), ...accessFaults(route.access, claims.scopes), ...paramFaults(route)];
  const unknown = (route.errors ?? []).filter((code) => !Object.hasOwn(claims.codes, code));
  if (unknown.length > 0)
    faults.push(`${unknown.join(', ')}: no error code of the service, nor in the errors of any manifest`);
  if (faults.length === 0) {
    for (const path of [route.path, ...(route.aliases ?? [])]) {
      for (const method of methods) faults.push(...pathTaken(method, path, plugin, claims));
    }
    for (const { name } of [route.tool ?? []].flat()) {
      const owner = claims.take(`tool ${name}`, plugin);
      if (owner !== null)
        faults.push(`the tool "${name}" is offered by ${owner === plugin ? 'this plugin' : `plugin ${owner}`} already`);
    }
  }
  return faults.map((fault) => `${label}: ${fault}`);
}

const NO_VIEWS = 'there is no folder of views: set `from: import.meta.url` in the plugin';

function panelFaults(panel: PanelSpec, views: string | null): string[] {
  const faults = [...shape(PANEL, panel), ...(views === null ? [NO_VIEWS] : [])];
  return faults.map((fault) => `panel ${panel.id}: ${fault}`);
}

function pageFaults(page: PageSpec, plugin: string, views: string | null, claims: Claims): string[] {
  const method = page.method ?? 'GET';
  const faults = [...shape(PAGE, page), ...paramFaults(page)];
  if (page.access === undefined) faults.push('declares no access');
  else if (page.access !== 'public' && !isSession(page.access)) faults.push(unknownRule(page.access));
  if (views === null) faults.push(NO_VIEWS);
  if (faults.length === 0) faults.push(...pathTaken(method, page.path, plugin, claims));
  return faults.map((fault) => `page ${method} ${page.path}: ${fault}`);
}

/** Parameters that the schema names and the path has not: they would be missing in every request. */
function paramFaults({ path, input }: Pick<RouteSpec | PageSpec, 'path' | 'input'>): string[] {
  const params = input?.params;
  if (typeof path !== 'string' || typeof params?.describe !== 'function') return [];
  const there = new Set([...path.matchAll(/\{(\w+)/g)].map(([, name]) => name));
  const { keys = {} } = params.describe() as { keys?: object };
  const missing = Object.keys(keys).filter((name) => !there.has(name));
  return missing.map((name) => `input.params names "${name}", which its path does not have: write {${name}} there`);
}

/** Two paths that differ in the names of their parameters alone are the same path. */
function pathTaken(method: string, path: string, plugin: string, claims: Claims): string[] {
  const owner = claims.take(`${method} ${path.replaceAll(/\{[^}*?]*/g, '{')}`, plugin);
  if (owner === null) return [];
  return [`${method} ${path} is mounted by ${owner === plugin ? 'this plugin' : `plugin ${owner}`} already`];
}

function accessFaults(access: unknown, scopes: ReadonlySet<string>): string[] {
  if (access === undefined || (Array.isArray(access) && access.length === 0)) return ['declares no access'];
  if (access === 'public' || isBasic(access)) return [];
  return [access].flat().flatMap((rule: unknown) => ruleFaults(rule, scopes));
}

const unknownRule = (rule: unknown): string => `has an unknown access: ${JSON.stringify(rule)}`;
const isSession = (rule: object): boolean => {
  const role: unknown = (rule as { session?: unknown }).session;
  return role === 'admin' || role === 'member';
};
/** It stands alone, so it is no rule of a list. */
const isBasic = (access: unknown): boolean =>
  BASIC.validate(access, { convert: false, allowUnknown: false }).error === undefined;
const BASIC = Joi.object({
  basic: Joi.object({ realm: Joi.string().required(), judge: run } satisfies Keys<BasicGuard>)
    .unknown()
    .required(),
}).required();

function ruleFaults(rule: unknown, scopes: ReadonlySet<string>): string[] {
  if (rule === null || typeof rule !== 'object') return [unknownRule(rule)];
  const { intake, ...rest } = rule as Record<string, unknown>;
  const [kind, ...more] = Object.keys(rest);
  const asked = kind === 'scope' ? [rest['scope']] : kind === 'anyScope' ? rest['anyScope'] : null;
  if (more.length > 0 || (intake !== undefined && asked === null)) return [unknownRule(rule)];
  if (Array.isArray(asked) && asked.length > 0 && asked.every((scope) => typeof scope === 'string')) {
    const unknown = asked.filter((scope) => !scopes.has(scope));
    return unknown.map((scope) => `asks for the scope "${scope}", which no plugin registers`);
  }
  const known =
    kind === 'anyToken' || kind === 'sharedKey' ? rest[kind] === true : kind === 'session' && isSession(rest);
  return known ? [] : [unknownRule(rule)];
}

function jobFaults(job: JobSpec, plugin: string, claims: Claims): string[] {
  const faults = shape(JOB, job);
  if (faults.length === 0) {
    const name = jobName(plugin, job.name);
    if (!/^[a-z][a-z0-9]*\.[a-z][a-z0-9_-]*$/.test(name) || !name.startsWith(`${plugin}.`)) {
      faults.push(`its name must be "${plugin}." and a lower-case word`);
    } else if (claims.take(`job ${name}`, plugin) !== null) faults.push('this plugin has a job of this name already');
  }
  return faults.map((fault) => `job ${job.name}: ${fault}`);
}

function commandFaults(command: CommandSpec, plugin: string, claims: Claims): string[] {
  const faults = shape(COMMAND, command);
  if (faults.length === 0) {
    const owner = claims.take(`command ${command.name}`, plugin);
    if (owner !== null)
      faults.push(`${owner === plugin ? 'this plugin' : `plugin ${owner}`} has a command of this name already`);
  }
  return faults.map((fault) => `command ${command.name}: ${fault}`);
}

function extensionFaults(extension: Extension, manifest: Pick<FullManifest, 'extends'>): string[] {
  const { point } = extension;
  if (typeof point === 'string' && !manifest.extends.includes(point))
    return [`adds to the extension point "${point}", which is not in its manifest: declare it in \`extends\``];
  return shape(EXTENSION, extension).map((fault) => `extension of ${point}: ${fault}`);
}

function serviceFaults(services: Readonly<Record<string, unknown>>, provides: readonly string[]): string[] {
  const missing = provides.filter((name) => services[name] === undefined || services[name] === null);
  const lies = Object.keys(services).filter((name) => !provides.includes(name));
  return [
    ...missing.map((name) => `its manifest provides "${name}", and setup returned no such service`),
    ...lies.map((name) => `the service "${name}" is not in its manifest: declare it in \`provides\``),
  ];
}
