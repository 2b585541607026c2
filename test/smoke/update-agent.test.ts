/** The real update agent installs one package; test/e2e/clients/agent has the rest. */
import { expect } from 'chai';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { install, remove, runAgent, scratch } from '../e2e/clients/agent/agent.js';
import { createKeys, ReleaseServer } from '../support/release-server.js';

describe('smoke: the update agent', () => {
  let server: ReleaseServer;
  let dir: string;
  before(async () => {
    server = new ReleaseServer(createKeys());
    await server.start();
    dir = await scratch();
  });
  after(async () => {
    await server.stop();
    await remove(dir);
  });

  it('installs the package of a newer version', async () => {
    await install(dir, server.publish({ version: '1.0.0', files: [{ path: 'app.sh', content: 'echo 1\n' }] }));
    server.publish({ version: '1.1.0', files: [{ path: 'app.sh', content: 'echo 2\n', mode: '0755' }] });
    const ran = await runAgent(['--server', server.url, '--dir', dir, '--channel', 'stable']);
    expect(ran).to.include({ code: 0, stdout: 'UPDATED: 1.0.0 -> 1.1.0\n' });
    expect(await readFile(join(dir, 'app.sh'), 'utf8')).to.equal('echo 2\n');
    expect((await stat(join(dir, 'app.sh'))).mode & 0o777).to.equal(0o755);
  });
});
