/** Without loading the configuration code. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const CONFIG_ROOT = join(import.meta.dirname, '..', '..');
const PLUGIN_VARIABLE_PATTERN = /^SVC_.*plugins/i;
/** A key with an escape sequence may be any key. */
const PLUGIN_TEXT_PATTERN = /plugins|\\u/i;

/** An unreadable file counts as a match. */
async function canMentionPlugins(path: string): Promise<boolean> {
  try {
    return PLUGIN_TEXT_PATTERN.test(await readFile(path, 'utf8'));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

/** False only if exactly the built-in plugins run. */
export async function arePluginsConfigured(env: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  if (Object.keys(env).some((key) => PLUGIN_VARIABLE_PATTERN.test(key))) return true;
  const files = [
    join(CONFIG_ROOT, 'config', 'local.json'),
    ...(env['SVC_CONFIG'] === undefined ? [] : [env['SVC_CONFIG']]),
  ];
  return (await Promise.all(files.map(canMentionPlugins))).includes(true);
}
