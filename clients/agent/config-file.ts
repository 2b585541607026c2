/** `agent.json`: option names and their values, 0600, no password (contract 90, defaults). */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { codeOf, Failure } from './exit.js';

export interface ConfigFile {
  path: string;
  values: Readonly<Record<string, unknown>>;
}

const MOST_BYTES = 64 * 1024;
const WRITABLE_BY_OTHERS = 0o022;

/**
 * Never through a link: as root the agent reads it in other users' directories.
 * @param wanted it was named, so it has to be there
 */
export async function readConfig(path: string, wanted: boolean): Promise<ConfigFile> {
  const flags = constants.O_RDONLY | (wanted ? 0 : (constants.O_NOFOLLOW ?? 0)) | (constants.O_NONBLOCK ?? 0);
  const file = await open(path, flags).catch((error: unknown) => {
    if (!wanted && ['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return null;
    throw new Failure('usage', `${path} cannot be read: ${codeOf(error)}`, { cause: error });
  });
  if (file === null) return { path, values: {} };
  try {
    const { mode, size } = await file.stat();
    if (size > MOST_BYTES) throw new Failure('usage', `${path} is longer than ${MOST_BYTES} bytes`);
    if (process.platform !== 'win32' && (mode & WRITABLE_BY_OTHERS) !== 0)
      throw new Failure('usage', `${path} can be changed by others: chmod 600 ${path}`);
    return { path, values: objectOf(path, await file.readFile('utf8')) };
  } finally {
    await file.close();
  }
}

function objectOf(path: string, text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch (error) {
    throw new Failure('usage', `${path} is no JSON`, { cause: error });
  }
  throw new Failure('usage', `${path} must be a JSON object with option names`);
}
