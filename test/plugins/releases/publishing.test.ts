/**
 * Publishing, withdrawing, promoting and rolling out (contract 40, publishing), over stores in
 * memory.
 */
import { expect } from 'chai';
import { createVerify } from 'node:crypto';
import { ServiceError } from '../../../kernel/errors.js';
import type { ProjectInfo } from '../../../ports/domain/projects.js';
import { getRejection } from '../../harness.js';
import {
  bugsOf,
  CI,
  fixtureOn,
  hashOf,
  ensureCollections,
  memoryFixture,
  memoryPackages,
  packageOf,
  SIGNER,
  uploaded,
} from './fixture.js';
import { SharedBytes } from '../../../ports/http/index.js';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { HOSTILE_ARCHIVES } from '../../support/hostile-archives.js';

const STABLE = { product: 'shop', channel: 'stable', platform: null } as const;
const REQUEST = {
  product: 'shop',
  channel: 'stable',
  version: '1.0',
  platform: 'any',
  build: null,
  mandatory: false,
  rollout_percent: undefined,
  min_version: null,
  by: 'ci',
} as const;
const NOTHING = { sha256: undefined, notes: undefined, meta: undefined };

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await getRejection(work);
  return error instanceof ServiceError ? error.code : error.message;
}

async function text(store: ReturnType<typeof memoryPackages>, path: string): Promise<string | null> {
  const file = await store.open(path.split('/'));
  if (file === null) return null;
  const parts: Uint8Array[] = [];
  for await (const part of file.read(0, file.size)) parts.push(part);
  return Buffer.concat(parts).toString();
}

