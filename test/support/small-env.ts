/** What deploy/small.env sets, for a service that is started as in a container with little memory. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { packageRoot } from '../../config/load.js';

export async function smallEnv(): Promise<Record<string, string>> {
  const text = await readFile(join(packageRoot(), 'deploy', 'small.env'), 'utf8');
  return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]));
}
