/** Detects whether the configuration may name plugins, without loading the configuration code. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const NAME = /^SVC_.*plugins/i;
/** A key with an escape sequence may be any key. */
const TEXT = /plugins|\\u/i;

/** An unreadable file counts as a match; it is reported elsewhere. */
async function speaks(path: string): Promise<boolean> {
  try {
    return TEXT.test(await readFile(path, 'utf8'));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

/** Returns false only if exactly the built-in plugins run. */
export async function pluginsAreNamed(env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  if (Object.keys(env).some((key) => NAME.test(key))) return true;
  const files = [join(ROOT, 'config', 'local.json'), ...(env['SVC_CONFIG'] === undefined ? [] : [env['SVC_CONFIG']])];
  return (await Promise.all(files.map(speaks))).includes(true);
}
