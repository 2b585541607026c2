/**
 * Access files follow accounts and licenses, and the self-test sees what strangers see (contract
 * 40, access files).
 */
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { HOUR_MS } from '../../../../lib/time.js';
import { DiskFull, DiskUnwritable } from '../../../../ports/release-store.js';
import { getRejection } from '../../../harness.js';
import { KEY, nameOf, OTHER_KEY, StoreFixture } from '../store-fixture.js';

describe('access files of the release store', function () {
  let fixture: StoreFixture;
  beforeEach(async () => {
    fixture = await StoreFixture.open();
    await fixture.publish();
  });
  afterEach(() => fixture.stop());
  const names = async (product = 'shop'): Promise<string[]> =>
    (await fixture.read(product, '.htpasswd'))
      .split('\n')
      .slice(1, -1)
      .map((line) => line.slice(0, line.indexOf(':')));
  const written = async (): Promise<bigint> =>
    (await stat(join(fixture.folder, 'releases', 'shop', '.htpasswd'), { bigint: true })).mtimeNs;

  it('contain every enabled account and license of the product when the change is acknowledged', async () => {
    expect(await names()).to.deep.equal(['admin']);
    await fixture.account('ada');
    await fixture.account('bob', 'member');
    expect(await names()).to.deep.equal(['ada', 'admin', 'bob']);
    await fixture.licenses.set('shop', [await fixture.license(KEY)]);
    expect(await names()).to.deep.equal([nameOf(KEY), 'ada', 'admin', 'bob']);
    await fixture.command('user disable', { username: 'ada' });
    expect(await names()).to.deep.equal([nameOf(KEY), 'admin', 'bob']);
    await fixture.licenses.set('shop', []);
    expect(await names()).to.deep.equal(['admin', 'bob']);
    expect(await fixture.read('shop', '.htpasswd')).to.match(
      /^# aos-access format=3 product=shop\nadmin:\$2y\$04\$[./\w]{53}\nbob:\$2y\$04\$[./\w]{53}\n$/,
    );
  });

  it('are written only when due and different', async () => {
    await fixture.care.run();
    const first = await written();
    expect((await fixture.care.run()).regenerated).to.deep.equal([]);
    fixture.clock.advance(6 * HOUR_MS - 1_000);
    expect((await fixture.care.run()).regenerated).to.deep.equal([]);
    fixture.clock.advance(1_000);
    expect((await fixture.care.run()).regenerated).to.deep.equal(['shop']);
    expect(await written()).to.equal(first);
    await rm(join(fixture.folder, 'releases', 'shop', '.htaccess'));
    expect((await fixture.care.run()).regenerated).to.deep.equal(['shop']);
    expect(await fixture.read('shop', '.htaccess')).to.match(/^# aos-access format=3 product=shop\n/);
    await fixture.publish({ product: 'app' });
    // The first publish has written them.
    expect((await fixture.care.run()).regenerated).to.deep.equal([]);
    expect(await names('app')).to.deep.equal(['admin']);
  });

  it('created by others are never overwritten by a publish, which reports folder and product', async () => {
    const blog = join(fixture.folder, 'releases', 'blog');
    await mkdir(blog);
    await writeFile(join(blog, '.htaccess'), 'Require all denied\n');
    const rejected = await getRejection(fixture.publish({ product: 'blog' }));
    expect(rejected.message).to.match(/^publish: 409 /);
    expect(JSON.parse(rejected.message.slice('publish: 409 '.length)).error).to.deep.include({
      code: 'conflict',
      message:
        `${blog} does not belong to this service: it contains ".htaccess". Move it elsewhere, or set releases.path to ` +
        `a separate directory (now ${join(fixture.folder, 'releases')}).`,
    });
    expect(await readdir(blog)).to.deep.equal(['.htaccess']);
    expect(await fixture.read('blog', '.htaccess')).to.equal('Require all denied\n');
    await rm(blog, { recursive: true });
    await fixture.publish({ product: 'blog' });
    expect(await names('blog')).to.deep.equal(['admin']);
  });

  it('are rewritten in another format and after manual edits', async () => {
    await fixture.care.run();
    for (const file of ['.htaccess', '.htpasswd']) {
      const right = await fixture.read('shop', file);
      for (const text of [right.replace('format=3', 'format=2'), right.replace('product=shop', 'product=blog'), '']) {
        await writeFile(join(fixture.folder, 'releases', 'shop', file), text);
        expect((await fixture.care.run()).regenerated, `${file} ${text.slice(0, 40)}`).to.deep.equal(['shop']);
        expect(await fixture.read('shop', file)).to.equal(right);
      }
    }
    expect((await fixture.care.run()).regenerated).to.deep.equal([]);
  });

  it('are due when a license in them expires', async () => {
    const ends = new Date(fixture.clock.now() + 60_000).toISOString();
    await fixture.licenses.set('shop', [await fixture.license(KEY, ends)]);
    await fixture.care.run();
    fixture.licenses.rows.set('shop', []);
    expect((await fixture.care.run()).regenerated).to.deep.equal([]);
    fixture.clock.advance(60_000);
    expect((await fixture.care.run()).regenerated).to.deep.equal(['shop']);
    expect(await names()).to.deep.equal(['admin']);
  });

  it('contain the last of many concurrent changes', async () => {
    const [one, two] = [await fixture.license(KEY), await fixture.license(OTHER_KEY)];
    await Promise.all([
      fixture.licenses.set('shop', [one]),
      fixture.care.run(),
      fixture.licenses.set('shop', [one, two]),
      fixture.care.run(true),
      fixture.licenses.set('shop', [two]),
    ]);
    expect(await names()).to.deep.equal([nameOf(OTHER_KEY), 'admin']);
  });

  it('are tested by requests without a credential, which the server must reject', async () => {
    expect(await fixture.care.run()).to.deep.include({ protection: 'protected', changed: true });
    const result = await fixture.command('store selftest');
    expect(result.exit).to.equal(0);
    expect(result.json).to.deep.include({ regenerated: [], changed: false });
  });

  describe('behind a web server without access control', () => {
    let server: Server;
    beforeEach(async () => {
      server = createServer((request, response) => {
        const path = (request.url ?? '').replace('/releases/', '');
        fixture.read(...path.split('/')).then(
          (text) => response.end(text),
          () => response.writeHead(404).end(),
        );
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      fixture.target.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    afterEach(() => server.close());

    it('contain no hashes until they are written explicitly', async () => {
      const state = await fixture.care.run();
      expect(state).to.deep.include({ protection: 'open', changed: true });
      expect(state.products[0]?.statuses).to.include({ htpasswd: 200 });
      const cut = '# aos-access format=3 product=shop\n';
      expect(await fixture.read('shop', '.htpasswd')).to.equal(cut);
      await fixture.account('ada');
      fixture.clock.advance(6 * HOUR_MS);
      await fixture.care.run();
      expect(await fixture.read('shop', '.htpasswd')).to.equal(cut);
      fixture.target.url = fixture.base;
      const by = await fixture.command('store regenerate');
      expect(by.json).to.deep.include({ protection: 'protected', regenerated: ['shop'], changed: true });
      expect(await names()).to.deep.equal(['ada', 'admin']);
    });

    it('never replace a file that begins with another line', async () => {
      await fixture.care.run();
      await writeFile(join(fixture.folder, 'releases', 'shop', '.htpasswd'), '# by hand\nada:x\n');
      const result = await fixture.command('store selftest');
      expect(result).to.deep.include({ exit: 1 });
      expect(await fixture.read('shop', '.htpasswd')).to.equal('# by hand\nada:x\n');
    });
  });

  it('of a product published since the last test are listed, and tested in the next run', async () => {
    const state = async (): Promise<unknown> =>
      (await fixture.harness.kernel.system.checkHealth())['releases']?.['protection' as never];
    await fixture.withdrawn();
    await fixture.command('store selftest');
    expect(await state()).to.equal('no_packages');
    await fixture.publish({ version: '2.0' });
    expect(await state()).to.equal('not_tested');
    expect(await fixture.care.run()).to.deep.include({ regenerated: [], protection: 'protected' });
    expect(await state()).to.equal('protected');
    expect((await fixture.care.run()).last_selftest_at).to.equal(fixture.clock.iso());
  });

  it('report in health when the server does not respond and when they are missing', async () => {
    const health = async (): Promise<object | undefined> =>
      (await fixture.harness.kernel.system.checkHealth())['releases'];
    fixture.target.url = 'http://127.0.0.1:1';
    expect(await health()).to.include({ ok: true, protection: 'not_tested', last_selftest_at: null });
    const state = await fixture.care.run();
    expect(state.protection).to.equal('inconclusive');
    expect(state.products[0]?.statuses).to.deep.equal({ htpasswd: null, package: null });
    expect(await health()).to.include({ ok: false, protection: 'inconclusive', last_selftest_at: fixture.clock.iso() });
    fixture.target.url = fixture.base;
    await fixture.command('store selftest');
    expect(await health()).to.include({ ok: true, protection: 'protected' });
    await rm(join(fixture.folder, 'releases', 'shop', '.htaccess'));
    expect(await health()).to.deep.include({ ok: false, protection: 'open', unprotected: ['shop'] });
  });

  it('report in health why the store accepts no release, until it does again', async () => {
    const health = async (): Promise<object | undefined> =>
      (await fixture.harness.kernel.system.checkHealth())['releases'];
    expect(await health()).to.include({ ok: true, write_fault: null });
    const faults: Error[] = [new DiskUnwritable('it is read-only'), new DiskFull('it is full')];
    fixture.files.probe = async () => {
      const fault = faults.shift();
      if (fault !== undefined) throw fault;
    };
    const found: unknown[] = [];
    // That it can be written is believed for half a minute, why not for a second.
    for (const later of [31_000, 1_000, 1_000]) {
      fixture.clock.advance(later);
      for (let again = 0; again < 2; again++) found.push(await health());
    }
    const said = (ok: boolean, write_fault: string | null): object => ({ ok, write_fault });
    expect(
      found.map((one) => said((one as { ok: boolean }).ok, (one as { write_fault: string }).write_fault)),
    ).to.deep.equal([
      said(false, 'it is read-only'),
      said(false, 'it is read-only'),
      said(false, 'it is full'),
      said(false, 'it is full'),
      said(true, null),
      said(true, null),
    ]);
    faults.push(new DiskFull('it is full again'));
    fixture.clock.advance(29_000);
    expect(await health()).to.include(said(true, null));
    fixture.clock.advance(1_000);
    expect(await health()).to.include(said(false, 'it is full again'));
  });
});
