/** Packages are protected before the first byte is served (contract 40, access files). */
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { SqliteStore } from '../../../../adapters/sqlite/store.js';
import { AUDIT } from '../../../../ports/domain/audit.js';
import { waitUntil } from '../../../harness.js';
import { basic, get, PASSWORD, StoreFixture } from '../store-fixture.js';

const PACKAGE = '/releases/shop/stable/1.0/any/package.tar.gz';
const AS_ADMIN = { headers: { authorization: basic('admin', PASSWORD) } };

describe('release store after startup', function () {
  let fixture: StoreFixture;
  const open = (folder: string): Promise<StoreFixture> =>
    StoreFixture.open({ folder, store: new SqliteStore({ path: join(folder, 'aos.db'), durability: 'normal' }) });
  beforeEach(async () => {
    fixture = await open(await mkdtemp(join(tmpdir(), 'aos-store-')));
    await fixture.publish();
  });
  afterEach(() => fixture.stop());

  const accessFile = (name: string): string => join(fixture.folder, 'releases', 'shop', name);
  async function restartAfter(change: () => Promise<unknown>): Promise<void> {
    await fixture.harness.stop();
    await change();
    fixture = await open(fixture.folder);
  }
  const status = async (path: string, options = {}): Promise<number> => (await get(fixture.base, path, options)).status;

  const damages: [what: string, change: () => Promise<unknown>][] = [
    [
      'has no access files, as after a restore',
      () => Promise.all(['.htaccess', '.htpasswd'].map((name) => rm(accessFile(name)))),
    ],
    ['has no .htaccess', () => rm(accessFile('.htaccess'))],
    ['has no .htpasswd', () => rm(accessFile('.htpasswd'))],
    ['has files of another format', () => writeFile(accessFile('.htaccess'), '# aos-access format=2 product=shop\n')],
    ['was closed by a restore', () => writeFile(accessFile('.htaccess'), '# aos-access closed\nRequire all denied\n')],
  ];
  for (const [what, change] of damages)
    it(`rejects anonymous requests and accepts accounts when a product ${what}`, async () => {
      await restartAfter(change);
      expect(await fixture.read('shop', '.htaccess')).to.contain('Require valid-user');
      expect(await status(PACKAGE)).to.equal(401);
      expect(await status(PACKAGE, AS_ADMIN)).to.equal(200);
    });

  it('rejects anonymous requests when the access files cannot be written', async () => {
    await restartAfter(async () => {
      await rm(accessFile('.htaccess'));
      // No file can take its place.
      await mkdir(join(accessFile('.htaccess'), 'in the way'), { recursive: true });
    });
    expect(await readdir(accessFile('.htaccess'))).to.deep.equal(['in the way']);
    expect(await status(PACKAGE)).to.equal(401);
    expect(await status('/releases/shop/stable/9.9/any/package.tar.gz')).to.equal(404);
  });

  it('rejects anonymous requests for a package folder copied into the running store', async () => {
    await cp(accessFile('stable'), join(fixture.folder, 'releases', 'copied', 'stable'), { recursive: true });
    expect(await status(PACKAGE.replace('shop', 'copied'))).to.equal(401);
  });

  it('records denials in the audit log, except for those that its self-test expects', async () => {
    const audit = fixture.harness.kernel.findService(AUDIT);
    const listDenials = async (): Promise<unknown[]> => {
      const { items } = (await audit?.listRecent(100)) ?? { items: [] };
      return items.filter(({ action }) => action.endsWith('.refused')).map(({ details }) => details['request_id']);
    };
    await fixture.command('store selftest');
    await fixture.command('store selftest');
    // Repeats from one address are counted with the first, which must not be the self-test's.
    const id = '0190a000-0000-7000-8000-00000000abcd';
    const forged = { headers: { 'x-aos-selftest': 'x'.repeat(43), 'x-request-id': id } };
    expect(await status('/releases/shop/.htpasswd', forged)).to.equal(403);
    await waitUntil('the denial is recorded', async () => (await listDenials()).length > 0);
    expect(await listDenials()).to.deep.equal([id]);
  });

  it('serves no package without a release', async () => {
    const folders = ['2.0/any', '1.0/win-x64', '1.0.0/any', '01.0/any'];
    for (const folder of folders)
      await cp(accessFile('stable/1.0/any'), accessFile(join('stable', folder)), { recursive: true });
    for (const folder of folders)
      for (const name of ['package.tar.gz', 'manifest.json', 'manifest.sig'])
        expect(await status(`/releases/shop/stable/${folder}/${name}`, AS_ADMIN), folder).to.equal(404);
    expect(await status(PACKAGE, AS_ADMIN)).to.equal(200);
  });
});