describe('releases: publishing', () => {
  it('publishes a signed release and writes it to the store', async () => {
    const one = await memoryFixture();
    const { release, outcome } = await one.publish('1.2');
    expect(outcome).to.equal('created');
    const answer = await one.check('1.0');
    expect(answer).to.include({
      update_available: true,
      latest_version: '1.2',
      signed: true,
      current_withdrawn: false,
    });
    const manifest = answer.release?.manifest_json ?? '';
    const key = await SIGNER.getKey();
    const verifies = createVerify('sha256')
      .update(manifest)
      .verify(key.public_key, release.manifest_signature ?? '', 'base64');
    expect(verifies).to.equal(true);
    expect(JSON.parse(manifest)).to.include({
      schema: 1,
      product: 'shop',
      version: '1.2',
      channel: 'stable',
      platform: 'any',
    });
    expect(await text(one.releaseStore as never, 'shop/stable/1.2/any/manifest.json')).to.equal(manifest);
    const latest = JSON.parse((await text(one.releaseStore as never, 'shop/stable/latest.json')) ?? '') as Record<
      string,
      unknown
    >;
    expect(latest).to.include({ schema: 1, product: 'shop', channel: 'stable', latest: '1.2' });
    const whole = JSON.parse((await text(one.releaseStore as never, 'shop/latest.json')) ?? '') as { channels: object };
    expect(whole.channels).to.deep.equal({ stable: latest });
    expect(one.told.map(({ event }) => event)).to.deep.equal(['release.published']);
    expect(one.told[0]?.data).to.have.all.keys(
      'product',
      'version',
      'build',
      'channel',
      'platform',
      'signed',
      'closed_items',
      'closed_count',
    );
    expect(one.audited).to.deep.equal(['release.published shop 1.2 (stable, any)']);
    const stated = one.index.getStatement('shop', 'stable');
    expect(JSON.parse(stated?.statement ?? '')).to.deep.include({
      latest: {
        any: { version: '1.2', manifest_sha256: hashOf(Buffer.from(manifest)) },
        'win-x64': { version: '1.2', manifest_sha256: hashOf(Buffer.from(manifest)) },
        'linux-x64': { version: '1.2', manifest_sha256: hashOf(Buffer.from(manifest)) },
        'linux-arm64': { version: '1.2', manifest_sha256: hashOf(Buffer.from(manifest)) },
      },
      steps: [],
    });
  });

  it('ignores identical bytes, replaces changed ones, and retains the first spelling', async () => {
    const one = await memoryFixture();
    await one.publish('1.2', 'a');
    const again = await one.publish('1.2.0', 'a');
    expect(again.outcome).to.equal('unchanged');
    expect(one.told).to.have.lengthOf(1);
    const replaced = await one.publish('1.2.0', 'b');
    expect(replaced).to.include({ outcome: 'replaced' });
    expect(replaced.release.version).to.equal('1.2');
    expect(one.told).to.have.lengthOf(2);
    expect(await one.docs.list({})).to.have.lengthOf(1);
    expect((await one.check('1')).release?.package_sha256).to.equal(hashOf(packageOf({ 'app.txt': 'b' })));
    const other = await one.publish('1.2.0', 'c', { platform: 'linux-x64' });
    expect(other).to.include({ outcome: 'created' });
    expect(other.release.version).to.equal('1.2');
    expect((await one.check('1', { platform: 'linux-x64' })).release?.platform).to.equal('linux-x64');
    expect((await one.check('1', { platform: 'win-x64' })).release?.platform).to.equal('any');
  });

  it('updates rollout and notes for identical bytes without an event', async () => {
    const one = await memoryFixture();
    await one.publish('1.2', 'a', { rollout_percent: 10 });
    expect((await one.check('1')).release).to.equal(null);
    expect((await one.publish('1.2', 'a')).release.rollout_percent).to.equal(10);
    expect((await one.publish('1.2', 'a', { rollout_percent: 100 })).outcome).to.equal('unchanged');
    expect((await one.check('1')).release?.version).to.equal('1.2');
    const notes = Buffer.from('Grüße').toString('base64');
    await one.uploads.publish(CI, {
      request: { ...REQUEST, version: '1.2' },
      body: uploaded(packageOf({ 'app.txt': 'a' })),
      announced: { ...NOTHING, notes },
    });
    expect((await one.check('1')).release?.release_notes).to.equal('Grüße');
    expect(one.told).to.have.lengthOf(1);
  });

  it('warns about a newer version only when it hides the new one from all machines (min_version)', async () => {
    const one = await memoryFixture();
    const newer = async (version: string, min_version: string | null): Promise<string[]> =>
      (await one.publish(version, version, { min_version })).warnings.filter((text) => text.includes('is newer'));
    await one.publish('3.0', '3', { min_version: '2.5' });
    expect(await newer('2.6', '1.0')).to.deep.equal([]);
    expect((await one.check('2.0')).latest_version).to.equal('3.0');
    expect((await one.check('2.0')).release?.version).to.equal('2.6');
    const reported = (by: string, of: string): string[] => [
      `Version ${by} is newer: machines will not be offered ${of}.`,
    ];
    expect(await newer('2.8', '2.5')).to.deep.equal(reported('3.0', '2.8'));
    expect(await newer('2.4', '1.0')).to.deep.equal(reported('2.6', '2.4'));
    expect(await newer('1.0', null)).to.deep.equal([]);
    await one.publish('3.1');
    expect(await newer('2.7', null)).to.deep.equal(reported('3.1', '2.7'));
  });

  it('lists unknown package fields in `warnings`, by header and by part', async () => {
    const one = await memoryFixture();
    const meta = JSON.stringify({ entry: 'app.txt', entri: 'x', runtime: { name: 'node', version: '22', os: 'any' } });
    const bytes = packageOf({ 'app.txt': 'a' });
    const header = { request: REQUEST, announced: { ...NOTHING, meta: Buffer.from(meta).toString('base64') } };
    const part = { request: { ...REQUEST, version: '2.0' }, announced: NOTHING };
    for (const [body, sent] of [
      [uploaded(bytes), header],
      [uploaded(bytes, { meta }), part],
      // The same package once more: 200 with `unchanged`.
      [uploaded(bytes), header],
    ] as const)
      expect((await one.uploads.publish(CI, { ...sent, body })).warnings).to.include.members([
        'meta.entri is no field of this call',
        'meta.runtime.os is no field of this call',
      ]);
    const wrong = Buffer.from('{"entry":5}').toString('base64');
    const rejected = await getRejection(
      one.uploads.publish(CI, {
        request: { ...REQUEST, version: '3.0' },
        body: uploaded(bytes),
        announced: { ...NOTHING, meta: wrong },
      }),
    );
    expect((rejected as ServiceError).fields).to.deep.equal({ 'x-package-meta.entry': 'must be a string' });
  });

  it('leaves nothing behind after a rejected publish', async () => {
    const one = await memoryFixture();
    const send = (
      bytes: Buffer,
      announced: Partial<typeof NOTHING | Record<'sha256' | 'notes' | 'meta', string>> = {},
      request = {},
    ) =>
      codeOf(
        one.uploads.publish(CI, {
          request: { ...REQUEST, ...request },
          body: uploaded(bytes),
          announced: { ...NOTHING, ...announced },
        }),
      );
    const good = packageOf({ 'app.txt': 'a' });
    expect(await send(good, {}, { product: 'nope' })).to.equal('unknown_project');
    expect(await send(good, { sha256: '0'.repeat(64) })).to.equal('checksum_mismatch');
    expect(await send(good, { sha256: 'x' })).to.equal('validation_failed');
    expect(await send(good, { notes: '%%' })).to.equal('validation_failed');
    expect(await send(good, { meta: Buffer.from('{"entry":"none"}').toString('base64') })).to.equal(
      'validation_failed',
    );
    expect(await send(good, { meta: Buffer.from('{"preserve_patterns":["/x"]}').toString('base64') })).to.equal(
      'validation_failed',
    );
    expect(await send(Buffer.from('no package'))).to.equal('package_rejected');
    expect(await send(Buffer.alloc(11_000_000))).to.equal('payload_too_large');
    expect(await one.releaseStore.packages.listStaged()).to.deep.equal([]);
    expect(await one.docs.list({})).to.deep.equal([]);
    expect((await one.deps.publishes.find()).items).to.deep.equal([]);
    expect((await one.deps.manifests.find()).items).to.deep.equal([]);
    expect(await one.releaseStore.access.listProducts()).to.deep.equal([]);
  });

  it('reports the rejected entry of a package', async function () {
    const one = await memoryFixture();
    for (const { entry, slow, only, bytes } of HOSTILE_ARCHIVES) {
      if (slow === true || entry.endsWith('…')) continue;
      const platform = (only?.[0] ?? 'any') as 'any';
      const archive = bytes();
      if (archive.length > 9_000_000) continue;
      const error = await getRejection(
        one.uploads.publish(CI, { request: { ...REQUEST, platform }, body: uploaded(archive), announced: NOTHING }),
      );
      expect(error, entry).to.include({ code: 'package_rejected', status: 422 });
      expect((error as ServiceError).extra?.['entry'] ?? '').to.equal(entry);
    }
    expect(await one.releaseStore.packages.listStaged()).to.deep.equal([]);
  });

  it('returns publish_in_progress to one of two concurrent publishes of the same release', async () => {
    const store = await ensureCollections(new MemoryStore());
    const packages = memoryPackages();
    const one = fixtureOn(store, packages);
    const other = fixtureOn(store, packages, one.clock, (deps) => {
      deps.processes = one.deps.processes;
    });
    const results = await Promise.allSettled([
      one.publish('1.0', 'a'),
      one.publish('1.0', 'b'),
      other.publish('1.0.0', 'c'),
    ]);
    const rejected = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as ServiceError] : []));
    expect(rejected.map(({ code }) => code)).to.deep.equal(['publish_in_progress', 'publish_in_progress']);
    const many = await Promise.all(
      ['2.0', '2.1', '2.2', '2.3'].map((version, i) => (i % 2 === 0 ? one : other).publish(version)),
    );
    expect(many.map((published) => published.outcome)).to.deep.equal(Array(4).fill('created'));
    const latest = JSON.parse((await text(packages, 'shop/stable/latest.json')) ?? '') as {
      releases: { version: string }[];
    };
    expect(latest.releases.map(({ version }) => version)).to.deep.equal(['2.3', '2.2', '2.1', '2.0', '1.0']);
  });

  it('shows a publish of another process after the next refresh', async () => {
    const store = await ensureCollections(new MemoryStore());
    const packages = memoryPackages();
    const one = fixtureOn(store, packages);
    const other = fixtureOn(store, packages, one.clock);
    await other.index.refresh();
    await one.publish('1.0');
    expect((await other.check('0.1')).release).to.equal(null);
    await other.index.refresh();
    expect((await other.check('0.1')).release?.version).to.equal('1.0');
    expect(other.index.getStatement('shop', 'stable')?.statement).to.equal(
      one.index.getStatement('shop', 'stable')?.statement,
    );
    await one.changes.withdraw(CI, { ...STABLE, version: '1.0' }, 'bad');
    await other.index.refresh();
    expect(await other.check('0.1')).to.include({ release: null, latest_version: null });
    expect(await other.check('1.0')).to.include({ current_withdrawn: true });
  });

  it('withdraws a release until it is published again', async () => {
    const one = await memoryFixture();
    await one.publish('1.0');
    await one.publish('1.1');
    expect(await codeOf(one.changes.withdraw(CI, { ...STABLE, version: '1.1' }, ' '))).to.equal('reason_required');
    expect(await codeOf(one.changes.withdraw(CI, { ...STABLE, version: '9' }, 'x'))).to.equal('not_found');
    const [gone] = await one.changes.withdraw(CI, { ...STABLE, version: '1.1.0' }, 'crashes');
    expect(gone).to.include({ withdrawn_reason: 'crashes' });
    expect((await one.check('0.9')).release?.version).to.equal('1.0');
    expect(await one.releaseStore.open(['shop', 'stable', '1.1', 'any', 'package.tar.gz'])).to.equal(null);
    const latest = JSON.parse((await text(one.releaseStore as never, 'shop/stable/latest.json')) ?? '') as {
      releases: { version: string; withdrawn_at: string | null }[];
    };
    expect(latest.releases.map(({ version, withdrawn_at }) => [version, withdrawn_at !== null])).to.deep.equal([
      ['1.1', true],
      ['1.0', false],
    ]);
    expect((await one.publish('1.1')).outcome).to.equal('replaced');
    expect((await one.check('0.9')).release?.version).to.equal('1.1');
    expect(await one.check('1.1')).to.include({ current_withdrawn: false });
  });

  it('returns URL and hash for a manifest over 256 KiB, with the same bytes for all clients', async () => {
    const one = await memoryFixture();
    const names = Array.from({ length: 2_500 }, (_, i) => [`files/${i}-${'x'.repeat(40)}`, String(i)]);
    const { release } = await one.publishFiles('1.1', Object.fromEntries(names) as Record<string, string>);
    const answer = await one.check('1.0');
    expect(answer.release).to.include({
      manifest_json: null,
      manifest_url: '/releases/shop/stable/1.1/any/manifest.json',
      manifest_sha256: release.manifest_sha256,
      manifest_signature: release.manifest_signature,
    });
    await one.publishFiles('1.2', Object.fromEntries(names.slice(0, 500)) as Record<string, string>);
    const ask = (version: string) =>
      one.updateChecks.check({ product: 'shop', channel: 'stable', platform: 'any', version, instance: null });
    const [first, second] = [(await ask('1.0')).body, (await ask('1.0.1')).body];
    if (!(first instanceof SharedBytes && second instanceof SharedBytes)) throw new Error('not shared');
    expect(first.parts[1]).to.equal(second.parts[1]);
    const read = JSON.parse(Buffer.concat(second.parts).toString()) as Record<string, Record<string, unknown>>;
    expect(read).to.include({ current_version: '1.0.1', latest_version: '1.2' });
    expect(read['release']).to.include({ version: '1.2', manifest_url: null, mandatory: false });
    expect(JSON.parse(String(read['release']?.['manifest_json']))).to.include({ version: '1.2' });
  });

  it('promotes a release with a separate manifest', async () => {
    const one = await memoryFixture();
    await one.publish('1.0', 'a', { channel: 'beta', build: 'b7' });
    const from = { product: 'shop', channel: 'beta', version: '1.0', platform: null };
    const [first] = await one.changes.promote(CI, from, 'stable', undefined, 'ci');
    expect(first).to.include({ outcome: 'created' });
    expect(first?.release).to.include({ channel: 'stable', build: 'b7', rollout_percent: 100 });
    const answer = await one.check('0.1');
    expect(JSON.parse(answer.release?.manifest_json ?? '')).to.include({ channel: 'stable' });
    expect((await one.changes.promote(CI, from, 'stable', undefined, 'ci'))[0]).to.include({ outcome: 'unchanged' });
    expect(one.told.map(({ data }) => data['channel'])).to.deep.equal(['beta', 'stable']);
    await one.changes.withdraw(CI, from, 'bad');
    expect(await codeOf(one.changes.promote(CI, from, 'stable', undefined, 'ci'))).to.equal('conflict');
  });

  it('halts a rollout by the error stream once, and continues when it is set again', async () => {
    let faults = 0;
    const one = await memoryFixture((deps) => {
      deps.faults = () => ({ count: async () => faults, list: async () => [] });
    });
    await one.publish('1.0');
    await one.publish('1.1', 'b', { rollout_percent: 50 });
    faults = 5;
    expect(await one.halting.checkAll()).to.equal(0);
    faults = 6;
    expect(await one.halting.checkAll()).to.equal(1);
    expect(await one.halting.checkAll()).to.equal(0);
    const events = one.told.filter(({ event }) => event === 'release.halted');
    expect(events.map(({ data }) => Object.keys(data).toSorted())).to.deep.equal([
      ['channel', 'platform', 'product', 'reason', 'version'],
    ]);
    const machines = Array.from({ length: 40 }, (_, i) => `m${i}`);
    for (const instance of machines) expect((await one.check('0.5', { instance })).release?.version).to.equal('1.0');
    faults = 0;
    const chosen = { product: 'shop', channel: 'stable', version: '1.1', platform: 'any' } as const;
    expect(await one.changes.setRollout(CI, chosen, 60)).to.include({ rollout_percent: 60, halted_at: null });
    const offered = await Promise.all(machines.map((instance) => one.check('0.5', { instance })));
    expect(offered.some(({ release }) => release?.version === '1.1')).to.equal(true);
    await one.changes.setRollout(CI, chosen, 100);
    faults = 99;
    expect(await one.halting.checkAll()).to.equal(0);
  });

  it('responds correctly to a repeated request after every change', async () => {
    let require_signed = false;
    const one = await memoryFixture((deps) => {
      const { projects } = deps;
      const changed = (project: ProjectInfo): ProjectInfo => Object.assign(project, { require_signed });
      deps.projects = Object.assign({}, projects, { list: async () => (await projects.list()).map(changed) });
    });
    const requested = async () => {
      const first = await one.check('1.0', { instance: 'm1' });
      expect(await one.check('1.0', { instance: 'm2' })).to.deep.equal(first);
      return first;
    };
    await one.publish('1.0');
    expect(await requested()).to.include({ release: null, current_withdrawn: false, require_signed: false });
    await one.publish('1.1');
    expect((await requested()).release?.version).to.equal('1.1');
    require_signed = true;
    await one.index.refresh();
    expect(await requested()).to.include({ require_signed: true });
    const chosen = { product: 'shop', channel: 'stable', version: '1.1', platform: 'any' } as const;
    await one.changes.setRollout(CI, chosen, 0);
    expect((await requested()).release).to.equal(null);
    await one.changes.setRollout(CI, chosen, 100);
    expect((await requested()).release?.version).to.equal('1.1');
    await one.changes.withdraw(CI, { ...STABLE, version: '1.0' }, 'bad');
    expect(await requested()).to.include({ current_withdrawn: true });
    expect((await one.check('1.0', { channel: 'beta' })).release).to.equal(null);
    expect((await one.check('1.0', { platform: 'win-x64' })).release?.platform).to.equal('any');
  });

  it('upgrades step by step through min_version', async () => {
    const one = await memoryFixture();
    await one.publish('1.0');
    await one.publish('2.0', 'b', { min_version: '1.0' });
    await one.publish('3.0', 'c', { min_version: '2.0' });
    expect((await one.check('0.5')).release?.version).to.equal('1.0');
    expect((await one.check('1.0')).release?.version).to.equal('2.0');
    expect(await one.check('1.0')).to.include({ latest_version: '3.0' });
    expect((await one.check('2.0')).release?.version).to.equal('3.0');
    const stated = JSON.parse(one.index.getStatement('shop', 'stable')?.statement ?? '') as { steps: object };
    expect(stated.steps).to.deep.equal([
      { version: '3.0', min_version: '2.0' },
      { version: '2.0', min_version: '1.0' },
    ]);
  });

  it('returns the items that it closed', async () => {
    const one = await memoryFixture((deps) => {
      const api = bugsOf((version) => [`item of ${version}`]);
      deps.bugs = () => api;
    });
    const { closed } = await one.publish('1.0');
    expect(closed).to.deep.equal(['item of 1.0']);
    expect(one.told[0]?.data).to.deep.include({ closed_items: ['item of 1.0'], closed_count: 1 });
  });

  it('renews statements after a day and with another key', async () => {
    const one = await memoryFixture();
    await one.publish('1.0');
    const first = one.index.getStatement('shop', 'stable')?.issued_at ?? '';
    await one.channels.renewStatements();
    expect(one.index.getStatement('shop', 'stable')?.issued_at).to.equal(first);
    one.clock.forward(24 * 3_600_000);
    await one.channels.renewStatements();
    expect((one.index.getStatement('shop', 'stable')?.issued_at ?? '') > first).to.equal(true);
  });

  it('restores a replaced latest.json at the next start, and while running at the next check', async () => {
    const one = await memoryFixture();
    await one.publish('1.0');
    const paths = [
      ['stable', 'shop/stable/latest.json'],
      [null, 'shop/latest.json'],
    ] as const;
    const now = (path: string): Promise<string | null> => text(one.releaseStore as never, path);
    for (const [channel, path] of paths) {
      const copy = (await now(path)) ?? '';
      await one.publish(channel === null ? '1.2' : '1.1');
      const right = await now(path);
      await one.releaseStore.channels.write('shop', channel, copy);
      await one.latest.repair();
      const undated = (json: string | null): string => (json ?? '').replaceAll(/"generated_at":"[^"]*",/g, '');
      expect(undated(await now(path)), path).to.equal(undated(right));
      await one.releaseStore.channels.write('shop', channel, '{');
      await one.reconciler.start();
      expect((await now(path)) ?? '', path).to.contain(channel === null ? '"1.2"' : '"1.1"');
    }
    const tags = (): Promise<(string | undefined)[]> =>
      Promise.all(paths.map(async ([, path]) => (await one.releaseStore.open(path.split('/')))?.tag));
    const before = await tags();
    await one.latest.repair();
    expect(await tags(), 'what agrees is not written').to.deep.equal(before);
  });

  it('repairs differences in the store and reports lost files', async () => {
    const one = await memoryFixture();
    await one.publish('1.0');
    await one.publish('1.1');
    const place = { product: 'shop', channel: 'stable', version: '1.0', platform: 'any' };
    await one.releaseStore.packages.writeTexts(place, { manifest: 'other', signature: null });
    await one.releaseStore.packages.withdraw({ ...place, version: '1.1' });
    await one.releaseStore.channels.write('shop', 'stable', '{');
    await one.reconciler.compare();
    expect(one.reconciler.lost).to.deep.equal(['shop 1.1 (stable, any)']);
    const manifest = (await text(one.releaseStore as never, 'shop/stable/1.0/any/manifest.json')) ?? '';
    expect(JSON.parse(manifest)).to.include({ version: '1.0' });
    expect(JSON.parse((await text(one.releaseStore as never, 'shop/stable/latest.json')) ?? '')).to.include({
      latest: '1.1',
    });
    expect((await one.publish('1.1')).outcome).to.equal('replaced');
    await one.reconciler.compare();
    expect(one.reconciler.lost).to.deep.equal([]);
  });
});
