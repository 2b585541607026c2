/**
 * Table of all commands, built in advance (`commands.json`), so that help and usage errors need no
 * start.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandSpec } from '../../kernel/contract.js';

/** A command without its implementation. */
export type CommandFace = Omit<CommandSpec, 'run'>;

const WRITTEN = join(import.meta.dirname, 'commands.json');
export const faceOf = ({ name, summary, args, options }: CommandFace): CommandFace => ({
  name,
  summary,
  ...(args === undefined ? {} : { args }),
  ...(options === undefined ? {} : { options }),
});

export async function writtenTable(): Promise<readonly CommandFace[]> {
  return JSON.parse(await readFile(WRITTEN, 'utf8')) as CommandFace[];
}
