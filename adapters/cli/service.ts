import type { KernelBootOptions } from '../../kernel/kernel.js';
import { loadConfig } from '../../config/load.js';
import { compose, requireStore, type Service } from '../../config/compose/compose.js';
import { handlePluginErrors } from './plugin-faults.js';

/**
 * @param threads of the embedded store: false for short work
 * @throws NoStore
 */
export async function withService<T>(
  options: KernelBootOptions & { threads?: boolean },
  work: (service: Service) => Promise<T>,
): Promise<T> {
  const { threads, ...boot } = options;
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
