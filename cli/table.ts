/**
 * Every command, as far as its help and its words go. The build writes them down (`commands.json`), so that help and
 * wrong words cost no start; where the configuration adds plugins or switches some off, the plugins are asked.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandSpec } from '../kernel/contract.js';
import { ownCommands } from './own.js';

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

/**
 * From a service that touches nothing. `whole` is false with a configuration or plugins that are at fault: then there
 * are the service's own commands, and another one's start says what is wrong.
 */
export async function askedTable(): Promise<{ commands: readonly CommandFace[]; whole: boolean }> {
  const own = await ownCommands();
  try {
    const { blueprint } = await import('../main.js');
    const service = await blueprint();
    await service.boot({ migrate: false });
    await service.stop();
    return { commands: [...own, ...service.kernel.commands().map(({ spec }) => spec)].map(faceOf), whole: true };
  } catch (error) {
    process.stderr.write(`commands of plugins are not known: ${(error as Error).message.split('\n')[0]}\n`);
    return { commands: own.map(faceOf), whole: false };
  }
}
