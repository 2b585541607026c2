/**
 * Merges JSON files and environment variables into one tree, as contract 00 ("Configuration") names
 * them.
 */
import type joi from 'joi';
import { readConfiguredFile, UntrustedFile } from '../lib/files/trusted-file.js';
import { getSchemaMembers, getSchemaMetas } from './schema-members.js';
import { coreSchema, FIRST_ADMIN_VARIABLES } from './schema.js';

/** Invalid configuration. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  constructor(
    readonly key: string,
    readonly problem: string,
    readonly from: string,
  ) {
    super(`configuration: ${key} ${problem} (from ${from})`.replace(/[\p{Cc}\u2028\u2029]+/gu, ' '));
  }
}

export type ConfigTree = { [key: string]: unknown };

export interface ConfigSources {
  tree: ConfigTree;
  origins: Map<string, string>;
  texts: Set<string>;
}

export const isTree = (value: unknown): value is ConfigTree =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

const deletePaths = (paths: { keys(): Iterable<string>; delete(path: string): boolean }, path: string): void => {
  for (const known of paths.keys()) if (known === path || known.startsWith(`${path}.`)) paths.delete(known);
};

/** Objects member by member, other values as a whole. */
function mergeTree(sources: ConfigSources, over: ConfigTree, from: string, at: string[] = []): void {
  let target = sources.tree;
  for (const key of at) target = target[key] as ConfigTree;
  for (const [key, value] of Object.entries(over)) {
    const path = [...at, key].join('.');
    if (['__proto__', 'constructor', 'prototype'].includes(key))
      throw new ConfigError(path, 'is not a known key', from);
    if (isTree(value)) {
      if (!isTree(target[key])) {
        target[key] = {};
        deletePaths(sources.texts, path);
        sources.origins.set(path, from);
      }
      mergeTree(sources, value, from, [...at, key]);
    } else {
      deletePaths(sources.origins, path);
      deletePaths(sources.texts, path);
      target[key] = value;
      sources.origins.set(path, from);
    }
  }
}

async function readJson(path: string, optional: boolean, label: string): Promise<ConfigTree | null> {
  let text: string;
  try {
    text = await readConfiguredFile(path);
  } catch (error) {
    if (error instanceof UntrustedFile) throw new ConfigError(label, error.problem, path);
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    if (optional && code === 'ENOENT') return null;
    throw new ConfigError(label, `cannot be read: ${code}`, path === '' ? 'an empty path' : path);
  }
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    // JSON.parse quotes the text, which may be a secret.
    const place = /position \d+(?: \(line \d+ column \d+\))?/.exec((error as Error).message)?.[0];
    throw new ConfigError(label, `is not valid JSON${place ? ` at ${place}` : ''}`, path);
  }
  if (!isTree(value)) throw new ConfigError(label, 'must contain one JSON object', path);
  return value;
}

const variablePaths = new Map<string, string>(FIRST_ADMIN_VARIABLES);
export const configVariables: ReadonlyMap<string, string> = variablePaths;
const corePaths = new Set<string>();

(function collect(schema: joi.Schema, at: string[]): void {
  for (const [key, member] of getSchemaMembers(schema) ?? []) {
    const path = [...at, key];
    corePaths.add(path.join('.'));
    for (const { env } of getSchemaMetas(member)) if (env !== undefined) variablePaths.set(env, path.join('.'));
    collect(member, path);
  }
})(coreSchema, []);

/** Null for other variables. */
export function resolveVariable(name: string): { path: string; file: boolean } | null {
  const own = configVariables.get(name);
  if (own !== undefined) return { path: own, file: false };
  const base = name.endsWith('_FILE') ? name.slice(0, -'_FILE'.length) : null;
  const ownFile = base === null ? undefined : configVariables.get(base);
  if (ownFile !== undefined) return { path: ownFile, file: true };
  const rest = /^SVC_(.*)$/.exec(name)?.[1];
  if (rest === undefined || !rest.includes('__')) return null;
  const path = rest.toLowerCase().split('__').join('.');
  // Only core keys support the `…_FILE` form.
  const withoutFile = path.replace(/_file$/, '');
  const file = withoutFile !== path && !corePaths.has(path) && corePaths.has(withoutFile);
  return { path: file ? withoutFile : path, file };
}

export interface MisspeltVariable {
  name: string;
  meant: string;
}

/** `SVC_SERVER_PORT`. */
const singleUnderscoreNames: ReadonlyMap<string, string> = new Map(
  [...corePaths]
    .filter((path) => path.includes('.'))
    .map((path) => {
      const upper = path.toUpperCase();
      return [`SVC_${upper.replaceAll('.', '_')}`, `SVC_${upper.replaceAll('.', '__')}`] as const;
    }),
);

