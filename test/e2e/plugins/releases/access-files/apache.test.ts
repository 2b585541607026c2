/**
 * This service alone, behind nginx as the guide sets it up, and the real Apache answer one table of
 * requests alike (contract 40, both ways of serving).
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { resolveAccessMode } from '../../../../../adapters/fs/access-mode.js';
import { correctModes } from '../../../../../adapters/fs/file-modes.js';
import { DAY_MS } from '../../../../../lib/time.js';
import { buildPackage } from '../../../../kit/contracts/release-store.js';
import {
  basic,
  get,
  KEY,
  nameOf,
  OTHER_KEY,
  PASSWORD,
  StoreFixture,
} from '../../../../plugins/releases/store-fixture.js';
import { startNginx, type Nginx } from '../../../../support/nginx.js';
import { Apache, INSTALLED, REQUIRED } from './apache.js';
import { TABLE } from '../../../../plugins/releases/access-files/table.js';

const BYTES = buildPackage({ 'a.txt': 'what is inside', 'b.txt': 'and more' });
const UMLAUTS = 'Übergrößenträger';
const PACKAGE = '/releases/shop/stable/1.0/any/package.tar.gz';

/**
 * The group of the web server: by it alone may Apache read the lists, where it is another user than
 * this service.
 */
const WEB_GROUP = process.getuid?.() === 0 && INSTALLED ? 'www-data' : null;

async function filled(): Promise<StoreFixture> {
  const fixture = await StoreFixture.open({ section: { web_group: WEB_GROUP, unpack_files: true } });
  for (const product of ['shop', 'other', 'free']) await fixture.publish({ product }, BYTES);
  await fixture.account('ivy');
  await fixture.account('mia', 'member');
  await fixture.account('ada');
  await fixture.command('user create', { username: 'uta', role: 'installer', 'password-stdin': true }, UMLAUTS);
  await fixture.command('user disable', { username: 'ada' });
  await fixture.licenses.set('shop', [await fixture.license(KEY)]);
  await fixture.licenses.set('other', [await fixture.license(OTHER_KEY)]);
  for (const file of ['.htaccess', '.htpasswd']) await rm(join(fixture.folder, 'releases', 'free', file));
  const access = await resolveAccessMode({ web_group: WEB_GROUP, web_path: null });
  const { folder } = fixture;
  await correctModes({ dataDir: folder, store: join(folder, 'releases'), others: [] }, access);
  return fixture;
}

