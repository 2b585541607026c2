/**
 * The attacks of the update field by their published names (TUF, "Security"; contract 90, update,
 * freshness and key pinning), against a server that lies. Each ends with the exit code of the
 * contract, and the installation as it was.
 */
import { expect } from 'chai';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  buildArchive,
  createKeys,
  ReleaseServer,
  sha256,
  sign,
  type SourceFile,
} from '../../support/release-server.js';
import { buildTar } from '../../support/archives.js';
import { gzipSync } from 'node:zlib';
import { install, remove, runHere, scratch, treeOf, type Ran } from './agent.js';

const [keys, others, third] = [createKeys(), createKeys(), createKeys()];
const files = (n: number): SourceFile[] => [{ path: 'app.txt', content: `version ${n}` }];

type Body = Record<string, unknown> & { release: Record<string, unknown> | null };
/** An answer of check with other fields in its release. */
const lying =
  (fields: Record<string, unknown>) =>
  (body: Body): Body => ({ ...body, release: body.release && { ...body.release, ...fields } });

describe('update-agent: attacks', function () {
  let server: ReleaseServer;
  let dir: string;
  const go = (...args: string[]): Promise<Ran> =>
    runHere(['--server', server.url, '--dir', dir, '--platform', 'linux-x64', ...args]);
  const state = async (): Promise<Record<string, unknown>> =>
    JSON.parse(await readFile(join(dir, '.update-agent', 'state.json'), 'utf8')) as Record<string, unknown>;

  /** Refused with this code, a message that matches, and nothing changed. */
  async function rejected(code: number, message: RegExp, ...args: string[]): Promise<void> {
    const before = await treeOf(dir);
    const ran = await go(...args);
    expect(ran.code, ran.stdout + ran.stderr).to.equal(code);
    expect(ran.stderr).to.match(message);
    expect(await treeOf(dir)).to.deep.equal(before);
  }

  beforeEach(async () => {
    server = new ReleaseServer(keys);
    await server.start();
    dir = await scratch();
    await install(dir, server.publish({ version: '1.0.0', files: files(1) }));
    server.publish({ version: '1.1.0', files: files(2) });
  });
  afterEach(async () => {
    await server.stop();
    await remove(dir);
  });

  describe('rollback attack', () => {
    it('rejects an older release that is offered as an update', async () => {
      const old = server.publish({ version: '0.9.0', files: files(0) });
      server.lies.check = lying({ version: '0.9.0', manifest_json: old.manifest, manifest_signature: old.signature });
      await rejected(3, /0\.9\.0 is not newer than the installed 1\.0\.0/);
    });

    it('rejects an older release under a newer version number', async () => {
      const old = server.publish({ version: '0.9.0', files: files(0) });
      server.lies.check = lying({ manifest_json: old.manifest, manifest_signature: old.signature });
      await rejected(3, /(version|package\.sha256) of the manifest/);
    });

    it('rejects a release between the installed and the highest version', async () => {
      server.publish({ version: '1.5.0', files: files(5) });
      expect((await go()).code).to.equal(0);
      const before = server.releases.find(({ version }) => version === '1.0.0');
      await remove(join(dir, 'app.txt'));
      await install(dir, before ?? expect.fail('no release'));
      server.releases.splice(2);
      await rejected(3, /1\.1\.0 is older than 1\.5\.0/);
    });
  });

  describe('fast-forward attack', () => {
    it('lowers the highest version to the installed version after a change of the key', async () => {
      expect((await go()).code).to.equal(0);
      const known = await state();
      await writeFile(
        join(dir, '.update-agent', 'state.json'),
        JSON.stringify({ ...known, highest_version: '999.0.0' }),
      );
      server.publish({ version: '1.2.0', files: files(3) });
      await rejected(3, /1\.2\.0 is older than 999\.0\.0/);
      server.rotateKeys(others);
      expect((await go()).stdout).to.equal('UPDATED: 1.1.0 -> 1.2.0\n');
      expect(await state()).to.include({ highest_version: '1.2.0' });
    });
  });

  describe('indefinite freeze attack', () => {
    const nothing = (body: Body): Body => ({ ...body, update_available: false, signed: false, release: null });

    it('warns when check reports no update but the statement names one, and fails with --require-signed', async () => {
      server.lies.check = nothing;
      const ran = await go();
      expect(ran).to.include({ code: 0 });
      expect(ran.stdout).to.match(/^WARNING: The freshness statement is for version 1\.1\.0.*\nUP_TO_DATE: 1\.0\.0\n$/);
      await rejected(3, /freshness statement is for version 1\.1\.0/, '--require-signed');
    });

    it('rejects an expired statement with --require-signed, and warns otherwise', async () => {
      server.lies.statement = (said) => ({ ...said, expires_at: new Date(Date.now() - 1000).toISOString() });
      await rejected(3, /expired at 20\S+Z; this machine’s clock says 20\S+Z\.$/m, '--require-signed');
      expect((await go()).stdout).to.match(/^WARNING: .*expired.*\nUPDATED/);
    });

    it('rejects a replayed older statement', async () => {
      expect((await go('--require-signed')).code).to.equal(0);
      server.lies.statement = (said) => ({ ...said, issued_at: new Date(Date.now() - 3_600_000).toISOString() });
      await rejected(3, /issued at 20\S+Z, is older than a previous one, issued at 20\S+Z\.$/m, '--require-signed');
    });

    it('rejects a missing statement with --require-signed, and warns otherwise', async () => {
      server.lies.freshness = () => ({ status: 'success' });
      await rejected(3, /no freshness statement/, '--require-signed');
      expect((await go()).stdout).to.match(/^WARNING: the server provides no freshness statement.*\nUPDATED/);
    });

    it('rejects a statement for another product or channel, or with an invalid signature', async () => {
      server.lies.statement = (said) => ({ ...said, product: 'other' });
      await rejected(3, /another product/, '--require-signed');
      server.lies.statement = (said) => ({ ...said, channel: 'beta' });
      await rejected(3, /another channel/, '--require-signed');
      server.lies = { freshness: (body) => ({ ...body, signature: sign(others, String(body.statement)) }) };
      await rejected(3, /signature of the freshness statement/, '--require-signed');
    });

    it('requires the statement when the project’s setting requires signatures, and stores the setting', async () => {
      server.requireSigned = true;
      server.lies.freshness = () => ({ status: 'success' });
      await rejected(3, /no freshness statement/);
      server.requireSigned = false;
      await rejected(3, /no freshness statement/);
      expect(await state()).to.include({ require_signed: true });
    });
  });

  describe('mix-and-match attack', () => {
    it('rejects the package of one release under the manifest of another', async () => {
      const [old] = server.releases;
      server.lies.request = (request, response) => {
        if (!request.url?.includes('/1.1.0/')) return false;
        response.writeHead(200).end(old?.archive);
        return true;
      };
      await rejected(3, /SHA-256|longer|ended/);
    });

    it('rejects a package hash in the response that belongs to another package', async () => {
      server.lies.check = lying({ package_sha256: sha256('x') });
      await rejected(3, /package\.sha256/);
    });

    it('rejects a manifest other than the one in the statement', async () => {
      const genuine = server.buildStatement('shop', 'stable');
      server.publish({ version: '1.1.0', files: files(7) });
      server.lies.statement = () => genuine;
      await rejected(3, /has a different manifest for 1\.1\.0/, '--require-signed');
    });

    it('rejects a package whose files differ from its manifest', async () => {
      server.publish({
        version: '1.1.0',
        files: files(2),
        archive: buildArchive([{ path: 'app.txt', content: 'version X' }]),
      });
      await rejected(3, /app\.txt in the package does not match the manifest/);
      server.publish({
        version: '1.1.0',
        files: files(2),
        archive: buildArchive([...files(2), { path: 'more.txt', content: '' }]),
      });
      await rejected(3, /more\.txt in the package does not match/);
      server.publish({
        version: '1.1.0',
        files: [...files(2), { path: 'b', content: '' }],
        archive: buildArchive(files(2)),
      });
      await rejected(3, /b in the package does not match/);
    });
  });

  describe('endless data attack', () => {
    it('rejects an endless package', async () => {
      let sent = 0;
      server.lies.request = (request, response) => {
        if (!request.url?.startsWith('/releases/')) return false;
        response.writeHead(200);
        const more = (): void => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536))) sent += 65_536;
          if (!response.destroyed) response.once('drain', more);
        };
        more();
        return true;
      };
      await rejected(3, /longer than the \d+ bytes/);
      expect(sent).to.be.lessThan(64 * 1024 * 1024);
    });

    it('rejects an endless pubkey response', async () => {
      server.lies.request = (request, response) => {
        if (!request.url?.includes('/pubkey')) return false;
        response.writeHead(200);
        const more = (): void => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536, ' ')));
          if (!response.destroyed) response.once('drain', more);
        };
        more();
        return true;
      };
      await rejected(3, /pubkey is larger than/);
    });

    it('rejects an archive with an extreme compression ratio', async () => {
      const bomb = gzipSync(buildTar({ name: 'app.txt', content: Buffer.alloc(80 * 1024 * 1024) }));
      server.publish({
        version: '1.1.0',
        files: [{ path: 'app.txt', content: Buffer.alloc(80 * 1024 * 1024) }],
        archive: bomb,
      });
      await rejected(3, /unpacks to more than 200 times/);
    });
  });

  it('slow retrieval attack: aborts a download below the minimum rate', async () => {
    server.lies.request = (request, response) => {
      if (!request.url?.startsWith('/releases/')) return false;
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 20);
      response.once('close', () => clearInterval(timer));
      return true;
    };
    const args = ['--server', server.url, '--dir', dir, '--platform', 'linux-x64'];
    const ran = await runHere(args, {}, { leastRate: { bytesPerSecond: 1024, overMs: 200 }, retryMs: [] });
    expect(ran.code).to.equal(8);
    expect(ran.stderr).to.include('less than 1024 bytes per second');
  });

  describe('wrong software installation attack', () => {
    it('rejects a signed release of another product', async () => {
      const other = server.publish({ version: '1.1.0', files: files(2), product: 'other' });
      server.lies.check = lying({ manifest_json: other.manifest, manifest_signature: other.signature });
      await rejected(3, /product of the manifest/);
    });

    it('rejects a signed release of another channel', async () => {
      const beta = server.publish({ version: '1.1.0', files: files(2), channel: 'beta' });
      server.lies.check = lying({ manifest_json: beta.manifest, manifest_signature: beta.signature });
      await rejected(3, /channel of the manifest/);
    });

    it('rejects a signed release of another platform', async () => {
      const arm = server.publish({ version: '1.1.0', files: files(2), platform: 'linux-arm64' });
      server.lies.check = lying({
        platform: 'linux-arm64',
        manifest_json: arm.manifest,
        manifest_signature: arm.signature,
      });
      await rejected(3, /release\.platform/);
      server.lies.check = lying({ manifest_json: arm.manifest, manifest_signature: arm.signature });
      await rejected(3, /platform of the manifest/);
    });
  });

  describe('arbitrary software attack', () => {
    it('rejects a manifest that was changed after signing', async () => {
      server.lies.check = (body) => lying({ manifest_json: `${String(body.release?.manifest_json)} ` })(body);
      await rejected(3, /signature of the release is not valid/);
      await rejected(3, /signature of the release is not valid/, '--allow-unsigned');
    });

    it('rejects a path outside the installation in a signed manifest', async () => {
      const evil = { version: '1.1.0', files: [{ path: '../evil', content: 'x' }] };
      server.publish(evil);
      await rejected(3, /\.\./);
    });

    it('rejects a package URL on another host or path', async () => {
      for (const package_url of [
        'https://evil.example/releases/x',
        '//evil.example/x',
        '/api/x',
        '/releases/../api/x',
        '/releases/a b',
        '/releases/a?b',
      ]) {
        server.lies.check = lying({ package_url });
        await rejected(3, /release\.package_url/);
      }
    });
  });

  describe('extraneous dependencies attack', () => {
    it('ignores unknown members of a manifest', async () => {
      const release = server.releases[1] ?? expect.fail('no release');
      release.manifest = JSON.stringify({
        ...(JSON.parse(release.manifest) as object),
        dependencies: ['https://evil.example'],
      });
      release.signature = sign(keys, release.manifest);
      expect((await go()).code).to.equal(0);
      expect(server.asked.every(({ line }) => !line.includes('evil'))).to.equal(true);
    });
  });

  describe('key compromise', () => {
    beforeEach(async () => {
      expect((await go()).code).to.equal(0);
      server.publish({ version: '1.2.0', files: files(3) });
    });
    const resign = (to: typeof keys): void => {
      server.keys = to;
      for (const release of server.releases) release.signature = sign(to, release.manifest);
    };

    it('rejects a new key without a proof', async () => {
      resign(others);
      await rejected(3, /not the pinned key, and no key chain endorses/);
    });

    it('rejects a new key with a proof signed by a third key', async () => {
      resign(others);
      server.predecessors = [{ key_id: keys.id, public_key: keys.pem, signature: sign(third, others.spki) }];
      await rejected(3, /not the pinned key/);
    });

    it('follows a chain of predecessors, and then rejects the earlier keys', async () => {
      server.rotateKeys(others);
      server.rotateKeys(third);
      expect((await go()).stdout).to.equal('UPDATED: 1.1.0 -> 1.2.0\n');
      const { pin, former_keys } = (await state()) as { pin: { sha256: string }; former_keys: string[] };
      expect(pin.sha256).to.equal(sha256(third.spki));
      expect(former_keys).to.have.members([sha256(keys.spki), sha256(others.spki)]);
      server.predecessors = [];
      server.publish({ version: '1.3.0', files: files(4) });
      resign(keys);
      await rejected(3, /replaced by a newer one/);
    });

    it('rejects a chain that starts at a rejected key', async () => {
      server.rotateKeys(others);
      expect((await go()).code).to.equal(0);
      server.keys = keys;
      server.predecessors = [];
      server.publish({ version: '1.3.0', files: files(4) });
      server.rotateKeys(third);
      await rejected(3, /not the pinned key/);
    });

    it('replaces the pinned key only with --pin', async () => {
      resign(others);
      await rejected(3, /not the pinned key/, '--pin', sha256(third.spki));
      expect((await go('--pin', sha256(others.spki))).stdout).to.equal('UPDATED: 1.1.0 -> 1.2.0\n');
    });

    it('rejects an unsigned server while a key is pinned, and accepts it for one run with --allow-unsigned', async () => {
      server.keys = null;
      for (const release of server.releases) release.signature = null;
      await rejected(3, /a key is pinned, but the server reports that it has no key/);
      const ran = await go('--allow-unsigned');
      expect(ran.code, ran.stderr).to.equal(0);
      expect(ran.stdout).to.match(/WARNING: the release is not signed[^\n]*\nUPDATED: 1\.1\.0 -> 1\.2\.0\n$/);
    });

    it('exits 3 for an unreadable state.json, and pins no new key', async () => {
      const path = join(dir, '.update-agent', 'state.json');
      for (const text of ['', '{', '{}', '{"schema":2}', '[]']) {
        await writeFile(path, text);
        await rejected(3, /state\.json cannot be read/);
        expect(await readFile(path, 'utf8')).to.equal(text);
      }
    });

    it('rejects missing keys, weak keys and unsupported key types', async () => {
      const weak = createKeys(1024);
      for (const public_key of [weak.pem, 'x', 7, null, '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----']) {
        server.lies.pubkey = (body) => ({ ...body, public_key });
        await rejected(3, /public key/);
      }
    });
  });

  describe('stripped signature', () => {
    const stripped = (body: Body): Body => ({
      ...lying({ manifest_signature: null, key_id: null })(body),
      signed: false,
    });

    it('rejects the release with a pinned key, --require-signed or the project’s setting', async () => {
      server.lies.check = stripped;
      await rejected(3, /not signed, and a key is pinned/);
      await rejected(3, /not signed, and signed releases are required/, '--require-signed');
    });

    it('rejects the release with the project’s setting even without a pinned key', async () => {
      server.keys = null;
      for (const release of server.releases) release.signature = null;
      await rejected(3, /no freshness statement|not signed/, '--require-signed');
      server.requireSigned = true;
      await rejected(3, /no freshness statement|not signed/);
    });

    it('warns on each run without a pinned key', async () => {
      server.keys = null;
      for (const release of server.releases) release.signature = null;
      const ran = await go();
      expect(ran.code, ran.stderr).to.equal(0);
      expect(ran.stdout).to.match(/^WARNING: the release is not signed$/m);
    });

    it('rejects signed: true without a signature', async () => {
      server.lies.check = lying({ manifest_signature: null });
      await rejected(3, /manifest_signature is missing/, '--allow-unsigned');
    });
  });

  describe('wrong value in a field of the check response', () => {
    const top: Record<string, unknown[]> = {
      product: ['other', 7, null],
      channel: ['beta', 7],
      platform: ['win-x64', 7],
      update_available: [false, 'true', 1, null],
      require_signed: ['true', 1],
      current_withdrawn: ['x'],
      latest_version: ['x', 7],
      release: [null, 'x', [], 7],
    };
    for (const [field, values] of Object.entries(top))
      for (const value of values)
        it(`rejects ${field}: ${JSON.stringify(value)}`, async () => {
          server.lies.check = (body) => ({ ...body, [field]: value });
          await rejected(3, new RegExp(`response: (release|${field}|update_available)`));
        });

    const release: Record<string, unknown[]> = {
      version: ['1.0.0', '0.1', 'x', '', 7, null, '1.2.0', '1.1.0\u001b[31m'],
      channel: ['beta', 7, null],
      platform: ['win-x64', 'linux-arm64', 'solaris', 7, null],
      package_url: ['https://evil.example/p', '/releases/../x', '/other/x', '', 7, null],
      package_size: [0, -1, 1.5, '5', null, 1, 9e15],
      package_sha256: ['', 'x', sha256('other'), 7, null],
      manifest_json: ['', '{}', 'x', '[]', 7, null],
      manifest_signature: ['', 'x', 7, sign(others, 'x')],
    };
    for (const [field, values] of Object.entries(release))
      for (const value of values)
        it(`rejects release.${field}: ${JSON.stringify(value)?.slice(0, 30)}`, async () => {
          server.lies.check = lying({ [field]: value });
          await rejected(3, /./);
        });

    it('does not print control characters in server messages', async () => {
      server.lies.request = (request, response) => {
        if (!request.url?.includes('/check')) return false;
        const error = { code: 'not_found', message: 'no\u001b[31m such\u0007 product\u202e' };
        response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify({ status: 'error', error }));
        return true;
      };
      const ran = await go();
      expect(ran.code).to.equal(1);
      expect(ran.stderr).to.equal('update-agent: no[31m such product\n');
    });

    it('exits 8 for an HTML page of another server', async () => {
      server.lies.request = (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in to the network</h1>');
        return true;
      };
      await rejected(8, /not as an AOS service/);
    });
  });

  it('rejects a release whose min_version is above the installed version', async () => {
    const step = server.publish({ version: '2.0.0', files: files(3), minVersion: '1.5.0' });
    server.lies.check = (body) => ({
      ...lying({
        version: '2.0.0',
        manifest_json: step.manifest,
        manifest_signature: step.signature,
        package_sha256: sha256(step.archive),
        package_size: step.archive.length,
        package_url: step.url,
      })(body),
    });
    await rejected(3, /requires 1\.5\.0 or newer/);
  });

  describe('a fresh installation that is offered only older versions', () => {
    const into = (): Promise<Ran> =>
      runHere(
        [
          '--action',
          'install',
          '--server',
          server.url,
          '--dir',
          join(dir, 'new'),
          '--project',
          'steep',
          '--yes',
        ].concat(['--license-key', 'AAAAA-BBBBB-CCCCC-DDDDD-EEEEE', '--platform', 'linux-x64', '--require-signed']),
      );
    beforeEach(() => {
      server.publish({ product: 'steep', version: '2.0.0', files: files(2), minVersion: '1.0.0' });
      server.publish({ product: 'steep', version: '3.0.0', files: files(3), minVersion: '2.5.0' });
    });

    it('installs the newest release', async () => {
      const ran = await into();
      expect(ran, ran.stderr).to.include({ code: 0, stdout: 'UPDATED: none -> 3.0.0\n' });
    });

    it('freeze attack: rejects an older version that is announced as the newest', async () => {
      const old = server.releases.find(({ version }) => version === '2.0.0') ?? expect.fail('no release');
      server.lies.latest = (body) => ({
        ...body,
        latest: {
          ...(body['latest'] as object),
          version: '2.0.0',
          manifest_json: old.manifest,
          manifest_signature: old.signature,
          package_sha256: sha256(old.archive),
          package_size: old.archive.length,
          package_url: old.url,
        },
      });
      const ran = await into();
      expect(ran.code, ran.stdout).to.equal(3);
      expect(ran.stderr).to.match(/freshness statement is for version 3\.0\.0/);
      expect(await treeOf(dir)).to.not.have.any.keys('new/app.txt');
    });

    it('exits 3 when the response for the newest release comes from another server', async () => {
      server.lies.latest = (body) => ({ ...body, latest: 'x' });
      const ran = await into();
      expect(ran.code, ran.stdout).to.equal(3);
      expect(ran.stderr).to.match(/response: release is not an object/);
    });
  });
});
