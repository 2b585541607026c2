import type { Composition } from './composition.js';
import { handlePluginErrors } from './plugin-faults.js';
import { loadOwnCommands } from './own-commands.js';
import { toCommandSummary, type CommandSummary } from './table.js';

export async function loadCommandTable(
  composition: Composition,
): Promise<{ commands: readonly CommandSummary[]; whole: boolean }> {
  const own = await loadOwnCommands();
  try {
    const { composeInMemory } = await composition.loadComposer();
    const outlive = handlePluginErrors();
    const service = outlive(await composeInMemory());
    await service.boot({ migrate: false });
    await service.stop();
    return {
      commands: [...own, ...service.kernel.listCommands().map(({ spec }) => spec)].map(toCommandSummary),
      whole: true,
    };
  } catch (error) {
    process.stderr.write(`commands of plugins cannot be listed: ${(error as Error).message.split('\n')[0]}\n`);
    return { commands: own.map(toCommandSummary), whole: false };
  }
}
