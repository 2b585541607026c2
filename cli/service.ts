/** A service for one command, beside whatever else runs on the same store. */
import type { KernelBootOptions } from '../kernel/kernel.js';
import { compose, type Service } from '../main.js';
import { startIsOver } from './engine-flags.js';

export async function withService<T>(options: KernelBootOptions, work: (service: Service) => Promise<T>): Promise<T> {
  const service = await compose('command');
  await service.boot(options);
  startIsOver();
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}
