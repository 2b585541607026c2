import { blueprint } from '../../config/compose/compose.js';
import { outlivePlugins } from './plugin-faults.js';
import { ownCommands } from './own.js';
import { faceOf, type CommandFace } from './table.js';

export async function askedTable(): Promise<{ commands: readonly CommandFace[]; whole: boolean }> {
  const own = await ownCommands();
  try {
    const outlive = outlivePlugins();
    const service = outlive(await blueprint());
    await service.boot({ migrate: false });
    await service.stop();
    return { commands: [...own, ...service.kernel.commands().map(({ spec }) => spec)].map(faceOf), whole: true };
  } catch (error) {
    process.stderr.write(`commands of plugins are not known: ${(error as Error).message.split('\n')[0]}\n`);
    return { commands: own.map(faceOf), whole: false };
  }
}
