/** A service for one command, beside whatever else runs on the same store. */
import type { KernelBootOptions } from '../kernel/kernel.js';
import { compose, type Service } from '../main.js';
import { startIsOver } from './engine-flags.js';

/**
 * @param threads of the embedded store: `none` for short work, `writing` where only reads keep nothing waiting, jobs
 *   and leases neither
 */
export async function withService<T>(
  options: KernelBootOptions & { threads?: 'writing' | 'none' },
  work: (service: Service) => Promise<T>,
): Promise<T> {
  const { threads, ...boot } = options;
  const service = await compose('command', threads === undefined ? {} : { threads });
  await service.boot(boot);
  startIsOver();
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}
