import type { KernelBootOptions } from '../../kernel/kernel.js';
import { loadConfig } from '../../config/load.js';
import type { Composition, ComposedService } from './composition.js';
import { handlePluginErrors } from './plugin-faults.js';

/**
 * @param threads of the embedded store: false for short work
 * @throws NoStore
 */
export async function withService<T>(
  composition: Composition,
  options: KernelBootOptions & { threads?: boolean },
  work: (service: ComposedService) => Promise<T>,
): Promise<T> {
  const { threads, ...boot } = options;
  const { compose, requireStore } = await composition.loadComposer();
  const configuration = await loadConfig();
  await requireStore(configuration.core);
  const outlive = handlePluginErrors();
  const service = outlive(await compose('command', { configuration, ...(threads !== undefined && { threads }) }));
  await service.boot(boot);
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}
