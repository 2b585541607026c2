/** Whether the configuration may speak of plugins, told without loading what reads and judges it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The folder of `config/`, above `dist/`. */
const ROOT = join(import.meta.dirname, '..', '..');
const ANY = { name: /^SVC_.*plugins/i, text: /plugins/i };
/** The list `plugins`; a key with an escape may be any. */
const OUTSIDE = { name: /^SVC_PLUGINS(?!_OFF)/i, text: /"plugins"|\\u/i };

/** A file that cannot be read counts: another reader says what is wrong with it. */
async function speaks(path: string, words: RegExp): Promise<boolean> {
  try {
    return words.test(await readFile(path, 'utf8'));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

async function isSpoken({ name, text }: typeof ANY, env: NodeJS.ProcessEnv): Promise<boolean> {
  if (Object.keys(env).some((key) => name.test(key))) return true;
  const files = [join(ROOT, 'config', 'local.json'), ...(env['SVC_CONFIG'] === undefined ? [] : [env['SVC_CONFIG']])];
  return (await Promise.all(files.map((file) => speaks(file, text)))).includes(true);
}

/** False where it is certain that the built-in plugins run, and no others. */
export const pluginsAreNamed = (env: NodeJS.ProcessEnv = process.env): Promise<boolean> => isSpoken(ANY, env);

/** False where it is certain that no other plugins than the built-in ones run. */
export const outsidePluginsAreNamed = (env: NodeJS.ProcessEnv = process.env): Promise<boolean> =>
  isSpoken(OUTSIDE, env);
