/** A lower version is installed only where the signed statement states a rollback (contract 97). */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createKeys, ReleaseServer, sha256, type TestRelease } from '../../support/release-server.js';
import { install, remove, runHere, scratch, treeOf, type Ran } from './agent.js';

const keys = createKeys();
const AT = '2026-11-20T09:00:00.000Z';

describe('update-agent: rollback by the server', function () {
  let server: ReleaseServer;
  let dir: string;
  let earlier: TestRelease;
  let later: TestRelease;
  const publish = (version: string): TestRelease =>
    server.publish({ version, files: [{ path: 'app.txt', content: version }] });
  const go = (...args: string[]): Promise<Ran> => runHere(['--server', server.url, '--dir', dir, ...args]);
  const readHighest = async (): Promise<unknown> =>
    (JSON.parse(await readFile(join(dir, '.update-agent/state.json'), 'utf8')) as Record<string, unknown>)[
      'highest_version'
    ];

  /** Offers 1.0.0 to every version, with a statement that has these fields as well. */
  function offerEarlier(fields: Record<string, unknown>, offered = earlier): void {
    server.releases.splice(0, server.releases.length, offered);
    server.lies.check = (body) => ({
      ...body,
      update_available: true,
      signed: true,
      release: {
        version: offered.version,
        channel: 'stable',
        platform: 'any',
        package_url: offered.url,
        package_size: offered.archive.length,
        package_sha256: sha256(offered.archive),
        manifest_json: offered.manifest,
        manifest_signature: offered.signature,
        key_id: keys.id,
      },
    });
    server.lies.statement = (statement) => ({ ...statement, ...fields });
  }

  beforeEach(async () => {
    server = new ReleaseServer(keys);
    await server.start();
    earlier = publish('1.0.0');
    later = publish('1.2.0');
    dir = await scratch();
    await install(dir, earlier);
    expect(await go()).to.include({ code: 0, stdout: 'UPDATED: 1.0.0 -> 1.2.0\n' });
  });
  afterEach(async () => {
    await server.stop();
    await remove(dir);
  });

  it('installs the lower version, and later versions between the two afterwards', async () => {
    const rollback = { from: '1.2.0', to: '1.0.0', at: AT };
    offerEarlier({ rollback });
    expect(await go(), 'rollback').to.include({ code: 0, stdout: 'UPDATED: 1.2.0 -> 1.0.0\n' });
    expect(await readFile(join(dir, 'app.txt'), 'utf8')).to.equal('1.0.0');
    expect(await readHighest()).to.equal('1.0.0');
    server.lies = { statement: (statement) => ({ ...statement, rollback }) };
    expect(await go()).to.include({ code: 0, stdout: 'UP_TO_DATE: 1.0.0\n' });
    publish('1.1.0');
    expect(await go(), 'a fix between the two').to.include({ code: 0, stdout: 'UPDATED: 1.0.0 -> 1.1.0\n' });
  });

  it('accepts the rollback with --require-signed, and a release between the two versions', async () => {
    const between = publish('1.1.0');
    offerEarlier({ rollback: { from: '1.3.0', to: '1.0.0', at: AT } }, between);
    expect(await go('--require-signed')).to.include({ code: 0, stdout: 'UPDATED: 1.2.0 -> 1.1.0\n' });
  });

  const rejected: [what: string, fields: Record<string, unknown>][] = [
    ['states no rollback', {}],
    ['states a rollback from a lower version', { rollback: { from: '1.1.0', to: '1.0.0', at: AT } }],
    ['states a rollback to a higher version', { rollback: { from: '1.2.0', to: '1.1.0', at: AT } }],
    ['has a rollback of another form', { rollback: { from: 'x', to: '1.0.0', at: AT } }],
    ['has a rollback that is no object', { rollback: true }],
    [
      'has a different manifest for the newest release',
      {
        rollback: { from: '1.2.0', to: '1.0.0', at: AT },
        latest: { any: { version: '1.0.0', manifest_sha256: '0'.repeat(64) } },
      },
    ],
    [
      'names another version as the newest',
      {
        rollback: { from: '1.2.0', to: '0.9.0', at: AT },
        latest: { any: { version: '0.9.0', manifest_sha256: '0'.repeat(64) } },
      },
    ],
    [
      'has expired',
      { rollback: { from: '1.2.0', to: '1.0.0', at: AT }, expires_at: new Date(Date.now() - 1_000).toISOString() },
    ],
    [
      'is older than a previous one',
      { rollback: { from: '1.2.0', to: '1.0.0', at: AT }, issued_at: '2026-01-01T00:00:00.000Z' },
    ],
  ];
  for (const [what, { latest, ...fields }] of rejected)
    it(`rejects the lower version when the statement ${what}`, async () => {
      const before = await treeOf(dir);
      offerEarlier(fields);
      const { statement: state } = server.lies;
      server.lies.statement = (body) => {
        const said = state?.(body) as Record<string, Record<string, unknown>>;
        if (latest === undefined) return said;
        const platforms = Object.keys(said['latest'] ?? {});
        const { any } = latest as Record<string, unknown>;
        return { ...said, latest: Object.fromEntries(platforms.map((name) => [name, any])) };
      };
      expect((await go()).code).to.equal(3);
      expect(await treeOf(dir)).to.deep.equal(before);
      expect(await readHighest()).to.equal('1.2.0');
    });

  it('rejects the lower version when the statement is signed by another key, or missing', async () => {
    offerEarlier({ rollback: { from: '1.2.0', to: '1.0.0', at: AT } });
    server.lies.freshness = (body) => ({ ...body, signature: later.signature });
    expect((await go()).code).to.equal(3);
    server.lies.freshness = () => ({ status: 'success' });
    expect((await go()).code).to.equal(3);
    expect(await readFile(join(dir, 'app.txt'), 'utf8')).to.equal('1.2.0');
  });
});
