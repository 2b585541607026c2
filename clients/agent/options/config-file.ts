/** `agent.json`: option names and their values, 0600, no password (contract 90, defaults). */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { getErrorCode, AgentFailure } from '../exit.js';
import { ON_WINDOWS } from '../system/files.js';

export interface ConfigFile {
  path: string;
  values: Readonly<Record<string, unknown>>;
  /** Owner; 0 on Windows, where the directory's permissions decide who writes. */
  uid: number;
  open: boolean;
}

const MAX_CONFIG_BYTES = 64 * 1024;
const WRITABLE_BY_OTHERS_MASK = 0o022;
const READABLE_BY_OTHERS_MASK = 0o044;

/** Links are only followed for a named file, because root reads it in other users' directories. */
export async function readConfig(path: string, wanted: boolean): Promise<ConfigFile | null> {
  const flags = constants.O_RDONLY | (wanted ? 0 : (constants.O_NOFOLLOW ?? 0)) | (constants.O_NONBLOCK ?? 0);
  const file = await open(path, flags).catch((error: unknown) => {
    if (!wanted && ['ENOENT', 'ENOTDIR'].includes(getErrorCode(error))) return null;
    const isDenied = ['EACCES', 'EPERM'].includes(getErrorCode(error));
    const outcome = isDenied ? 'spaceOrPermission' : 'usage';
    throw new AgentFailure(outcome, `${path} cannot be read: ${getErrorCode(error)}`, { cause: error });
  });
  if (file === null) return null;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new AgentFailure('usage', `${path} is not a file`);
    if (stats.size > MAX_CONFIG_BYTES)
      throw new AgentFailure('usage', `${path} is longer than ${MAX_CONFIG_BYTES} bytes`);
    if (!ON_WINDOWS && (stats.mode & WRITABLE_BY_OTHERS_MASK) !== 0)
      throw new AgentFailure('usage', `${path} is writable by others; run: chmod 600 ${path}`);
    const values = parseConfigObject(path, await file.readFile('utf8'));
    return { path, values, uid: stats.uid, open: !ON_WINDOWS && (stats.mode & READABLE_BY_OTHERS_MASK) !== 0 };
  } finally {
    await file.close();
  }
}

function parseConfigObject(path: string, text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch (error) {
    throw new AgentFailure('usage', `${path} is not valid JSON`, { cause: error });
  }
  throw new AgentFailure('usage', `${path} must be a JSON object with option names`);
}
