import { loadConfig } from '../../config/load.js';
import { formatTable } from '../../lib/format-table.js';
import type { PluginState } from '../../ports/domain/system.js';
import type { Composition, OwnCommand } from './composition.js';
import { withService } from './service.js';

async function loadStates(composition: Composition): Promise<readonly PluginState[]> {
  const { requireStore, readRunningPluginStates } = await composition.loadComposer();
  const { core } = await loadConfig();
  await requireStore(core);
  return (
    (await readRunningPluginStates(core.data_dir)) ??
    withService(composition, { threads: false }, ({ kernel }) => Promise.resolve(kernel.system.listPlugins()))
  );
}

export const pluginListCommand: OwnCommand = {
  name: 'plugin list',
  summary: 'List the plugins and their state',
  run: async (_call, composition) => {
    const items = await loadStates(composition);
    const rows = items.map(({ id, version, state, reason, title }) => [id, version, state, reason ?? title]);
    return { json: { items }, text: formatTable(['ID', 'VERSION', 'STATE', 'TITLE OR REASON'], rows) };
  },
};

export const pluginForgetCommand: OwnCommand = {
  name: 'plugin forget',
  summary: 'Forget the applied migrations of a plugin, so that all of them run at the next start',
  args: ['id'],
  run: ({ args: [id = ''] }, composition) =>
    withService(composition, { migrate: false, threads: false }, async ({ kernel }) => {
      const forgotten = await kernel.forgetMigrations(id);
      return {
        json: { id, forgotten },
        text: `Forgot ${forgotten.join(', ')}. Restart the service: the migrations of ${id} run again on its existing documents.`,
      };
    }),
};
