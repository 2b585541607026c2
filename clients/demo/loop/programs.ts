import { execFile } from 'node:child_process';
import { chmod, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { detectMachinePlatform } from '../../../lib/formats/machine.js';
import { stopDemo } from '../service.js';

const DIST_FOLDER = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const ROOT_FOLDER = join(DIST_FOLDER, '..');

export const SHOP_FOLDER = join(DIST_FOLDER, 'clients', 'demo', 'loop', 'shop');
export const SDK_FOLDER = join(ROOT_FOLDER, 'build', 'sdk', 'esm');

export const runProgram = (file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(file, args, { env: { ...process.env, ...env } }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${file} ${args.join(' ')}\n${error.message}\n${stdout}${stderr}`));
    });
  });

export const buildSdk = (): Promise<string> =>
  runProgram(process.execPath, [join(ROOT_FOLDER, 'scripts', 'build-sdk.mjs')]);

export async function getMachineId(server: string, project: string, cacheDir: string): Promise<string> {
  const sdk = pathToFileURL(join(SDK_FOLDER, 'index.js')).href;
  const program = `import { createClient } from ${JSON.stringify(sdk)};
    process.stdout.write(await createClient(${JSON.stringify({ server, project, cacheDir })}).machineId());`;
  return runProgram(process.execPath, ['--input-type=module', '--eval', program]);
}

export const runPackagerProgram = async (args: readonly string[], token: string): Promise<Record<string, unknown>> =>
  JSON.parse(
    await runProgram(process.execPath, [join(DIST_FOLDER, 'clients', 'packager', 'packager.js'), ...args, '--json'], {
      SVC_TOKEN: token,
    }),
  ) as Record<string, unknown>;

export interface AgentProgram {
  path: string;
  executable: boolean;
}

/** @param folder for a script that starts the compiled agent when no executable exists */
export async function prepareAgentProgram(folder: string): Promise<AgentProgram> {
  const platform = detectMachinePlatform();
  if (platform.startsWith('win')) stopDemo('The loop is told on Linux: the till is started by a shell script.');
  const built = join(ROOT_FOLDER, 'build', 'agent', `update-agent-${platform}`);
  if (await stat(built).catch(() => null)) return { path: built, executable: true };
  const path = join(folder, 'update-agent');
  const main = join(DIST_FOLDER, 'clients', 'agent', 'main.js');
  await writeFile(path, `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
  await chmod(path, 0o755);
  return { path, executable: false };
}
