/**
 * Every command, as far as its help and its words go. The build writes them down (`commands.json`), so that help and
 * wrong words cost no start; where the configuration adds plugins or switches some off, the plugins are asked
 * (asked-table.ts).
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandSpec } from '../../kernel/contract.js';

/** What is said of a command. */
export type CommandFace = Omit<CommandSpec, 'run'>;

const WRITTEN = join(import.meta.dirname, 'commands.json');
export const faceOf = ({ name, summary, args, options }: CommandFace): CommandFace => ({
  name,
  summary,
  ...(args === undefined ? {} : { args }),
  ...(options === undefined ? {} : { options }),
});

/** As the build wrote them: the service's own, and those of the built-in plugins. */
export async function writtenTable(): Promise<readonly CommandFace[]> {
  return JSON.parse(await readFile(WRITTEN, 'utf8')) as CommandFace[];
}
