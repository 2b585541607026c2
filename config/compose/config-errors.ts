/** Attributes startup errors to the responsible setting (contract 00, configuration). */
import { dirname, sep } from 'node:path';
import { KeyError } from '../../adapters/node/keys/keys.js';
import type { Configuration } from '../load.js';
import { ConfigError } from '../sources.js';
import { UntrustedFile } from '../../lib/files/trusted-file.js';

const PATH_PROBLEMS: Record<string, string> = {
  ENOENT: 'cannot be made',
  EEXIST: 'is not a directory, or is below a file',
  ENOTDIR: 'is not a directory, or is below a file',
  EACCES: 'is not accessible by this user',
  EPERM: 'is not accessible by this user',
  EROFS: 'is on a read-only file system',
  ENOSPC: 'is on a full disk',
  EDQUOT: 'is on a disk where this user has reached the quota',
};

const LISTEN_PROBLEMS: Record<string, [key: string, problem: string]> = {
  EADDRINUSE: ['server.port', 'is in use by another program'],
  EACCES: ['server.port', 'is not accessible by this user'],
  EADDRNOTAVAIL: ['server.host', 'is not an address of this machine'],
  ENOTFOUND: ['server.host', 'is not an address of this machine'],
};

/** Origins of a key that is not set: its file in the data directory is named instead. */
const UNSET_ORIGINS = new Set(['the default', 'config/default.json']);

/** Key settings in a message, except those in parentheses after their setting. */
const KEY_SETTING_PATTERN = /\b(?:release_private_key|security\.(?:license|data)_key)\b(?! \()/g;

const isNested = (a: string, b: string): boolean => `${a}${sep}`.startsWith(`${b}${sep}`) || b.startsWith(`${a}${sep}`);

function toConfigError(configuration: Configuration, error: unknown): unknown {
  const { core } = configuration;
  const of = (key: string, problem: string): ConfigError => new ConfigError(key, problem, configuration.origin(key));
  const { file } = core.storage;
  const { code = '', path, syscall, name, message, hostname } = error as NodeJS.ErrnoException & { hostname?: string };
  if (error instanceof KeyError) {
    const [, key, problem] = /^([a-z_]+(?:\.[a-z_]+)?): (.*)$/s.exec(message) ?? [];
    if (key === 'keys')
      return new KeyError(message.replace(KEY_SETTING_PATTERN, (one) => `${one} (from ${configuration.origin(one)})`));
    const isConfigured = key !== undefined && !UNSET_ORIGINS.has(configuration.origin(key));
    return isConfigured ? of(key, problem as string) : error;
  }
  if (error instanceof UntrustedFile) {
    const inStore = file !== null && error.path.startsWith(file);
    return of(inStore ? 'storage.url' : 'data_dir', `points to ${error.path}, which ${error.problem}`);
  }
  if (name === 'MongoParseError' || name === 'MongoInvalidArgumentError')
    return of('storage.url', `is not accepted: ${message}`);
  if (syscall === 'listen' || (syscall === 'getaddrinfo' && hostname === core.server.host)) {
    const [key, problem] = LISTEN_PROBLEMS[code] ?? [];
    const { host, port } = core.server;
    return key === undefined ? error : of(key, `${key === 'server.port' ? port : host} ${problem}`);
  }
  if (code === 'EISDIR' && file !== null && path === file) return of('storage.url', `${file} is not a file`);
  if (code === 'EMLINK' && file !== null && path === file) return of('storage.url', `is not accepted: ${message}`);
  const problem = PATH_PROBLEMS[code];
  // A vanished file is not the error of a setting.
  if (problem === undefined || path === undefined || (code === 'ENOENT' && syscall !== 'mkdir')) return error;
  const at = (place: string): string => (code === 'EACCES' || code === 'EPERM' ? path : place);
  if (isNested(core.data_dir, path)) return of('data_dir', `${at(core.data_dir)} ${problem}`);
  return file !== null && isNested(dirname(file), path) ? of('storage.url', `${at(file)} ${problem}`) : error;
}

export async function attributeToConfigKey<T>(configuration: Configuration, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toConfigError(configuration, error);
  }
}
