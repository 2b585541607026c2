/** Where a machine's script and its token lie: 0700 and 0600, in a directory that nobody else writes to. */
import { chmod, mkdir, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { Parents } from '../apply/parents.js';
import { Failure } from '../exit.js';
import { ON_WINDOWS, writeWhole } from '../files.js';
import { TOKEN_FILE, type Offer } from './offer.js';
import { isElevated, keepToOwner } from './task.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Of a machine without an installation, where `--dir` does not say it. @throws Failure usage */
export async function machineFolder(env: Env): Promise<string> {
  const home = await baseOf(env);
  if (home === undefined) throw new Failure('usage', '--dir is missing: where the script and its token shall lie');
  return join(home, 'update-agent', 'monitor');
}

async function baseOf(env: Env): Promise<string | undefined> {
  if (ON_WINDOWS) return (await isElevated()) ? env.ProgramData : env.LOCALAPPDATA;
  if (process.geteuid?.() === 0) return '/var/lib';
  return env.XDG_DATA_HOME || (env.HOME && join(env.HOME, '.local', 'share'));
}

/** Made if need be, and judged like an installation. @returns without links @throws Failure spaceOrPermission */
export async function openFolder(dir: string): Promise<string> {
  const made = await mkdir(dir, { recursive: true, mode: 0o700 });
  const root = await realpath(dir);
  await Parents.of(root);
  if (ON_WINDOWS && made !== undefined) await keepToOwner(root);
  return root;
}

/** @returns the path of the script */
export async function writeFiles(folder: string, { script, token }: Offer): Promise<string> {
  const others = (await readdir(folder)).filter((name) => /^heartbeat-.+\.(sh|ps1)$/.test(name));
  const other = others.find((name) => name !== script.filename);
  if (other !== undefined)
    throw new Failure('usage', `${folder} holds ${other}, the script of another monitor: choose another --dir`);
  const [tokenFile, scriptFile] = [join(folder, TOKEN_FILE), join(folder, script.filename)];
  await writeWhole(tokenFile, `${token}\n`);
  if (ON_WINDOWS) await keepToOwner(tokenFile);
  await writeWhole(scriptFile, script.content);
  await chmod(scriptFile, 0o700);
  return scriptFile;
}
