/**
 * An uncaught error anywhere ends in rollback, restart and an exit code (contract 90, amendments).
 */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createKeys, ReleaseServer } from '../../../support/release-server.js';
import { waitUntil } from '../../../harness.js';
import { FAULTY, install, remove, runAgent, scratch, type Ran } from './agent.js';

const keys = createKeys();
/** Says that it was started, and by which version. */
const app = (version: string): string =>
  `require('node:fs').writeFileSync(require('node:path').join(__dirname, 'started'), '${version}')`;

describe('update-agent: an uncaught error', () => {
  let server: ReleaseServer;
  let dir: string;

  beforeEach(async () => {
    server = new ReleaseServer(keys);
    await server.start();
    dir = await scratch();
    const publish = (version: string) =>
      server.publish({ version, entry: 'app.cjs', files: [{ path: 'app.cjs', content: app(version) }] });
    await install(dir, publish('1.0.0'));
    publish('1.1.0');
  });
  afterEach(async () => {
    await server.stop();
    await remove(dir);
  });

  const updateWith = (point: string): Promise<Ran> =>
    runAgent(['--server', server.url, '--dir', dir, '--restart'], { program: FAULTY, env: { FAULT_THROW: point } });

  const POINTS: [point: string, code: number, version: string][] = [
    ['staged', 1, '1.0.0'],
    ['before journal', 4, '1.0.0'],
    ['journal begun', 4, '1.0.0'],
    ['before commit', 0, '1.1.0'],
  ];
  for (const [point, code, version] of POINTS)
    it(`at "${point}" exits ${code}, with ${version} installed and started (S01)`, async () => {
      const ran = await updateWith(point);
      expect(ran, ran.stderr).to.include({ code, signal: null });
      expect(await readFile(join(dir, 'app.cjs'), 'utf8')).to.equal(app(version));
      if (code !== 0) expect(ran.stderr).to.include('unexpected error: of a library');
      const started = (): Promise<string> => readFile(join(dir, 'started'), 'utf8').catch(() => '');
      await waitUntil(`${version} is started`, async () => (await started()) === version, 60_000);
    });
});
