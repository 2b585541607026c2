import { expect } from 'chai';
import { findIdentityMismatch, InvalidManifest, formatManifest, readManifest } from '../../../lib/formats/manifest.js';

const HASH = 'a'.repeat(64);
const release = {
  product: 'shop',
  version: '1.2.0',
  channel: 'stable',
  platform: 'any' as const,
  published_at: '2026-11-20T10:00:00.000Z',
  package: { sha256: HASH, size: 10 },
  files: [
    { path: 'b.json', size: 1, sha256: HASH, mode: '0644' as const },
    { path: 'a/run.sh', size: 2, sha256: HASH, mode: '0755' as const },
  ],
  preserve_patterns: ['*.json'],
  min_version: null,
  setup: null,
  entry: 'a/run.sh',
  runtime: null,
};

describe('manifests', () => {
  it('list members in the contract’s order and files by code point, and mark preserved files', () => {
    expect(formatManifest(release)).to.equal(
      `{"schema":1,"product":"shop","version":"1.2.0","channel":"stable","platform":"any",` +
        `"published_at":"2026-11-20T10:00:00.000Z","package":{"sha256":"${HASH}","size":10},"files":[` +
        `{"path":"a/run.sh","size":2,"sha256":"${HASH}","mode":"0755","preserve":false},` +
        `{"path":"b.json","size":1,"sha256":"${HASH}","mode":"0644","preserve":true}],` +
        `"preserve_patterns":["*.json"],"min_version":null,"setup":null,"entry":"a/run.sh","runtime":null}`,
    );
  });

  it('are parsed as they were built', () => {
    const full = {
      ...release,
      min_version: '1.0',
      setup: { schema: 1 },
      runtime: { name: 'Microsoft.NETCore.App', version: '8.0.0' },
    };
    const text = formatManifest(full);
    expect(JSON.stringify(readManifest(text))).to.equal(text);
  });

  it('may have additional members written by a newer server', () => {
    const text = JSON.stringify({ ...(JSON.parse(formatManifest(release)) as object), later: true });
    expect(readManifest(text)).to.not.have.property('later');
  });

  const wrong: [what: string, member: string, change: object][] = [
    ['another schema', 'schema', { schema: 2 }],
    ['no product', 'product', { product: undefined }],
    ['a product that leads elsewhere', 'product', { product: '../x' }],
    ['a bad version', 'version', { version: '1.x' }],
    ['an unknown platform', 'platform', { platform: 'mac' }],
    ['an invalid time', 'published_at', { published_at: 'yesterday' }],
    ['a hash in other letters', 'package.sha256', { package: { sha256: HASH.toUpperCase(), size: 1 } }],
    ['a size below zero', 'package.size', { package: { sha256: HASH, size: -1 } }],
    ['files that are no list', 'files', { files: {} }],
    [
      'a path outside',
      'files[0].path',
      { files: [{ path: '../x', size: 1, sha256: HASH, mode: '0644', preserve: false }] },
    ],
    [
      'a reserved path',
      'files[0].path',
      { files: [{ path: '.update-agent/x', size: 1, sha256: HASH, mode: '0644', preserve: false }] },
    ],
    [
      'a mode with setuid',
      'files[0].mode',
      { files: [{ path: 'x', size: 1, sha256: HASH, mode: '4755', preserve: false }] },
    ],
    [
      'preserve as a text',
      'files[0].preserve',
      { files: [{ path: 'x', size: 1, sha256: HASH, mode: '0644', preserve: 'no' }] },
    ],
    [
      'two paths that are one',
      'files[1].path',
      {
        files: ['a', 'A'].map((path) => ({ path, size: 1, sha256: HASH, mode: '0644', preserve: false })),
      },
    ],
    ['a bad pattern', 'preserve_patterns[0]', { preserve_patterns: ['/x'] }],
    ['a bad minimum', 'min_version', { min_version: 'old' }],
    ['an entry outside', 'entry', { entry: '/bin/sh' }],
    ['a runtime without version', 'runtime.version', { runtime: { name: 'x' } }],
    ['setup as a text', 'setup', { setup: 'x' }],
  ];
  for (const [what, member, change] of wrong)
    it(`are rejected with ${what}`, () => {
      const text = JSON.stringify({ ...(JSON.parse(formatManifest(release)) as object), ...change });
      expect(() => readManifest(text))
        .to.throw(InvalidManifest)
        .with.property('member', member);
    });

  it('are rejected when they are not JSON, or not an object', () => {
    for (const text of ['', '{', '[]', 'null', '1']) expect(() => readManifest(text)).to.throw(InvalidManifest);
  });

  it('match only their release', () => {
    const manifest = readManifest(formatManifest(release));
    const requested = { product: 'shop', version: '1.2', channel: 'stable', platform: 'any' as const, sha256: HASH };
    expect(findIdentityMismatch(manifest, requested)).to.equal(null);
    expect(findIdentityMismatch(manifest, { ...requested, product: 'other' })).to.equal('product');
    expect(findIdentityMismatch(manifest, { ...requested, version: '1.3' })).to.equal('version');
    expect(findIdentityMismatch(manifest, { ...requested, channel: 'beta' })).to.equal('channel');
    expect(findIdentityMismatch(manifest, { ...requested, platform: 'win-x64' })).to.equal('platform');
    expect(findIdentityMismatch(manifest, { ...requested, sha256: 'b'.repeat(64) })).to.equal('package.sha256');
  });
});