function answers(who: () => { base: string; clock: StoreFixture['clock'] }): void {
  for (const row of TABLE) {
    it(`returns ${[row.status].flat().join(' or ')} for ${row.what}`, async () => {
      const { base, clock } = who();
      const { method, headers } = row;
      const answer = await get(base, row.path, { ...(method && { method }), ...(headers && { headers }) });
      // Counts of failed logins are forgotten after a day: they have a test of their own.
      clock.advance(DAY_MS + 1);
      expect([row.status].flat()).to.include(answer.status);
      if (answer.status === 401) expect(answer.headers['www-authenticate']).to.match(/^Basic realm="/);
      if (row.body === 'whole') expect(answer.body.equals(BYTES)).to.equal(true);
      if (row.body === 'part') expect(answer.body.equals(BYTES.subarray(2, 6))).to.equal(true);
      if (row.body === 'none') expect(answer.headers['content-length']).to.equal(String(BYTES.length));
      if (row.body !== undefined) expect(answer.headers).to.not.have.property('content-encoding');
    });
  }
}

describe('release store served by AOS', () => {
  let fixture: StoreFixture;
  before(async () => {
    fixture = await filled();
  });
  after(() => fixture.stop());
  answers(() => fixture);

  it('names the account and the supported credentials when user credentials are rejected', async () => {
    const headers = { authorization: basic('ivy', 'wrong password 12') };
    const answer = await get(fixture.base, PACKAGE, { headers });
    const { error } = JSON.parse(answer.body.toString()) as { error: { code: string; message: string } };
    expect(error.code).to.equal('unauthorized');
    expect(error.message).to.match(/account "ivy".*admin, installer, member.*license key/s);
    fixture.clock.advance(DAY_MS + 1);
  });

  it('returns 401 for failures 1 to 5 of an account, then 429, and always accepts a license key', async () => {
    const wrong = { headers: { authorization: basic('mia', 'wrong password 12') } };
    for (let i = 0; i < 5; i++) expect((await get(fixture.base, PACKAGE, wrong)).status).to.equal(401);
    const limited = await get(fixture.base, PACKAGE, wrong);
    expect(limited.status).to.equal(429);
    expect(Number(limited.headers['retry-after'])).to.be.at.least(1);
    const right = { headers: { authorization: basic('mia', PASSWORD) } };
    expect((await get(fixture.base, PACKAGE, right)).status).to.equal(429);
    const key = { headers: { authorization: basic(nameOf(KEY), KEY) } };
    expect((await get(fixture.base, PACKAGE, key)).status).to.equal(200);
    fixture.clock.advance(2_000);
    expect((await get(fixture.base, PACKAGE, right)).status).to.equal(200);
  });

  it('invalidates a cached verification when its line is removed from the file', async () => {
    const key = { headers: { authorization: basic(nameOf(KEY), KEY) } };
    expect((await get(fixture.base, PACKAGE, key)).status).to.equal(200);
    await fixture.licenses.set('shop', []);
    expect((await get(fixture.base, PACKAGE, key)).status).to.equal(401);
  });
});

describe('release store behind nginx, configured as in the guide', function () {
  let fixture: StoreFixture;
  let nginx: Nginx | null = null;
  before(async function () {
    fixture = await filled();
    const guide = await readFile(new URL('../../../../../../docs/reverse-proxy.md', import.meta.url), 'utf8');
    const shown = /```nginx\n(.+?)```/s.exec(guide)?.[1] ?? '';
    expect(shown).to.contain('proxy_pass http://127.0.0.1:8080;');
    nginx = await startNginx(shown.replace('http://127.0.0.1:8080', fixture.base));
    if (nginx !== null) return;
    if (REQUIRED) throw new Error('nginx is not installed');
    this.skip();
  });
  after(async () => {
    await nginx?.stop();
    await fixture?.stop();
  });
  answers(() => ({ base: nginx?.url ?? '', clock: fixture.clock }));

  it('is reported as protected by the self-test', async () => {
    fixture.target.url = nginx?.url ?? '';
    const { json, exit } = await fixture.command('store regenerate');
    expect(exit).to.equal(undefined);
    expect(json).to.deep.include({ protection: 'protected' });
  });
});

describe('release store behind Apache', function () {
  let fixture: StoreFixture;
  let apache: Apache | undefined;
  let home = '';
  before(async function () {
    if (!INSTALLED) {
      if (REQUIRED) throw new Error('apache2 and apache2-utils are not installed');
      this.skip();
    }
    fixture = await filled();
    home = await mkdtemp(join(tmpdir(), 'aos-apache-'));
    apache = await Apache.start(home, join(fixture.folder, 'releases'));
  });
  after(async () => {
    await apache?.stop();
    await fixture?.stop();
    if (home !== '') await rm(home, { recursive: true, force: true });
  });
  answers(() => ({ base: apache?.base ?? '', clock: fixture.clock }));

  it('is reported as protected by the self-test', async () => {
    fixture.target.url = apache?.base ?? '';
    const { json, exit } = await fixture.command('store regenerate');
    expect(exit).to.equal(undefined);
    expect(json).to.deep.include({ protection: 'protected' });
  });

  it('serves single files of a release to the credentials of its package', async () => {
    const sha256 = createHash('sha256').update('and more').digest('hex');
    const path = `/releases/shop/stable/1.0/any/files/${sha256}`;
    const key = { headers: { authorization: basic(nameOf(KEY), KEY) } };
    expect((await get(apache?.base ?? '', path)).status).to.equal(401);
    const answer = await get(apache?.base ?? '', path, key);
    expect([answer.status, answer.body.toString()]).to.deep.equal([200, 'and more']);
    expect((await get(apache?.base ?? '', path.replace(sha256, '0'.repeat(64)), key)).status).to.equal(404);
    const pool = `/releases/.files/${sha256.slice(0, 2)}/${sha256}`;
    if (WEB_GROUP !== null) expect((await get(apache?.base ?? '', pool, key)).status).to.equal(403);
  });

  it('contains only lines that htpasswd accepts', async () => {
    const verify = async (product: string, name: string, password: string): Promise<void> => {
      const file = join(fixture.folder, 'releases', product, '.htpasswd');
      await promisify(execFile)('htpasswd', ['-vb', file, name, password]);
    };
    await verify('shop', nameOf(KEY), KEY);
    await verify('other', nameOf(OTHER_KEY), OTHER_KEY);
    const people: Record<string, string> = { admin: PASSWORD, ivy: PASSWORD, mia: PASSWORD, uta: UMLAUTS };
    for (const [name, password] of Object.entries(people)) await verify('shop', name, password);
    const lines = (await fixture.read('shop', '.htpasswd')).split('\n').slice(1, -1);
    expect(lines.map((line) => line.split(':')[0])).to.deep.equal([nameOf(KEY), ...Object.keys(people)]);
  });

  it('is reported as open when Apache ignores .htaccess, and has its password hashes removed', async () => {
    await apache?.stop();
    apache = await Apache.start(home, join(fixture.folder, 'releases'), 'None');
    fixture.target.url = apache.base;
    const { json, exit } = await fixture.command('store selftest');
    expect(exit).to.equal(1);
    expect(json).to.deep.include({ protection: 'open', changed: true });
    expect(await fixture.read('shop', '.htpasswd')).to.equal('# aos-access format=3 product=shop\n');
  });
});
