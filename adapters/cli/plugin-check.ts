import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { loadConfig } from '../../config/load.js';
import type { Composition, OwnCommand, ComposedService } from './composition.js';
import { EXIT_CODES } from './output.js';
import { handlePluginErrors } from './plugin-faults.js';

const OBSERVE_MS = 300;

async function withPlugin<T>(
  composition: Composition,
  entry: string,
  work: (service: ComposedService) => Promise<T>,
): Promise<T> {
  const { composeInMemory } = await composition.loadComposer();
  const folder = await mkdtemp(join(tmpdir(), 'aos-check-'));
  try {
    const env = {
      SVC_DATA_DIR: folder,
      SVC_STORAGE_URL: 'memory:',
      SVC_PLUGINS: JSON.stringify([entry]),
      SVC_LOG_LEVEL: 'silent',
    };
    const configuration = await loadConfig({ env });
    const outlive = handlePluginErrors();
    const service = outlive(await composeInMemory({ configuration }, 'serve'));
    try {
      await service.boot({ listen: false, start: false, jobs: false });
      await pause(OBSERVE_MS);
      return await work(service);
    } finally {
      await service.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const formatCount = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`;

export const pluginCheckCommand: OwnCommand = {
  name: 'plugin check',
  summary: 'Check a plugin as the service does at start, without starting it',
  args: ['path'],
  run: async ({ args: [given = ''] }, composition) => {
    const path = resolve(given);
    const entry = existsSync(path) ? path : given;
    return withPlugin(composition, entry, async ({ kernel }) => {
      const builtin = new Set(kernel.listBuiltinIds());
      const state = kernel.system.listPlugins().find(({ id }) => !builtin.has(id));
      if (state === undefined) throw new Error(`${given} is not loaded`);
      const { id, version, reason } = state;
      const own = (all: readonly { plugin: string }[]): number => all.filter(({ plugin }) => plugin === id).length;
      const parts = {
        routes: own(kernel.listRoutes()),
        pages: own(kernel.listPages()),
        commands: own(kernel.listCommands()),
      };
      const ok = state.state !== 'failed';
      const detail = [
        formatCount(parts.routes, 'route'),
        formatCount(parts.pages, 'page'),
        formatCount(parts.commands, 'command'),
      ].join(', ');
      return {
        json: { id, version, ok, reason, ...parts },
        text: ok ? `${id} ${version}: ok, ${detail}` : `${id} ${version}: ${reason}`,
        exit: ok ? EXIT_CODES.ok : EXIT_CODES.error,
      };
    });
  },
};
