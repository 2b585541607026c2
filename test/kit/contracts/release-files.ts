/**
 * Contract suite of the files of releases by hash (`updateFiles` of ports/release-store.ts), for
 * stores that keep them.
 */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import type { ReleaseLocation, ReleaseStore } from '../../../ports/release-store.js';
import { buildPackage, splitChunks } from './release-store.js';

const LIMITS = { bytes: 64 * 1024 * 1024, keepFree: 0 };
/** Interruptions come before, during and after the work. */
const MAX_DELAY_MS = 60;

export type ReleaseFiles = Readonly<Record<string, string | Uint8Array>>;

export const hashContent = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** Of the files, sorted. */
export const listHashes = (files: ReleaseFiles): string[] =>
  [...new Set(Object.values(files).map(hashContent))].toSorted();

/** The members that stores read, in the order of `formatManifest`. */
export const buildFilesManifest = (files: ReleaseFiles): string => {
  const listed = Object.entries(files).map(([path, content]) => ({
    path,
    size: Buffer.from(content).length,
    sha256: hashContent(content),
    mode: '0644',
  }));
  return JSON.stringify({ files: listed });
};

export const toPlace = (version: string, channel = 'stable'): ReleaseLocation => ({
  product: 'shop',
  channel,
  version,
  platform: 'any',
});

export async function putRelease(
  { packages }: ReleaseStore,
  place: ReleaseLocation,
  files: ReleaseFiles,
): Promise<void> {
  const { id } = await packages.stage(splitChunks(buildPackage(files)), LIMITS);
  await packages.put(id, place, { manifest: buildFilesManifest(files), signature: null });
}

/** As the plugin does at start and every hour. */
export async function updateAllFiles({ packages }: ReleaseStore): Promise<void> {
  for await (const place of packages.iterateLocations()) await packages.updateFiles(place);
  await packages.sweep();
}

interface Step {
  kind: 'publish' | 'withdraw' | 'promote' | 'interrupt';
  version: string;
  contents: readonly number[];
  /** Until the interruption. */
  ms: number;
}

const STEP: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom<Step['kind'][]>('publish', 'publish', 'withdraw', 'promote', 'interrupt'),
  version: fc.constantFrom('1.0', '1.1', '2.0'),
  contents: fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 6 }),
  ms: fc.nat(MAX_DELAY_MS),
});

/**
 * @param open opens the same store again, as another process does; the first call of a test opens
 *   an empty one
 * @param listContents hashes of the stored files
 * @param runs of random changes
 */
