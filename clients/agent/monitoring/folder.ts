/**
 * Folder of a machine's script and token: 0700 and 0600, in a directory that no other user writes
 * to.
 */
import { chmod, mkdir, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { ParentValidator } from '../system/parent-validator.js';
import { AgentFailure } from '../exit.js';
import { ON_WINDOWS, writeFileAtomically } from '../system/files.js';
import { TOKEN_FILE, type MonitoringOffer } from './offer.js';
import { restrictToOwner } from '../system/windows.js';

/**
 * Validates the folder like an installation.
 * @returns its path without links
 * @throws AgentFailure spaceOrPermission
 */
export async function prepareMonitoringFolder(dir: string): Promise<string> {
  const made = await mkdir(dir, { recursive: true, mode: 0o700 });
  const root = await realpath(dir);
  await ParentValidator.of(root);
  if (ON_WINDOWS && made !== undefined) await restrictToOwner(root);
  return root;
}

export async function writeMonitoringFiles(folder: string, { script, token }: MonitoringOffer): Promise<string> {
  const others = (await readdir(folder)).filter((name) => /^heartbeat-.+\.(sh|ps1)$/.test(name));
  const other = others.find((name) => name !== script.filename);
  if (other !== undefined)
    throw new AgentFailure('usage', `${folder} contains ${other}, the script of another monitor; choose another --dir`);
  const [tokenFile, scriptFile] = [join(folder, TOKEN_FILE), join(folder, script.filename)];
  await writeFileAtomically(tokenFile, `${token}\n`);
  if (ON_WINDOWS) await restrictToOwner(tokenFile);
  await writeFileAtomically(scriptFile, script.content);
  await chmod(scriptFile, 0o700);
  return scriptFile;
}
