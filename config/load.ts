/**
 * Loads the configuration as one frozen value: files, then environment, validated with joi. Files
 * are read strictly (`"8080"` is not a number). The kernel validates the plugins' sections.
 */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type joi from 'joi';
import { membersOf } from './members.js';
import { coreKeys, coreSchema, type CoreConfig } from './schema.js';
import {
  ConfigError,
  isTree,
  misspeltIn,
  unknownIn,
  readSources,
  type ConfigSources,
  type Misspelt,
  type Tree,
} from './sources.js';

export { ConfigError } from './sources.js';

export interface Core extends CoreConfig {
  data_dir: string;
  storage: {
    url: string;
    engine: 'memory' | 'sqlite' | 'mongodb';
    /** Absolute path of the embedded store; null for other engines. */
    file: string | null;
    /** Always true on the embedded store (contract 00, first start). */
    auto_migrate: boolean;
    durability: 'full' | 'normal';
  };
}

export interface Configuration {
  core: Core;
  /**
   * Top-level sections other than the core's, unvalidated; a variable is text or the list that it
   * holds.
   */
  sections: Readonly<Record<string, unknown>>;
  misspelt: readonly Misspelt[];
  /** Names of `SVC_` variables that are settings of neither the service nor a companion. */
  unknown: readonly string[];
  /**
   * Returns the source of a key: `config/local.json`, a path, `environment variable SVC_PORT`, or
   * `the default`.
   */
  origin(key: string): string;
  /**
   * Validates one plugin's section, with defaults, frozen.
   * @throws ConfigError
   */
  section<T>(id: string, schema: joi.ObjectSchema<T>): T;
  /** @throws ConfigError when a section belongs to no plugin */
  refuseUnknown(ids: Iterable<string>): void;
}

export interface LoadOptions {
  env?: NodeJS.ProcessEnv;
  root?: string;
  cwd?: string;
}

export function packageRoot(from: string = fileURLToPath(import.meta.url)): string {
  let folder = dirname(from);
  while (!existsSync(`${folder}/package.json`)) {
    const above = dirname(folder);
    if (above === folder) throw new Error('no package.json above this module');
    folder = above;
  }
  return folder;
}

function freeze<T>(value: T): T {
  if (value !== null && typeof value === 'object' && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) freeze(member);
  }
  return value;
}

function originOf(sources: ConfigSources, key: string): string {
  for (let path = key; path !== ''; path = path.slice(0, Math.max(0, path.lastIndexOf('.')))) {
    const from = sources.origins.get(path);
    if (from !== undefined) return from;
  }
  return 'the default';
}

/** joi's own messages quote the value, which may be a secret. */
const messages = {
  'any.custom': '{{#error.message}}',
  'object.unknown': 'is not a known key',
  'string.pattern.base': 'has the wrong form',
  'string.pattern.name': 'has the wrong form',
};

function fault(sources: ConfigSources, error: joi.ValidationError, at: string[]): ConfigError {
  const detail = error.details[0];
  const segments = [...at, ...(detail?.path ?? []).map(String)];
  const key = segments.join('.');
  const label = detail?.context?.label ?? '';
  let problem = detail?.message ?? error.message;
  for (const prefix of [`${label} `, 'value ']) if (problem.startsWith(prefix)) problem = problem.slice(prefix.length);
  return new ConfigError(key, problem, originOf(sources, key));
}

const looseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

function readText(schema: joi.Schema, text: string): unknown {
  if (schema.type === 'array' || schema.type === 'object') {
    const value = looseJson(text);
    return typeof value === 'object' && value !== null ? value : text;
  }
  if (schema.type === 'string') return text;
  if (schema.type === 'number' && text.trim() !== text) return text;
  // A value out of range is returned converted, so that the message names the range instead of the
  // type.
  return schema.validate(text).value as unknown;
}

function member(schema: joi.Schema, segments: readonly string[]): joi.Schema | null {
  try {
    return (schema as joi.ObjectSchema).extract([...segments]);
  } catch {
    // joi throws for an unknown path, or one below a free-form object.
    return null;
  }
}

function readTexts(sources: ConfigSources, tree: Tree, schema: joi.Schema, at: string[]): void {
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
    const known = member(schema, [...segments, last]);
    holder[last] = known ? readText(known, text) : looseJson(text);
  }
}

function validate<T>(sources: ConfigSources, tree: Tree, schema: joi.Schema<T>, at: string[]): T {
  const copy = structuredClone(tree);
  readTexts(sources, copy, schema, at);
  const { value, error } = schema.validate(copy, {
    convert: false,
    errors: { wrap: { label: false } },
    messages,
  });
  if (error) throw fault(sources, error, at);
  return freeze(value);
}

/** A joi section must be present for its members' defaults to apply. */
function withSections(tree: Tree, schema: joi.Schema): Tree {
  const whole = { ...tree };
  for (const [key, section] of membersOf(schema) ?? []) {
    if (membersOf(section) === null) continue;
    const given = whole[key];
    if (given === undefined) whole[key] = withSections({}, section);
    else if (isTree(given)) whole[key] = withSections(given, section);
  }
  return whole;
}

/** Parses variables with a JSON list or object, which joi does not convert. */
function withLists(sources: ConfigSources, sections: Tree): Tree {
  const copy = structuredClone(sections);
  for (const path of sources.texts) {
    const segments = path.split('.');
    const last = segments.pop() as string;
    let holder: unknown = copy;
    for (const key of segments) holder = isTree(holder) ? holder[key] : undefined;
    if (!isTree(holder) || typeof holder[last] !== 'string') continue;
    const value = looseJson(holder[last]);
    if (typeof value === 'object' && value !== null) holder[last] = value;
  }
  return copy;
}

function derive(config: CoreConfig, env: NodeJS.ProcessEnv, cwd: string): Core {
  const { url, auto_migrate: asked, durability } = config.storage;
  const dataDir = resolve(cwd, config.data_dir);
  const engine = url === 'memory:' ? 'memory' : url.startsWith('sqlite:') ? 'sqlite' : 'mongodb';
  return {
    ...config,
    data_dir: dataDir,
    storage: {
      url,
      engine,
      file: engine === 'sqlite' ? resolve(dataDir, url.slice('sqlite:'.length)) : null,
      auto_migrate: engine !== 'mongodb' || (asked ?? env['NODE_ENV'] !== 'production'),
      durability,
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
  const sources = await readSources(options.root ?? packageRoot(), env);
  const core: Tree = {};
  const sections: Tree = {};
  for (const [key, value] of Object.entries(sources.tree)) (coreKeys.has(key) ? core : sections)[key] = value;

  const checked = validate<CoreConfig>(sources, withSections(core, coreSchema), coreSchema, []);
  return Object.freeze({
    core: freeze(derive(checked, env, options.cwd ?? process.cwd())),
    sections: freeze(withLists(sources, sections)),
    misspelt: misspeltIn(env),
    unknown: unknownIn(env),
    origin: (key: string) => originOf(sources, key),
    section: <T>(id: string, schema: joi.ObjectSchema<T>): T => {
      const given = sections[id] ?? {};
      if (!isTree(given)) throw new ConfigError(id, 'must be an object', originOf(sources, id));
      return validate<T>(sources, withSections(given, schema), schema, [id]);
    },
    refuseUnknown: (ids: Iterable<string>): void => {
      const known = new Set(ids);
      const unknown = Object.keys(sections).find((key) => !known.has(key));
      if (unknown === undefined) return;
      throw new ConfigError(unknown, 'is not a known key', originOf(sources, unknown));
    },
  });
}
