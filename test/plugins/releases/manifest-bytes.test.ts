/**
 * Large manifests are made and hashed in pieces, between which the event loop has a turn (contract
 * 00).
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { formatManifest } from '../../../lib/formats/manifest.js';
import { splitText } from '../../../lib/text/split-text.js';
import { buildManifest, hashManifest } from '../../../plugins/releases/manifest-bytes.js';

const HASH = 'a'.repeat(64);
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const release = (count: number, patterns: string[] = []): Parameters<typeof buildManifest>[0] => ({
  product: 'shop',
  version: '1.2.0',
  channel: 'stable',
  platform: 'any',
  published_at: '2026-11-20T10:00:00.000Z',
  package: { sha256: HASH, size: 10 },
  files: Array.from({ length: count }, (_, n) => ({
    path: `lib/ü/${String(n).padStart(6, '0')}.js`,
    size: n,
    sha256: HASH,
    mode: '0644',
  })),
  preserve_patterns: patterns,
  min_version: null,
  setup: { schema: 1 },
  entry: null,
  runtime: { name: 'node', version: '20' },
});

/** Counts the turns that the event loop is given. */
function turns(): { count: number; pause: () => Promise<void> } {
  const counted = { count: 0, pause: () => Promise.resolve(void counted.count++) };
  return counted;
}

describe('releases: serialized manifests', () => {
  it('yields to the event loop after every 500 files', async () => {
    const wanted = release(20_000);
    const given = turns();
    const built = await buildManifest(wanted, given.pause);
    expect(given.count).to.be.at.least(20_000 / 500);
    expect(built.text).to.equal(formatManifest(wanted));
    expect(built.bytes.equals(Buffer.from(built.text))).to.equal(true);
    expect(built.sha256).to.equal(sha256(built.text));
  });

  it('uses smaller chunks with a thousand patterns', async () => {
    const given = turns();
    await buildManifest(
      release(
        100,
        Array.from({ length: 1_000 }, (_, n) => `config/${n}/*`),
      ),
      given.pause,
    );
    expect(given.count).to.be.at.least(100);
  });

  it('equals the text in bytes, for any number of files', async () => {
    for (const count of [0, 1, 499, 500, 501, 1_000]) {
      const wanted = release(count, ['**/*1.js']);
      expect((await buildManifest(wanted)).text, `${count}`).to.equal(formatManifest(wanted));
    }
  });

  it('rejects unsorted files, whose text would differ', async () => {
    const wanted = release(2);
    const failed = await buildManifest({ ...wanted, files: wanted.files.toReversed() }).then(
      () => null,
      (error: unknown) => error,
    );
    expect(failed).to.be.instanceOf(TypeError);
  });

  it('yields after every half megabyte while hashing a long text', async () => {
    const text = 'ü😀'.repeat(1_000_000);
    const given = turns();
    expect(await hashManifest(text, given.pause)).to.equal(sha256(text));
    expect(given.count).to.be.at.least(5);
  });

  it('splits a text into chunks without breaking characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 5 }), (text, units) => {
        const pieces = [...splitText(text, units)];
        expect(pieces.join('')).to.equal(text);
        for (const piece of pieces) {
          expect(piece.isWellFormed()).to.equal(true);
          expect(piece.length).to.be.within(1, units + 1);
        }
      }),
    );
  });
});
