/** Loads the configuration as one frozen value: files, then environment, validated with joi. */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type joi from 'joi';
import { getSchemaMembers } from './schema-members.js';
import { coreKeys, coreSchema, type CoreConfig } from './schema.js';
import {
  ConfigError,
  isTree,
  findMisspeltVariables,
  findUnknownVariables,
  readSources,
  type ConfigSources,
  type MisspeltVariable,
  type ConfigTree,
} from './sources.js';

export { ConfigError } from './sources.js';

export interface ResolvedConfig extends CoreConfig {
  data_dir: string;
  storage: {
    url: string;
    engine: 'memory' | 'sqlite' | 'mongodb';
    /** Absolute path of the embedded store; null for other engines. */
    file: string | null;
    /** Always true on the embedded store (contract 00, first start). */
    auto_migrate: boolean;
    durability: 'full' | 'normal';
    checkpoints: 'service' | 'external';
  };
}

export interface Configuration {
  core: ResolvedConfig;
  /** Unvalidated; a variable is text or the list that it holds. */
  sections: Readonly<Record<string, unknown>>;
  misspelt: readonly MisspeltVariable[];
  /** `SVC_` variables of neither the service nor a companion. */
  unknown: readonly string[];
  origin(key: string): string;
  /**
   * Validates one plugin's section, with defaults, frozen.
   * @throws ConfigError
   */
  validateSection<T>(id: string, schema: joi.ObjectSchema<T>): T;
  /** @throws ConfigError when a section belongs to no plugin */
  rejectUnknownSections(ids: Iterable<string>): void;
}

export interface LoadOptions {
  env?: NodeJS.ProcessEnv;
  root?: string;
  cwd?: string;
}

export function findPackageRoot(from: string = fileURLToPath(import.meta.url)): string {
  let folder = dirname(from);
  while (!existsSync(`${folder}/package.json`)) {
    const above = dirname(folder);
    if (above === folder) throw new Error('no package.json above this module');
    folder = above;
  }
  return folder;
}

function deepFreeze<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}

function getOrigin(sources: ConfigSources, key: string): string {
  for (let path = key; path !== ''; path = path.slice(0, Math.max(0, path.lastIndexOf('.')))) {
    const from = sources.origins.get(path);
    if (from !== undefined) return from;
  }
  return 'the default';
}

/** joi's own messages quote the value, which may be a secret. */
const MESSAGES = {
  'any.custom': '{{#error.message}}',
  'object.unknown': 'is not a known key',
  'string.pattern.base': 'has the wrong format',
  'string.pattern.name': 'has the wrong format',
};

function createConfigError(sources: ConfigSources, error: joi.ValidationError, at: string[]): ConfigError {
  const detail = error.details[0];
  const segments = [...at, ...(detail?.path ?? []).map(String)];
  const key = segments.join('.');
  const label = detail?.context?.label ?? '';
  let problem = detail?.message ?? error.message;
  for (const prefix of [`${label} `, 'value ']) if (problem.startsWith(prefix)) problem = problem.slice(prefix.length);
  return new ConfigError(key, problem, getOrigin(sources, key));
}

const parseLooseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

function parseText(schema: joi.Schema, text: string): unknown {
  if (schema.type === 'array' || schema.type === 'object') {
    const value = parseLooseJson(text);
    return typeof value === 'object' && value !== null ? value : text;
  }
  if (schema.type === 'string') return text;
  if (schema.type === 'number' && text.trim() !== text) return text;
  // The message then names the range instead of the type.
  return schema.validate(text).value as unknown;
}

function findMember(schema: joi.Schema, segments: readonly string[]): joi.Schema | null {
  try {
    return (schema as joi.ObjectSchema).extract([...segments]);
  } catch {
    // joi throws for an unknown path, or one below a free-form object.
    return null;
  }
}

function parseTexts(sources: ConfigSources, tree: ConfigTree, schema: joi.Schema, at: string[]): void {
  const prefix = at.length === 0 ? '' : `${at.join('.')}.`;
  for (const path of sources.texts) {
    if (!path.startsWith(prefix)) continue;
    const segments = path.slice(prefix.length).split('.');
    const last = segments.pop() as string;
    let holder: unknown = tree;
    for (const key of segments) holder = isTree(holder) ? holder[key] : undefined;
    if (!isTree(holder)) continue;
    const text = holder[last];
    if (typeof text !== 'string') continue;
    const known = findMember(schema, [...segments, last]);
    holder[last] = known ? parseText(known, text) : parseLooseJson(text);
  }
}

