/** Whether the configuration may speak of plugins, told without loading what reads and judges it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The folder of `config/`, above `dist/`. */
const ROOT = join(import.meta.dirname, '..', '..');
const NAME = /^SVC_.*plugins/i;
/** A key with an escape may be any. */
const TEXT = /plugins|\\u/i;

/** A file that cannot be read counts: another reader says what is wrong with it. */
async function speaks(path: string): Promise<boolean> {
  try {
    return TEXT.test(await readFile(path, 'utf8'));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

/** False where it is certain that the built-in plugins run, and no others. */
export async function pluginsAreNamed(env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  if (Object.keys(env).some((key) => NAME.test(key))) return true;
  const files = [join(ROOT, 'config', 'local.json'), ...(env['SVC_CONFIG'] === undefined ? [] : [env['SVC_CONFIG']])];
  return (await Promise.all(files.map(speaks))).includes(true);
}
