// Writes `dist/cli/commands.json`: the data that help and unknown commands need, from a service
// without configuration.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { composition } from '../dist/config/compose/composition.js';
import { loadCommandTable } from '../dist/adapters/cli/asked-table.js';

for (const name of Object.keys(process.env)) if (name.startsWith('SVC_')) delete process.env[name];
const { commands, whole } = await loadCommandTable(composition);
if (!whole) throw new Error('the commands of the plugins are not known');
await writeFile(
  join(import.meta.dirname, '..', 'dist', 'adapters', 'cli', 'commands.json'),
  `${JSON.stringify(commands, null, 2)}\n`,
);
