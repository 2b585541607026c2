/** `aos plugin list`: the plugins as this configuration loads them. */
import type { CommandSpec } from '../kernel/contract.js';
import { withService } from './service.js';

export const pluginList: CommandSpec = {
  name: 'plugin list',
  summary: 'List the plugins and their state.',
  run: () =>
    withService({ threads: 'none' }, ({ kernel }) => {
      const items = kernel.system.plugins();
      const lines = items.map(
        (p) => `${p.id.padEnd(14)} ${p.version.padEnd(8)} ${p.state.padEnd(8)} ${p.reason ?? p.title}`,
      );
      return Promise.resolve({ json: { items }, text: lines.join('\n') });
    }),
};
