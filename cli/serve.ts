/** `aos serve`: runs the service until SIGTERM or SIGINT. */
import type { CommandSpec } from '../kernel/contract.js';
import { compose } from '../main.js';
import { stopSignal } from './ending.js';

export const serve: CommandSpec = {
  name: 'serve',
  summary: 'Run the service.',
  async run() {
    const signal = stopSignal();
    const service = await compose('serve');
    // Also while it is starting; the failure of a stop comes out below.
    signal.then(() => service.stop()).catch(() => undefined);
    const { address, firstAdmin } = await service.boot();
    try {
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
