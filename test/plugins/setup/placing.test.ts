/**
 * What /installer answers while `serve` puts the update agents in place (contract 60): nobody is
 * told that there are none.
 */
import { expect } from 'chai';
import { buildInstallerRoutes } from '../../../plugins/setup/installer/routes.js';
import type { InstallerManifest } from '../../../ports/installers.js';
import { TestServer } from '../../adapters/hapi/support.js';

const NAME = 'update-agent-linux-x64';

describe('setup: while update agents are being installed', () => {
  const manifest: InstallerManifest = {
    schema: 1,
    version: '1.1.0',
    generated_at: '2026-11-20T08:00:00.000Z',
    files: [
      { name: NAME, runtime: 'linux-x64', kind: 'agent', size: 1, sha256: 'a'.repeat(64) },
      { name: 'update-agent-win-x64.exe', runtime: 'win-x64', kind: 'agent', size: 1, sha256: 'a'.repeat(64) },
    ],
  };
  let placing: InstallerManifest | null;
  let placed: InstallerManifest | null;
  let test: TestServer;

  before(async () => {
    const installers = { getPendingManifest: () => placing, readManifest: async () => placed, open: async () => null };
    test = await TestServer.create({ routes: buildInstallerRoutes(installers, () => 'https://aos.example') });
    await test.start();
  });
  after(() => test.stop());

  const answer = async (name: string): Promise<unknown[]> => {
    const response = await fetch(`${test.url}/installer/${name}`);
    const { error } = (await response.json()) as { error: { code: string } };
    return [response.status, error.code, response.headers.get('retry-after')];
  };

  for (const earlier of [null, manifest]) {
    it(`agents and installer.json return 503 not_ready, ${earlier === null ? 'at the first time' : 'earlier ones there or not'}`, async () => {
      placing = manifest;
      placed = earlier;
      for (const name of [NAME, `${NAME}x`, 'installer.json'])
        expect(await answer(name), name).to.deep.equal([503, 'not_ready', '5']);
    });
  }

  it('both scripts contain the hash of the same agents', async () => {
    placing = manifest;
    placed = null;
    for (const name of ['install.sh', 'install.ps1'])
      expect(await (await fetch(`${test.url}/installer/${name}`)).text(), name).to.include('a'.repeat(64));
  });

  it('returns 404 when no agents are configured', async () => {
    placing = null;
    placed = null;
    for (const name of [NAME, 'installer.json'])
      expect((await answer(name)).slice(0, 2), name).to.deep.equal([404, 'not_found']);
  });
});
