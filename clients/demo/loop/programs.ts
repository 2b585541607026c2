import { execFile } from 'node:child_process';
import { chmod, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { detectMachinePlatform } from '../../../lib/formats/machine.js';
import { stop } from '../service.js';

const DIST = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const ROOT = join(DIST, '..');

export const SHOP = join(DIST, 'clients', 'demo', 'loop', 'shop');
export const SDK = join(ROOT, 'build', 'sdk', 'esm');

export const run = (file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(file, args, { env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${file} ${args.join(' ')}\n${error.message}\n${stdout}${stderr}`));
    });
  });

export const buildSdk = (): Promise<string> => run(process.execPath, [join(ROOT, 'scripts', 'build-sdk.mjs')]);

export async function machineId(server: string, project: string, cacheDir: string): Promise<string> {
  const sdk = pathToFileURL(join(SDK, 'index.js')).href;
  const program = `import { createClient } from ${JSON.stringify(sdk)};
    process.stdout.write(await createClient(${JSON.stringify({ server, project, cacheDir })}).machineId());`;
  return run(process.execPath, ['--input-type=module', '--eval', program]);
}

export const packager = async (args: readonly string[], token: string): Promise<Record<string, unknown>> =>
  JSON.parse(
    await run(process.execPath, [join(DIST, 'clients', 'packager', 'packager.js'), ...args, '--json'], {
      SVC_TOKEN: token,
    }),
  ) as Record<string, unknown>;

export interface AgentProgram {
  path: string;
  executable: boolean;
}

/** @param folder for a script that starts the compiled agent when no executable exists */
export async function agentProgram(folder: string): Promise<AgentProgram> {
  const platform = detectMachinePlatform();
  if (platform.startsWith('win')) stop('The loop is told on Linux: the till is started by a shell script.');
  const built = join(ROOT, 'build', 'agent', `update-agent-${platform}`);
  if (await stat(built).catch(() => null)) return { path: built, executable: true };
  const path = join(folder, 'update-agent');
  const main = join(DIST, 'clients', 'agent', 'main.js');
  await writeFile(path, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
  await chmod(path, 0o755);
  return { path, executable: false };
}