export function releaseFilesContract(
  name: string,
  open: () => Promise<ReleaseStore>,
  listContents: () => Promise<string[]>,
  runs: number,
): void {
  describe(`Files of releases contract: ${name}`, function () {
    this.timeout(300_000);
    let store: ReleaseStore;
    beforeEach(async () => {
      store = await open();
    });
    const serve = async ({ product, channel, version, platform }: ReleaseLocation, sha256: string) => {
      const file = await store.open([product, channel, version, platform, 'files', sha256]);
      if (file === null) return null;
      const pieces: Uint8Array[] = [];
      for await (const piece of file.read(0, file.size)) pieces.push(piece);
      return Buffer.concat(pieces);
    };
    const expectFiles = async (releases: ReadonlyMap<ReleaseLocation, ReleaseFiles>): Promise<void> => {
      const hashes = new Set([...releases.values()].flatMap(listHashes));
      expect((await listContents()).toSorted()).to.deep.equal([...hashes].toSorted());
      for (const [place, files] of releases)
        for (const content of Object.values(files))
          expect((await serve(place, hashContent(content)))?.equals(Buffer.from(content))).to.equal(true);
    };
    const first: ReleaseFiles = {
      'a.txt': 'same',
      'copy.txt': 'same',
      'b.txt': 'one',
      'big.bin': Buffer.alloc(700_000, 7),
      empty: '',
    };
    const second: ReleaseFiles = { ...first, 'b.txt': 'two' };

    it('serves a file by hash once it is stored, and only what the release lists', async () => {
      await putRelease(store, toPlace('1.0'), first);
      expect(await serve(toPlace('1.0'), hashContent('one'))).to.equal(null);
      await store.packages.updateFiles(toPlace('1.0'));
      await store.packages.updateFiles(toPlace('1.0'));
      await putRelease(store, toPlace('2.0'), second);
      await store.packages.updateFiles(toPlace('2.0'));
      await expectFiles(
        new Map([
          [toPlace('1.0'), first],
          [toPlace('2.0'), second],
        ]),
      );
      expect(await serve(toPlace('1.0'), hashContent('two'))).to.equal(null);
      expect(await serve(toPlace('3.0'), hashContent('same'))).to.equal(null);
      const big = await store.open(['shop', 'stable', '1.0', 'any', 'files', hashContent(first['big.bin'] ?? '')]);
      const pieces: Uint8Array[] = [];
      for await (const piece of big?.read(1, 5) ?? []) pieces.push(piece);
      expect([big?.size, Buffer.concat(pieces)]).to.deep.equal([700_000, Buffer.alloc(4, 7)]);
    });

    it('replaces the files of a release with its package, and stores those that it has again', async () => {
      await putRelease(store, toPlace('1.0'), first);
      await store.packages.updateFiles(toPlace('1.0'));
      await putRelease(store, toPlace('1.0'), second);
      expect(await serve(toPlace('1.0'), hashContent('one'))).to.equal(null);
      await store.packages.updateFiles(toPlace('1.0'));
      await expectFiles(new Map([[toPlace('1.0'), second]]));
    });

    it('removes a file with the last release that lists it', async () => {
      await putRelease(store, toPlace('1.0'), first);
      await store.packages.updateFiles(toPlace('1.0'));
      const beta = toPlace('1.0', 'beta');
      await store.packages.link(toPlace('1.0'), beta, { manifest: buildFilesManifest(first), signature: null });
      await store.packages.updateFiles(beta);
      await store.packages.withdraw(toPlace('1.0'));
      expect(await serve(toPlace('1.0'), hashContent('one'))).to.equal(null);
      await store.packages.updateFiles(toPlace('1.0'));
      await expectFiles(new Map([[beta, first]]));
      await store.packages.withdraw(beta);
      await store.packages.updateFiles(beta);
      await expectFiles(new Map());
    });

    it('keeps the files while only the signature changes', async () => {
      await putRelease(store, toPlace('1.0'), first);
      await store.packages.updateFiles(toPlace('1.0'));
      await store.packages.writeTexts(toPlace('1.0'), { manifest: buildFilesManifest(first), signature: 'bmV3' });
      await expectFiles(new Map([[toPlace('1.0'), first]]));
    });

    it('stops when it is interrupted, and stores the rest later', async () => {
      await putRelease(store, toPlace('1.0'), first);
      const reason = new Error('stopped');
      const error: unknown = await store.packages
        .updateFiles(toPlace('1.0'), AbortSignal.abort(reason))
        .catch((e: unknown) => e);
      expect(error).to.equal(reason);
      await updateAllFiles(await open());
      await expectFiles(new Map([[toPlace('1.0'), first]]));
    });

    it('has the files of all existing releases, and no other, after any changes and interruptions', async () => {
      const pick = (contents: readonly number[]): ReleaseFiles =>
        Object.fromEntries(contents.map((n) => [`f${n}`, `content ${n} `.repeat(n * 3_000)]));
      await fc.assert(
        fc.asyncProperty(fc.array(STEP, { minLength: 1, maxLength: 10 }), async (steps) => {
          const releases = new Map<string, ReleaseFiles>();
          const stores = [store, await open()];
          const background: Promise<void>[] = [];
          const errors: unknown[] = [];
          const update = (place: ReleaseLocation, signal?: AbortSignal): void => {
            const { packages } = stores[background.length % 2] as ReleaseStore;
            background.push(
              packages.updateFiles(place, signal).catch((error: unknown) => {
                if (signal?.aborted !== true) errors.push(error);
              }),
            );
          };
          for (const step of steps) {
            const place = toPlace(step.version);
            const beta = toPlace(step.version, 'beta');
            const signal = step.kind === 'interrupt' ? AbortSignal.timeout(step.ms) : undefined;
            if (step.kind === 'withdraw') {
              await store.packages.withdraw(place);
              releases.delete(`stable/${step.version}`);
            } else if (step.kind === 'promote') {
              const files = releases.get(`stable/${step.version}`);
              if (files === undefined) continue;
              await store.packages.link(place, beta, { manifest: buildFilesManifest(files), signature: null });
              releases.set(`beta/${step.version}`, files);
              update(beta);
            } else {
              await putRelease(store, place, pick(step.contents));
              releases.set(`stable/${step.version}`, pick(step.contents));
            }
            update(place, signal);
          }
          await Promise.all(background);
          expect(errors).to.deep.equal([]);
          await updateAllFiles(store);
          await expectFiles(
            new Map(
              [...releases].map(([key, files]) => {
                const [channel = '', version = ''] = key.split('/');
                return [toPlace(version, channel), files];
              }),
            ),
          );
          for await (const place of store.packages.iterateLocations()) {
            await store.packages.withdraw(place);
            await store.packages.updateFiles(place);
          }
          await store.packages.sweep();
          expect(await listContents()).to.deep.equal([]);
        }),
        { numRuns: runs, includeErrorInReport: true },
      );
    });
  });
}
