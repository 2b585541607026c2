/**
 * Detects setting values on the machine (contract 90, setup.json: `detect`), never by running a
 * command.
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, hostname, userInfo } from 'node:os';
import { extname, resolve } from 'node:path';
import { statPath } from '../system/files.js';
import { OWN_FOLDER } from '../layout.js';
import { FormatError, type SettingValue } from './formats/format.js';
import { SETTINGS_FORMATS, type FormatName } from './formats/index.js';
import { decodeText } from './text-file.js';

type Env = Readonly<Record<string, string | undefined>>;

export interface DetectionContext {
  env: Env;
  root: string;
}

type Detector = (around: DetectionContext) => SettingValue | null | Promise<SettingValue | null>;

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_PORT_ATTEMPTS = 200;

const SIMPLE_DETECTORS: Readonly<Record<string, Detector>> = {
  hostname: () => hostname(),
  os: () => (process.platform === 'win32' ? 'windows' : process.platform),
  arch: () => process.arch,
  timezone: () => Intl.DateTimeFormat().resolvedOptions().timeZone,
  locale: () => Intl.DateTimeFormat().resolvedOptions().locale,
  user: ({ env }) => env.USER ?? env.USERNAME ?? userInfo().username,
  home: ({ env }) => env.HOME ?? homedir(),
  install_dir: ({ root }) => root,
};

export function createDetector(text: string): Detector | null {
  const simple = Object.hasOwn(SIMPLE_DETECTORS, text) ? SIMPLE_DETECTORS[text] : undefined;
  if (simple !== undefined) return simple;
  const [, kind, what] = /^([a-z_]+):(.+)$/s.exec(text) ?? [];
  if (what === undefined) return null;
  if (kind === 'env') return ({ env }) => readVariable(env, what);
  if (kind === 'free_port') return createPortDetector(what);
  if (kind === 'exists') return (around) => findExisting(what, around);
  if (kind === 'file') return createFileKeyDetector(what);
  return null;
}

/** `SVC_*` variables belong to the agent, so they cannot be detected. */
const readVariable = (env: Env, name: string): string | null => (/^SVC_/i.test(name) ? null : (env[name] ?? null));

function createPortDetector(text: string): Detector | null {
  const first = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (first < 1 || first > 65_535) return null;
  return async () => {
    for (let port = first; port < Math.min(first + MAX_PORT_ATTEMPTS, 65_536); port++)
      if (await isFree(port)) return port;
    return null;
  };
}

function isFree(port: number): Promise<boolean> {
  return new Promise((answer) => {
    const server = createServer();
    server.once('error', () => answer(false));
    server.listen({ port, exclusive: true }, () => server.close(() => answer(true)));
  });
}

const resolvePath = (text: string, { env, root }: DetectionContext): string =>
  resolve(root, substituteVariables(text, env));

async function findExisting(text: string, around: DetectionContext): Promise<string | null> {
  const path = resolvePath(text, around);
  return (await statPath(path).catch(() => null)) === null ? null : path;
}

const FORMATS_BY_EXTENSION: Readonly<Record<string, FormatName>> = {
  '.json': 'json',
  '.ini': 'ini',
  '.conf': 'ini',
  '.cfg': 'ini',
  '.xml': 'xml',
  '.config': 'xml',
};

/**
 * Parses `file:path#key`; the extension decides the format, `.env` and all others are lines of
 * `KEY=value`.
 */
function createFileKeyDetector(text: string): Detector | null {
  const at = text.lastIndexOf('#');
  if (at < 1 || at === text.length - 1) return null;
  const [file, key] = [text.slice(0, at), text.slice(at + 1)];
  const format = SETTINGS_FORMATS[FORMATS_BY_EXTENSION[extname(file).toLowerCase()] ?? 'env'];
  if (format.refusedKey(key) !== null) return null;
  return async (around) => {
    const path = resolvePath(file, around);
    if (path.split(/[\\/]/).includes(OWN_FOLDER)) return null;
    const content = await readContent(path);
    if (content === null) return null;
    try {
      return format.read(content, key);
    } catch (error) {
      if (error instanceof FormatError) return null;
      throw error;
    }
  };
}

async function readContent(path: string): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => null);
  if (file === null) return null;
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > MAX_FILE_BYTES) return null;
    return decodeText(await file.readFile())?.text ?? null;
  } finally {
    await file.close();
  }
}

const VARIABLE_PATTERN = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}|%([A-Za-z_][A-Za-z0-9_]*)%/g;

/**
 * The agent's own settings, which include passwords, are not substituted (contract 90, setup.json).
 */
export const substituteVariables = (text: string, env: Readonly<Record<string, string | undefined>>): string =>
  text.replace(VARIABLE_PATTERN, (whole: string, unix: string | undefined, windows: string | undefined) => {
    const name = unix ?? windows ?? '';
    return /^SVC_/i.test(name) ? whole : (env[name] ?? whole);
  });
