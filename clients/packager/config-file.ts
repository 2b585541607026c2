/** `packager.json` (contract 90, packager): settings shared by all releases. */
import { dirname, resolve } from 'node:path';
import { normalizeGlob, findUnsupportedGlob } from '../../lib/formats/globs.js';
import { readDiscoveredFile, readConfiguredFile, UntrustedFile } from '../../lib/files/trusted-file.js';
import { EXIT_CODES, PackagerFailure } from './packager-failure.js';

export interface PackagerConfig {
  project?: string;
  channel?: string;
  platform?: string;
  publishDir?: string;
  mainAssembly?: string;
  entry?: string;
  excludePatterns?: string[];
  preservePatterns?: string[];
  notesFile?: string;
  server?: string;
  tokenEnv?: string;
  output?: string;
}

const TEXT_KEYS = [
  'project',
  'channel',
  'platform',
  'publishDir',
  'mainAssembly',
  'entry',
  'notesFile',
  'server',
  'tokenEnv',
  'output',
] as const;
const PATH_KEYS = ['publishDir', 'notesFile', 'output'] as const;
const GLOB_KEYS = ['excludePatterns', 'preservePatterns'] as const;

/**
 * The file names the server that receives the token, so it must not belong to another user.
 * @param named false allows a missing file
 */
export async function readConfig(file: string, named: boolean): Promise<PackagerConfig> {
  const read = named ? readConfiguredFile : readDiscoveredFile;
  const text = await read(file).catch((error: NodeJS.ErrnoException) => {
    if (error instanceof UntrustedFile) throw new PackagerFailure(EXIT_CODES.error, `${error.message}.`);
    if (error.code === 'ENOENT' && !named) return null;
    throw new PackagerFailure(EXIT_CODES.error, `${file} cannot be read (${error.code ?? error.message}).`);
  });
  if (text === null) return {};
  const config = parseConfig(file, text);
  for (const key of PATH_KEYS) {
    const path = config[key];
    if (path !== undefined) config[key] = resolve(dirname(file), path);
  }
  return config;
}

function parseConfig(file: string, text: string): PackagerConfig {
  const fail = (why: string): PackagerFailure => new PackagerFailure(EXIT_CODES.error, `${file}: ${why}.`);
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw fail(`is not valid JSON (${(error as Error).message})`);
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw fail('is not a JSON object');
  const known: readonly string[] = [...TEXT_KEYS, ...GLOB_KEYS, '$schema'];
  for (const [key, value] of Object.entries(json)) {
    if (!known.includes(key)) throw fail(`${key} is unknown; allowed: ${known.slice(0, -1).join(', ')}`);
    if ((GLOB_KEYS as readonly string[]).includes(key)) checkGlobs(key, value, fail);
    else if (typeof value !== 'string' || value === '') throw fail(`${key} must be a string`);
  }
  return json;
}

function checkGlobs(key: string, value: unknown, fail: (why: string) => PackagerFailure): void {
  if (!Array.isArray(value)) throw fail(`${key} must be a list of globs`);
  for (const [i, glob] of value.entries()) {
    const why = typeof glob === 'string' ? findUnsupportedGlob(glob) : 'is not a string';
    if (why !== null) throw fail(`${key}[${i}] ${why}`);
    value[i] = normalizeGlob(glob as string);
  }
}
