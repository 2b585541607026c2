/**
 * Archives of `aos backup` and `aos export`: written whole or not at all, and read strictly
 * (contract 95, command line).
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { ArchiveHead } from '../../../adapters/archive/container/head.js';
import { readEntryText, readArchive } from '../../../adapters/archive/container/reader.js';
import { ArchiveRejectedError } from '../../../adapters/archive/container/archive-rejected-error.js';
import { createTextEntry, writeArchive, type ArchiveEntry } from '../../../adapters/archive/container/writer.js';
import { getRejection } from '../../harness.js';
import { buildGzip, buildTar } from '../../support/archives.js';
import { HOSTILE_ARCHIVES } from '../../support/hostile-archives.js';

const HEAD: ArchiveHead = {
  format: 'aos-archive',
  format_version: 1,
  kind: 'backup',
  version: '1.0.0',
  created_at: '2026-11-24T10:00:00.000Z',
  engine: 'sqlite',
  releases: false,
  keys: {},
  migrations: null,
};

describe('archive files', () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-archive-'));
    path = join(folder, 'a.tar.gz');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function* listed(...entries: ArchiveEntry[]): AsyncGenerator<ArchiveEntry> {
    yield* entries;
  }
  const contents = async (): Promise<Record<string, string>> => {
    const found: Record<string, string> = {};
    await readArchive(path, null, async (entry, content) => {
      found[entry.path] = await readEntryText(entry, content, 1024 * 1024);
    });
    return found;
  };
  const refusal = async (): Promise<string> => {
    const error = await getRejection(contents());
    expect(error).to.be.instanceOf(ArchiveRejectedError);
    expect(error.message).to.include(path);
    return error.message;
  };

  it('restores any content from a file that only its owner can read', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 6 }), async (all) => {
        await rm(path, { force: true });
        const entries = all.map((bytes, n) => ({ path: `store/${n}`, size: bytes.length, content: [bytes] }));
        const written = await writeArchive(path, HEAD, listed(...entries));
        expect(written.bytes).to.equal((await stat(path)).size);
        const found: Buffer[] = [];
        const { head } = await readArchive(path, 'backup', async (_entry, content) => {
          const pieces: Uint8Array[] = [];
          for await (const piece of content) pieces.push(Buffer.from(piece));
          found.push(Buffer.concat(pieces));
        });
        expect(head).to.deep.equal(HEAD);
        expect(found.map((one) => one.toString('hex'))).to.deep.equal(
          all.map((one) => Buffer.from(one).toString('hex')),
        );
      }),
      { numRuns: 20 },
    );
    if (process.platform !== 'win32') expect((await stat(path)).mode & 0o777).to.equal(0o600);
  });

  it('does not overwrite an existing file, and leaves nothing behind after a failure', async () => {
    await writeFile(path, 'mine');
    expect((await getRejection(writeArchive(path, HEAD, listed()))).message).to.match(
      /already exists: choose another file/,
    );
    expect(await readFile(path, 'utf8')).to.equal('mine');
    const short = join(folder, 'short.tar.gz');
    const less = { path: 'a', size: 5, content: [Buffer.from('abc')] };
    expect((await getRejection(writeArchive(short, HEAD, listed(less)))).message).to.match(
      /changed while it was being copied/,
    );
    const other = { ...createTextEntry('a', 'abc'), sha256: '0'.repeat(64) };
    expect((await getRejection(writeArchive(short, HEAD, listed(other)))).message).to.match(
      /changed while it was being copied/,
    );
    expect((await getRejection(writeArchive(join(folder, 'no', 'x'), HEAD, listed()))).message).to.match(
      /check that its folder exists/,
    );
    expect(await readdir(folder)).to.deep.equal(['a.tar.gz']);
  });

  it('rejects an archive with any changed byte', async () => {
    await writeArchive(path, HEAD, listed(createTextEntry('a', 'first'), createTextEntry('b', 'second')));
    const tar = gunzipSync(await readFile(path));
    await fc.assert(
      fc.asyncProperty(fc.nat(tar.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
        const changed = Buffer.from(tar);
        changed[at] = (changed[at] ?? 0) ^ by;
        await writeFile(path, gzipSync(changed));
        const read = await contents().catch((error: unknown) => error);
        // What stands in the header for people (owner, time) changes nothing; every content does.
        if (!(read instanceof Error)) expect(read).to.deep.equal({ a: 'first', b: 'second' });
      }),
      { numRuns: 150 },
    );
  });

  it('rejects a truncated archive', async () => {
    await writeArchive(path, HEAD, listed(createTextEntry('a', 'first')));
    const whole = await readFile(path);
    for (let at = 0; at < whole.length; at += 7) {
      await writeFile(path, whole.subarray(0, at));
      await refusal();
    }
  });

  it('rejects an unlisted or missing entry, a different order, and a different kind of archive', async () => {
    const head = { name: 'archive.json', content: JSON.stringify(HEAD) };
    const hashes = (...entries: object[]) => ({ name: 'hashes.json', content: JSON.stringify({ entries }) });
    const cases: [Parameters<typeof buildTar>, RegExp][] = [
      [[{ name: 'a', content: 'x' }], /is not an AOS archive/],
      [[{ name: 'archive.json', content: '{' }], /cannot be parsed/],
      [
        [{ ...head, content: JSON.stringify({ ...HEAD, format_version: 2 }) }],
        /has format 2, but this version reads format 1/,
      ],
      [[{ ...head, content: JSON.stringify({ ...HEAD, kind: 'odd' }) }], /unknown kind/],
      [[head], /ends without hashes\.json/],
      [[head, { name: 'a', content: 'x' }, hashes()], /contains a, which its hashes\.json does not list/],
      [[head, hashes(), { name: 'a', content: 'x' }], /has a after hashes\.json/],
      [[head, hashes({ path: 'a', size: 1, sha256: '' })], /contains archive\.json|lacks/],
    ];
    for (const [entries, why] of cases) {
      await writeFile(path, buildGzip(buildTar(...entries)));
      expect(await refusal()).to.match(why);
    }
    await rm(path);
    await writeArchive(path, { ...HEAD, kind: 'export', migrations: [] }, listed());
    const error = await getRejection(readArchive(path, 'backup', () => Promise.resolve()));
    expect(error.message).to.match(/is an export: use `aos import`/);
  });

  it('rejects links, devices, paths outside the archive, sparse files and multiple gzip members', async function () {
    for (const { what, bytes, slow, only, limits } of HOSTILE_ARCHIVES) {
      if (slow === true || only !== undefined || limits !== undefined) continue;
      await writeFile(path, bytes());
      const error = await contents().catch((reason: unknown) => reason);
      expect(error, what).to.be.instanceOf(ArchiveRejectedError);
    }
  });
});
