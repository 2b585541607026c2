/** `aos serve`: runs the service until SIGTERM or SIGINT. */
import type { CommandSpec } from '../kernel/contract.js';
import { compose } from '../main.js';

export const serve: CommandSpec = {
  name: 'serve',
  summary: 'Run the service.',
  async run() {
    const service = await compose('serve');
    const signal = new Promise<void>((resolve) => {
      for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve());
    });
    try {
      const { address, firstAdmin } = await service.boot();
      if (firstAdmin !== null) {
        process.stdout.write(`first administrator: ${firstAdmin.username}\n`);
        if (firstAdmin.password !== null)
          process.stdout.write(`password: ${firstAdmin.password}   (shown once; change it under /account)\n`);
      }
      process.stdout.write(`listening on ${address}\n`);
      await signal;
    } finally {
      await service.stop();
    }
    return { json: { stopped: true }, text: '' };
  },
};
