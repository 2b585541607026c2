/** The first files of a manifest, cut out of its text. */
import { expect } from 'chai';
import fc from 'fast-check';
import { formatManifest, type ReleaseManifest } from '../../../lib/formats/manifest.js';
import { listFirstFiles } from '../../../plugins/releases/pages/manifest-files.js';

describe('releases: manifest files on the page', () => {
  it('equal those of the fully parsed manifest (property)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 12 }),
        fc.integer({ min: 1, max: 12 }),
        (paths, most) => {
          const text = formatManifest({
            product: 'shop',
            version: '1',
            channel: 'stable',
            platform: 'any',
            published_at: '2026-01-01T00:00:00.000Z',
            package: { sha256: '', size: 1 },
            files: [...paths, '],"preserve_patterns":', ',{"path":'].map((path) => ({
              path,
              size: 1,
              sha256: 'x',
              mode: '0644',
            })),
            preserve_patterns: [],
            min_version: null,
            setup: null,
            entry: null,
            runtime: null,
          });
          expect(listFirstFiles(text, most)).to.deep.equal((JSON.parse(text) as ReleaseManifest).files.slice(0, most));
        },
      ),
    );
  });
});