function validate<T>(sources: ConfigSources, tree: ConfigTree, schema: joi.Schema<T>, at: string[]): T {
  const copy = structuredClone(tree);
  parseTexts(sources, copy, schema, at);
  const { value, error } = schema.validate(copy, {
    convert: false,
    errors: { wrap: { label: false } },
    messages: MESSAGES,
  });
  if (error) throw createConfigError(sources, error, at);
  return deepFreeze(value);
}

/** A section must be present for its members' defaults to apply. */
function addSections(tree: ConfigTree, schema: joi.Schema): ConfigTree {
  const whole = { ...tree };
  for (const [key, section] of getSchemaMembers(schema) ?? []) {
    if (getSchemaMembers(section) === null) continue;
    const given = whole[key];
    if (given === undefined) whole[key] = addSections({}, section);
    else if (isTree(given)) whole[key] = addSections(given, section);
  }
  return whole;
}

/** joi does not convert lists and objects. */
function parseLists(sources: ConfigSources, sections: ConfigTree): ConfigTree {
  const copy = structuredClone(sections);
  for (const path of sources.texts) {
    const segments = path.split('.');
    const last = segments.pop() as string;
    let holder: unknown = copy;
    for (const key of segments) holder = isTree(holder) ? holder[key] : undefined;
    if (!isTree(holder) || typeof holder[last] !== 'string') continue;
    const value = parseLooseJson(holder[last]);
    if (typeof value === 'object' && value !== null) holder[last] = value;
  }
  return copy;
}

function resolveConfig(config: CoreConfig, env: NodeJS.ProcessEnv, cwd: string): ResolvedConfig {
  const { url, auto_migrate: autoMigrate, durability, checkpoints } = config.storage;
  const dataDir = resolve(cwd, config.data_dir);
  const engine = url === 'memory:' ? 'memory' : url.startsWith('sqlite:') ? 'sqlite' : 'mongodb';
  return {
    ...config,
    data_dir: dataDir,
    storage: {
      url,
      engine,
      file: engine === 'sqlite' ? resolve(dataDir, url.slice('sqlite:'.length)) : null,
      auto_migrate: engine !== 'mongodb' || (autoMigrate ?? env['NODE_ENV'] !== 'production'),
      durability,
      checkpoints,
    },
    release_private_key: config.release_private_key
      ? resolve(cwd, config.release_private_key)
      : config.release_private_key,
  };
}

/**
 * Reads and validates the configuration (contract 00, configuration).
 * @throws ConfigError whose message is the line for stderr
 */
export async function loadConfig(options: LoadOptions = {}): Promise<Configuration> {
  const env = options.env ?? process.env;
  const sources = await readSources(options.root ?? findPackageRoot(), env);
  const core: ConfigTree = {};
  const sections: ConfigTree = {};
  for (const [key, value] of Object.entries(sources.tree)) (coreKeys.has(key) ? core : sections)[key] = value;

  const checked = validate<CoreConfig>(sources, addSections(core, coreSchema), coreSchema, []);
  return Object.freeze({
    core: deepFreeze(resolveConfig(checked, env, options.cwd ?? process.cwd())),
    sections: deepFreeze(parseLists(sources, sections)),
    misspelt: findMisspeltVariables(env),
    unknown: findUnknownVariables(env),
    origin: (key: string) => getOrigin(sources, key),
    validateSection: <T>(id: string, schema: joi.ObjectSchema<T>): T => {
      const given = sections[id] ?? {};
      if (!isTree(given)) throw new ConfigError(id, 'must be an object', getOrigin(sources, id));
      return validate<T>(sources, addSections(given, schema), schema, [id]);
    },
    rejectUnknownSections: (ids: Iterable<string>): void => {
      const known = new Set(ids);
      const unknown = Object.keys(sections).find((key) => !known.has(key));
      if (unknown === undefined) return;
      throw new ConfigError(unknown, 'is not a known key', getOrigin(sources, unknown));
    },
  });
}
