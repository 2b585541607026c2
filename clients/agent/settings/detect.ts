/**
 * Detects setting values on the machine (contract 90, setup.json: `detect`), never by running a
 * command.
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir, hostname, userInfo } from 'node:os';
import { extname, resolve } from 'node:path';
import { look } from '../system/files.js';
import { OWN_FOLDER } from '../layout.js';
import { FormatError, type SettingValue } from './formats/format.js';
import { FORMATS, type FormatName } from './formats/index.js';
import { decoded } from './text-file.js';

type Env = Readonly<Record<string, string | undefined>>;

export interface MachineSurroundings {
  env: Env;
  root: string;
}

type Detector = (around: MachineSurroundings) => SettingValue | null | Promise<SettingValue | null>;

const MOST_BYTES = 1024 * 1024;
const PORTS_TRIED = 200;

const SIMPLE: Readonly<Record<string, Detector>> = {
  hostname: () => hostname(),
  os: () => (process.platform === 'win32' ? 'windows' : process.platform),
  arch: () => process.arch,
  timezone: () => Intl.DateTimeFormat().resolvedOptions().timeZone,
  locale: () => Intl.DateTimeFormat().resolvedOptions().locale,
  user: ({ env }) => env.USER ?? env.USERNAME ?? userInfo().username,
  home: ({ env }) => env.HOME ?? homedir(),
  install_dir: ({ root }) => root,
};

export function detectorOf(text: string): Detector | null {
  const simple = Object.hasOwn(SIMPLE, text) ? SIMPLE[text] : undefined;
  if (simple !== undefined) return simple;
  const [, kind, what] = /^([a-z_]+):(.+)$/s.exec(text) ?? [];
  if (what === undefined) return null;
  if (kind === 'env') return ({ env }) => variable(env, what);
  if (kind === 'free_port') return portFrom(what);
  if (kind === 'exists') return (around) => existing(what, around);
  if (kind === 'file') return fileKey(what);
  return null;
}

/** `SVC_*` variables belong to the agent, so they cannot be detected. */
const variable = (env: Env, name: string): string | null => (/^SVC_/i.test(name) ? null : (env[name] ?? null));

function portFrom(text: string): Detector | null {
  const first = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (first < 1 || first > 65_535) return null;
  return async () => {
    for (let port = first; port < Math.min(first + PORTS_TRIED, 65_536); port++) if (await isFree(port)) return port;
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

const pathOf = (text: string, { env, root }: MachineSurroundings): string => resolve(root, withVariables(text, env));

async function existing(text: string, around: MachineSurroundings): Promise<string | null> {
  const path = pathOf(text, around);
  return (await look(path).catch(() => null)) === null ? null : path;
}

const BY_ENDING: Readonly<Record<string, FormatName>> = {
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
function fileKey(text: string): Detector | null {
  const at = text.lastIndexOf('#');
  if (at < 1 || at === text.length - 1) return null;
  const [file, key] = [text.slice(0, at), text.slice(at + 1)];
  const format = FORMATS[BY_ENDING[extname(file).toLowerCase()] ?? 'env'];
  if (format.refusedKey(key) !== null) return null;
  return async (around) => {
    const path = pathOf(file, around);
    if (path.split(/[\\/]/).includes(OWN_FOLDER)) return null;
    const content = await contentOf(path);
    if (content === null) return null;
    try {
      return format.read(content, key);
    } catch (error) {
      if (error instanceof FormatError) return null;
      throw error;
    }
  };
}

async function contentOf(path: string): Promise<string | null> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => null);
  if (file === null) return null;
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > MOST_BYTES) return null;
    return decoded(await file.readFile())?.text ?? null;
  } finally {
    await file.close();
  }
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}|%([A-Za-z_][A-Za-z0-9_]*)%/g;

/**
 * Substitutes `${VAR}` and `%VAR%` in paths of setup.json; unknown ones stay unchanged (contract
 * 90, setup.json). The agent's own settings, which include passwords, are not substituted.
 */
export const withVariables = (text: string, env: Readonly<Record<string, string | undefined>>): string =>
  text.replace(VARIABLE, (whole: string, unix: string | undefined, windows: string | undefined) => {
    const name = unix ?? windows ?? '';
    return /^SVC_/i.test(name) ? whole : (env[name] ?? whole);
  });
