/** Built in advance, so that help and usage errors need no start. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandSpec } from '../../kernel/contract/index.js';

export type CommandSummary = Omit<CommandSpec, 'run'>;

const COMMANDS_FILE = join(import.meta.dirname, 'commands.json');
export const toCommandSummary = ({ name, summary, args, options }: CommandSummary): CommandSummary => ({
  name,
  summary,
  ...(args === undefined ? {} : { args }),
  ...(options === undefined ? {} : { options }),
});

export async function readBuiltCommands(): Promise<readonly CommandSummary[]> {
  return JSON.parse(await readFile(COMMANDS_FILE, 'utf8')) as CommandSummary[];
}