/** All other `SVC_` variables belong to the companions (contract 00, configuration). */
export function findMisspeltVariables(env: NodeJS.ProcessEnv): MisspeltVariable[] {
  return Object.keys(env).flatMap((name) => {
    const meant = singleUnderscoreNames.get(name.toUpperCase());
    return meant === undefined || resolveVariable(name) !== null ? [] : [{ name, meant }];
  });
}

/** Variables of the companions (clients/), which the service ignores. */
const COMPANION_PATTERN =
  /^SVC_(URL|TOKEN|TOKEN_FILE|USERNAME|PASSWORD|PASSWORD_FILE|PROJECT|PRODUCT|PRODUCT_KEY|PRODUCT_KEY_FILE|JSON|YES|WAIT_SECONDS|SERVER|SCHEDULE|RESTART|REQUIRE_SIGNED|PLATFORM|PIN|MONITOR_NAME|MAX_DELTA_PERCENT|MACHINE_ID|KEEP_BACKUPS|DIR|CHANNEL|CA_FILE|ALLOW_HTTP|SET_\w+|TEST_\w+)$/;

/** Except misspelt ones. */
export function findUnknownVariables(env: NodeJS.ProcessEnv): string[] {
  const misspelt = new Set(findMisspeltVariables(env).map(({ name }) => name));
  return Object.keys(env)
    .filter((name) => /^SVC_/i.test(name) && name !== 'SVC_CONFIG' && !misspelt.has(name))
    .filter((name) => resolveVariable(name) === null && !COMPANION_PATTERN.test(name))
    .toSorted();
}

const optionByVariable = new Map<string, string>();

/** Sets a variable from a command-line option, overriding other variables of the same key. */
export function applyOption(name: string, value: string, option: string, env: NodeJS.ProcessEnv = process.env): void {
  const path = resolveVariable(name)?.path;
  for (const other of Object.keys(env))
    if (path !== undefined && resolveVariable(other)?.path === path) delete env[other];
  env[name] = value;
  optionByVariable.set(name, option);
}

async function readVariable(name: string, value: string, file: boolean): Promise<string> {
  if (!file) return value;
  try {
    return (await readConfiguredFile(value)).replace(/\r?\n$/, '');
  } catch (error) {
    if (error instanceof UntrustedFile) throw new ConfigError(name, `refers to a file that ${error.problem}`, value);
    throw new ConfigError(
      name,
      `refers to a file that cannot be read: ${(error as NodeJS.ErrnoException).code}`,
      value || 'an empty path',
    );
  }
}

/** @throws ConfigError when two of them set the same key */
async function mergeVariables(sources: ConfigSources, env: NodeJS.ProcessEnv): Promise<void> {
  const setters = new Map<string, string>();
  for (const name of Object.keys(env).toSorted()) {
    const text = env[name];
    const target = text === undefined ? null : resolveVariable(name);
    if (text === undefined || target === null) continue;
    const from = optionByVariable.get(name) ?? `environment variable ${name}`;
    const segments = target.path.split('.');
    if (segments.includes('')) throw new ConfigError(name, 'does not match a key', from);
    const other = setters.get(target.path);
    if (other !== undefined)
      throw new ConfigError(target.path, `is set twice, by ${other} and ${name}`, 'the environment');
    setters.set(target.path, name);
    const value = await readVariable(name, text, target.file);
    mergeTree(sources, segments.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as ConfigTree, from);
    sources.texts.add(target.path);
  }
}

/**
 * @param root contains `config/`
 * @throws ConfigError
 */
export async function readSources(root: string, env: NodeJS.ProcessEnv): Promise<ConfigSources> {
  const sources: ConfigSources = { tree: {}, origins: new Map(), texts: new Set() };
  const files: [path: string, optional: boolean, label: string][] = [
    [`${root}/config/default.json`, false, 'config/default.json'],
    [`${root}/config/local.json`, true, 'config/local.json'],
  ];
  if (env['SVC_CONFIG'] !== undefined) files.push([env['SVC_CONFIG'], false, 'SVC_CONFIG']);
  for (const [path, optional, label] of files) {
    const tree = await readJson(path, optional, label);
    if (tree === null) continue;
    if (label !== 'config/default.json') rejectEnvOnlyKeys(tree, path);
    mergeTree(sources, tree, label === 'SVC_CONFIG' ? path : label);
  }
  await mergeVariables(sources, env);
  return sources;
}

function rejectEnvOnlyKeys(tree: ConfigTree, from: string): void {
  for (const [variable, key] of FIRST_ADMIN_VARIABLES) {
    const [section = '', name = ''] = key.split('.');
    const given = tree[section];
    if (isTree(given) && Object.hasOwn(given, name)) {
      throw new ConfigError(key, `can only be set in the environment: set ${variable}`, from);
    }
  }
}
