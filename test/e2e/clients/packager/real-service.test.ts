/** The packager before the real service: what CI does. */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSignedBy, parsePublicKey } from '../../../../lib/formats/signature.js';
import { readManifest } from '../../../../lib/formats/manifest.js';
import { TestService } from '../../../support/service.js';
import { COMPILED, startPackager, writeTree, type Finished } from './harness.js';

describe('packager with a real service', function () {
  let service: TestService;
  let root: string;
  let token: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'aos-publish-'));
    service = await TestService.createInProcess();
    await service.createProject('shop');
    token = await service.createToken('updateservice:publish');
    await writeTree(join(root, 'linux-x64'), {
      'package.json': '{"version":"1.0.0"}',
      'bin/start.sh': '#!/bin/sh\n',
      'config/app.json': '{}',
    });
    await writeTree(root, {
      'packager.json': JSON.stringify({ preservePatterns: ['config/*'], entry: 'bin/start.sh' }),
    });
  });
  after(async () => {
    await service.dispose();
    await rm(root, { recursive: true, force: true });
  });

  const run = (...args: string[]): Promise<Finished> =>
    startPackager(
      ['--project', 'shop', '--publish-dir', join(root, 'linux-x64'), '--config', join(root, 'packager.json'), ...args],
      { SVC_TOKEN: token, SVC_URL: service.url },
      { program: COMPILED },
    );
  const json = async (path: string): Promise<Record<string, unknown>> =>
    (await (await fetch(`${service.url}${path}`)).json()) as Record<string, unknown>;

  it('publish a signed release with its description that is offered to machines', async () => {
    const { code, stdout, stderr } = await run('--notes', 'Größer', '--json');
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const said = JSON.parse(stdout) as { package_sha256: string; published: { signed: boolean } };
    expect(said.published.signed).to.equal(true);
    const check = await json('/api/updateservice/v1/check?product=shop&version=0.9&platform=linux-x64');
    const release = check['release'] as Record<string, string>;
    expect(release).to.include({ version: '1.0.0', release_notes: 'Größer', package_sha256: said.package_sha256 });
    const text = release['manifest_json'] ?? '';
    const key = parsePublicKey(String((await json('/api/updateservice/v1/pubkey'))['public_key']));
    expect(isSignedBy(key, Buffer.from(text), release['manifest_signature'] ?? '')).to.equal(true);
    expect(key.keyId).to.equal(release['key_id']);
    const manifest = readManifest(text);
    expect(manifest).to.deep.include({
      product: 'shop',
      channel: 'stable',
      entry: 'bin/start.sh',
      preserve_patterns: ['config/*'],
    });
    expect(manifest.files.map(({ path, mode, preserve }) => [path, mode, preserve])).to.deep.equal([
      ['bin/start.sh', '0755', false],
      ['config/app.json', '0644', true],
      ['package.json', '0644', false],
    ]);
  });

  it('recognize an identical build, accept long notes, and replace a build with another build', async () => {
    const again = await run('--notes', 'ä'.repeat(20_000));
    expect(again.stdout).to.match(/^UNCHANGED: shop 1\.0\.0/m);
    expect(again.stderr).not.to.match(/replaces it|^WARNING/m);
    const notes = await json('/api/updateservice/v1/check?product=shop&version=0.9&platform=linux-x64');
    expect((notes['release'] as { release_notes: string }).release_notes).to.have.length(20_000);
    await writeTree(join(root, 'linux-x64'), { 'bin/start.sh': '#!/bin/sh\necho 2\n' });
    const { stdout, stderr } = await run();
    expect(stdout).to.match(/^REPLACED: shop 1\.0\.0/m);
    expect(stderr).to.match(/^WARNING: 1\.0\.0 for linux-x64 is already published/);
  });

  it('exit 2 for a missing project and an invalid token', async () => {
    expect((await run('--project', 'nobody')).code).to.equal(2);
    token = 'svc_live_unknown';
    const { code, stderr } = await run();
    expect({ code, stderr }).to.deep.include({ code: 2 });
    expect(stderr).to.match(/^latest\.json cannot be read: 401 unauthorized/);
  });
});
