/** How the program stops (contract 95, shutdown). */
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { until } from '../harness.js';
import { TestService } from '../support/service.js';

/** Whether nobody listens there. */
const refuses = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => (socket.destroy(), resolve(false)));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  });

describe('start: stopping', function () {
  this.timeout(60_000);
  let service: TestService;
  afterEach(() => service.dispose());

  it('stops listening first on SIGTERM, while a job still runs', async () => {
    service = await TestService.create();
    const hold = join(service.dataDir, 'hold');
    const plugin = `
      import { existsSync, writeFileSync } from 'node:fs';
      const hold = ${JSON.stringify(hold)};
      export default {
        id: 'holder', version: '1.0.0', api: 1, title: 'Holder',
        setup: () => ({ jobs: [{ name: 'wait', everyMs: 200, run: async () => {
          writeFileSync(hold + '.held', '');
          while (existsSync(hold)) await new Promise((resolve) => setTimeout(resolve, 20));
        } }] }),
      };`;
    await writeFile(join(service.dataDir, 'holder.mjs'), plugin);
    await writeFile(join(service.dataDir, 'aos.json'), JSON.stringify({ plugins: ['./holder.mjs'] }));
    await writeFile(hold, '');
    service.env['SVC_CONFIG'] = join(service.dataDir, 'aos.json');
    await service.start();
    await until('the job runs', () => existsSync(`${hold}.held`), 20_000);
    const port = Number(new URL(service.url).port);
    const child = service.child!;
    const ended = service.end('SIGTERM');
    await until('new connections are refused', () => refuses(port), 8_000);
    expect([child.exitCode, child.signalCode]).to.deep.equal([null, null]);
    await rm(hold);
    expect(await ended).to.equal(0);
  });
});
