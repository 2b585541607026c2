/**
 * Folder of a machine's script and token: 0700 and 0600, in a directory that no other user writes
 * to.
 */
import { chmod, mkdir, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { Parents } from '../system/parents.js';
import { AgentFailure } from '../exit.js';
import { ON_WINDOWS, writeWhole } from '../system/files.js';
import { TOKEN_FILE, type MonitoringOffer } from './offer.js';
import { keepToOwner } from '../system/windows.js';

/**
 * Creates the folder if necessary and validates it like an installation.
 * @returns its path without links
 * @throws AgentFailure spaceOrPermission
 */
export async function openFolder(dir: string): Promise<string> {
  const made = await mkdir(dir, { recursive: true, mode: 0o700 });
  const root = await realpath(dir);
  await Parents.of(root);
  if (ON_WINDOWS && made !== undefined) await keepToOwner(root);
  return root;
}

export async function writeFiles(folder: string, { script, token }: MonitoringOffer): Promise<string> {
  const others = (await readdir(folder)).filter((name) => /^heartbeat-.+\.(sh|ps1)$/.test(name));
  const other = others.find((name) => name !== script.filename);
  if (other !== undefined)
    throw new AgentFailure('usage', `${folder} holds ${other}, the script of another monitor: choose another --dir`);
  const [tokenFile, scriptFile] = [join(folder, TOKEN_FILE), join(folder, script.filename)];
  await writeWhole(tokenFile, `${token}\n`);
  if (ON_WINDOWS) await keepToOwner(tokenFile);
  await writeWhole(scriptFile, script.content);
  await chmod(scriptFile, 0o700);
  return scriptFile;
}
