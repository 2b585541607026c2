// Writes `dist/adapters/cli/commands.json`: what help and wrong words need to know of every command
// (adapters/cli/table.ts), from a service with nothing configured.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { askedTable } from '../dist/adapters/cli/asked-table.js';

for (const name of Object.keys(process.env)) if (name.startsWith('SVC_')) delete process.env[name];
const { commands, whole } = await askedTable();
if (!whole) throw new Error('the commands of the plugins are not known');
await writeFile(
  join(import.meta.dirname, '..', 'dist', 'adapters', 'cli', 'commands.json'),
  `${JSON.stringify(commands, null, 2)}\n`,
);
