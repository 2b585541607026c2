/**
 * Downloads through a server that closes the connection after its answer (contract 90, amendments).
 */
import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createKeys, ReleaseServer } from '../../../support/release-server.js';
import { install, remove, runAgent, scratch } from './agent.js';

describe('update-agent: proxy that sends Connection: close', () => {
  let server: ReleaseServer;
  let front: Server;
  const folders: string[] = [];

  before(async () => {
    server = new ReleaseServer(createKeys());
    await server.start();
    front = createServer((requested, answer) => {
      const { method, headers, url } = requested;
      const behind = request(new URL(url ?? '/', server.url), { method, headers }, (found) => {
        answer.writeHead(found.statusCode ?? 502, { ...found.headers, connection: 'close' });
        found.pipe(answer);
      });
      requested.pipe(behind);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => front.once('listening', resolve));
  });
  after(async () => {
    front.closeAllConnections();
    front.close();
    await server.stop();
    for (const folder of folders) await remove(folder);
  });

  it('updates successfully every time, with packages of 1 to 60 MB (S01)', async () => {
    const { port } = front.address() as AddressInfo;
    const address = `http://127.0.0.1:${port}`;
    for (const [n, megabytes] of [1, 10, 60, 60, 60].entries()) {
      server.releases.length = 0;
      const dir = await scratch();
      folders.push(dir);
      await install(dir, server.publish({ version: '1.0.0', files: [{ path: 'a', content: '1' }] }));
      const content = randomBytes(megabytes * 1_000_000);
      server.publish({ version: '1.1.0', files: [{ path: 'a', content }] });
      const ran = await runAgent(['--server', address, '--dir', dir, '--channel', 'stable']);
      expect(ran, `run ${n}, ${megabytes} MB: ${ran.stderr}`).to.include({ code: 0 });
      expect((await readFile(join(dir, 'a'))).equals(content), `${megabytes} MB`).to.equal(true);
    }
  });
});
