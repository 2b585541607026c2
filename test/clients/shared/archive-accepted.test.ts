/** What the strict reader of packages accepts: archives of ordinary trees by the tools that people use, whole and unchanged. */
import { expect } from 'chai';
import fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { PackageRejected, readPackage, type PackageContents } from '../../../clients/shared/archive.js';
import { compareCodePoints } from '../../../clients/shared/code-points.js';
import { gzipOf, packageOf, paxHeader, tarEntry, tarOf } from '../../support/archives.js';

async function* pieces(bytes: Buffer, size = 64 * 1024): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');
const read = (bytes: Buffer, entry: string | null = null, size?: number): Promise<PackageContents> =>
  readPackage(pieces(bytes, size), { platform: 'any', entry });

/** A tree as an application has it: long names, other scripts, an empty file, a program, folders in folders. */
const LONG = `node_modules/${'a-package-with-a-long-name/'.repeat(5)}${'index'.repeat(15)}.js`;
const TREE: Readonly<Record<string, { content: string; mode: '0755' | '0644' }>> = {
  'app.js': { content: 'console.log(1);\n', mode: '0644' },
  'bin/start.sh': { content: '#!/bin/sh\necho\n', mode: '0755' },
  'bin/tool': { content: 'plain', mode: '0755' },
  'data/empty': { content: '', mode: '0644' },
  'data/big.txt': { content: Array.from({ length: 40_000 }, (_, i) => `line ${i}\n`).join(''), mode: '0644' },
  'Größe/日本.txt': { content: 'ä', mode: '0644' },
  [LONG]: { content: 'long', mode: '0644' },
};
const EXPECTED = Object.entries(TREE)
  .map(([path, { content, mode }]) => ({ path, size: Buffer.byteLength(content), sha256: sha256(content), mode }))
  .toSorted((a, b) => compareCodePoints(a.path, b.path));

const has = (tool: string, ...args: string[]): boolean => {
  try {
    execFileSync(tool, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

const PYTHON = `
import sys, tarfile
with tarfile.open(sys.argv[1], 'w:gz', format=getattr(tarfile, sys.argv[3])) as t: t.add(sys.argv[2], arcname='.')
`;
const GO = `package main
import ("archive/tar"; "compress/gzip"; "io/fs"; "os"; "path/filepath")
func main() {
  out, _ := os.Create(os.Args[1]); zipped := gzip.NewWriter(out); t := tar.NewWriter(zipped)
  if err := filepath.Walk(os.Args[2], func(path string, info fs.FileInfo, err error) error {
    if err != nil { return err }
    name, _ := filepath.Rel(os.Args[2], path)
    header, err := tar.FileInfoHeader(info, ""); if err != nil { return err }
    header.Name = filepath.ToSlash(name); if info.IsDir() { header.Name += "/" }
    if err := t.WriteHeader(header); err != nil { return err }
    if info.IsDir() { return nil }
    bytes, err := os.ReadFile(path); if err != nil { return err }
    _, err = t.Write(bytes); return err
  }); err != nil { panic(err) }
  t.Close(); zipped.Close(); out.Close()
}
`;

describe('strict reading accepts', () => {
  let root: string;
  let tree: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'aos-archives-'));
    tree = join(root, 'tree');
    for (const [path, { content }] of Object.entries(TREE)) {
      await mkdir(dirname(join(tree, path)), { recursive: true });
      await writeFile(join(tree, path), content, { mode: path === 'bin/tool' ? 0o755 : 0o644 });
    }
  });
  after(() => rm(root, { recursive: true, force: true }));

  const tools: [name: string, there: () => boolean, make: (out: string) => void][] = [
    ...['gnu', 'ustar', 'pax', 'posix', 'oldgnu'].map((format): [string, () => boolean, (out: string) => void] => [
      `GNU tar, ${format}`,
      () => has('tar', '--version'),
      (out) => execFileSync('tar', ['-czf', out, `--format=${format}`, '-C', tree, '.'], { stdio: 'pipe' }),
    ]),
    ...['USTAR_FORMAT', 'GNU_FORMAT', 'PAX_FORMAT'].map((format): [string, () => boolean, (out: string) => void] => [
      `Python, ${format}`,
      () => has('python3', '--version'),
      (out) => execFileSync('python3', ['-c', PYTHON, out, tree, format]),
    ]),
    [
      'bsdtar',
      () => has('bsdtar', '--version'),
      (out) => execFileSync('bsdtar', ['-czf', out, '-C', tree, '.'], { env: { ...process.env, LC_ALL: 'C.UTF-8' } }),
    ],
    [
      '7-Zip',
      () => has('7zz'),
      (out) => {
        execFileSync('7zz', ['a', '-ttar', join(root, '7z.tar'), '.'], { cwd: tree, stdio: 'ignore' });
        execFileSync('7zz', ['a', '-tgzip', `${out}.gz`, join(root, '7z.tar')], { stdio: 'ignore' });
        execFileSync('mv', [`${out}.gz`, out]);
      },
    ],
    [
      'Go',
      () => has('go', 'version') || has('/usr/local/go/bin/go', 'version'),
      (out) => {
        execFileSync('sh', ['-c', 'cat > "$1/main.go"', 'sh', root], { input: GO });
        const go = has('go', 'version') ? 'go' : '/usr/local/go/bin/go';
        execFileSync(go, ['run', join(root, 'main.go'), out, tree], { cwd: root });
      },
    ],
  ];
  for (const [name, there, make] of tools)
    it(`an archive by ${name}`, async function () {
      this.timeout(120_000);
      if (!there()) this.skip();
      const out = join(root, `${name.replaceAll(/\W+/g, '-')}.tar.gz`);
      make(out);
      // 7-Zip leaves the modes of files away where it cannot know them; a program is known by how it begins.
      const { files } = await read(await readFile(out));
      expect(files).to.deep.equal(EXPECTED);
    });

  it('an archive by git, with its commit in a global header', async function () {
    if (!has('git', '--version')) this.skip();
    const git = (...args: string[]): Buffer =>
      execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.org', ...args], {
        cwd: tree,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    git('init', '-q');
    git('add', '-A');
    git('commit', '-q', '-m', 'x');
    const { files } = await read(git('archive', '--format=tar.gz', 'HEAD'));
    expect(files).to.deep.equal(EXPECTED);
    await rm(join(tree, '.git'), { recursive: true });
  });

  it('every field of a gzip header, and the checksum over it', async () => {
    const tar = tarOf({ name: 'a', content: 'x' });
    const fields = Buffer.concat([Buffer.from([3, 0, 1, 2, 3]), Buffer.from('name\0'), Buffer.from('comment\0')]);
    const header = Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 2 | 4 | 8 | 16, 0, 0, 0, 0, 0, 255]), fields]);
    const { crc32 } = await import('node:zlib');
    const check = Buffer.alloc(2);
    check.writeUInt16LE(crc32(header) & 0xffff);
    const bytes = gzipOf(tar, { flags: 2 | 4 | 8 | 16, fields: Buffer.concat([fields, check]) });
    expect((await read(bytes)).files.map(({ path }) => path)).to.deep.equal(['a']);
    const other = Buffer.concat([fields, Buffer.from([check[0] ?? 0, (check[1] ?? 0) ^ 1])]);
    const refused = await read(gzipOf(tar, { flags: 2 | 4 | 8 | 16, fields: other })).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(PackageRejected);
  });

  it('modes as the contract says: x bit, ELF, #!, the entry; nothing else of them', async () => {
    const bytes = packageOf(
      { name: 'x-bit', content: 'a', mode: 0o100 },
      { name: 'setuid', content: 'a', mode: 0o6644 },
      { name: 'elf', content: '\x7fELF…' },
      { name: 'script', content: '#!/bin/sh' },
      { name: 'main.dll', content: 'MZ' },
      { name: 'short', content: '#' },
      { name: 'elf-like', content: '\x7fEL' },
      { name: 'plain', content: 'a' },
    );
    const { files } = await read(bytes, 'main.dll');
    const executable = files.filter(({ mode }) => mode === '0755').map(({ path }) => path);
    expect(executable).to.deep.equal(['elf', 'main.dll', 'script', 'x-bit']);
    expect(files.filter(({ mode }) => mode === '0644')).to.have.length(4);
  });

  it('whatever pieces the bytes come in, and gives each file its content', async () => {
    const contents = new Map<string, string>();
    const bytes = packageOf({ name: 'a', content: 'first' }, paxHeader({ path: 'ä' }), {
      name: 'x',
      content: 'second'.repeat(200),
    });
    for (const size of [1, 7, 511, 512, 513, 100_000]) {
      const { files } = await readPackage(pieces(bytes, size), {
        platform: 'linux-x64',
        onFile: async ({ path }, content) => {
          const parts: Uint8Array[] = [];
          for await (const part of content) parts.push(part);
          contents.set(path, Buffer.concat(parts).toString());
        },
      });
      expect(files.map(({ path, sha256 }) => [path, sha256])).to.deep.equal([
        ['a', sha256('first')],
        ['ä', sha256('second'.repeat(200))],
      ]);
      expect([...contents]).to.deep.equal([['a', 'first'], ['ä', 'second'.repeat(200)]]); // prettier-ignore
    }
  });

  it('a file that is not read, or not to its end, and hashes it all the same', async () => {
    const content = 'x'.repeat(300_000) + Array.from({ length: 4_000 }, (_, i) => i).join('');
    const { files } = await readPackage(pieces(packageOf({ name: 'a', content }, { name: 'b', content })), {
      platform: 'any',
      onFile: async ({ path }, bytes) => {
        if (path === 'a') for await (const _ of bytes) break;
      },
    });
    expect(files.map((file) => file.sha256)).to.deep.equal([sha256(content), sha256(content)]);
  });

  it('what goes wrong outside goes through, and the source is closed', async () => {
    let closed = 0;
    async function* watched(bytes: Buffer): AsyncGenerator<Buffer> {
      try {
        yield* pieces(bytes, 100);
      } finally {
        closed++;
      }
    }
    const bytes = packageOf({ name: 'a', content: 'x' });
    const full = new Error('disk full');
    const onFile = (): Promise<void> => Promise.reject(full);
    expect(await readPackage(watched(bytes), { platform: 'any', onFile }).catch((e: unknown) => e)).to.equal(full);
    async function* breaking(): AsyncGenerator<Buffer> {
      yield bytes.subarray(0, 40);
      throw full;
    }
    expect(await readPackage(breaking(), { platform: 'any' }).catch((e: unknown) => e)).to.equal(full);
    await readPackage(watched(packageOf({ name: '/a' })), { platform: 'any' }).catch(() => undefined);
    await readPackage(watched(Buffer.from('no gzip')), { platform: 'any' }).catch(() => undefined);
    expect(closed).to.equal(3);
  });

  it('limits of one’s own', async () => {
    const bytes = packageOf({ name: 'a', content: 'x' }, { name: 'b', content: 'x' });
    const limited = (limits: object): Promise<unknown> =>
      readPackage(pieces(bytes), { platform: 'any', limits }).catch((error: unknown) => error);
    expect(await limited({ entries: 1 }))
      .to.be.instanceOf(PackageRejected)
      .with.property('entry', 'b');
    expect(await limited({ unpackedBytes: 2_000 })).to.be.instanceOf(PackageRejected);
    expect(await limited({ entries: 2, unpackedBytes: 3_072 })).to.have.property('unpackedBytes', 2);
  });

  it('any tree, and gives it back byte by byte', async function () {
    this.timeout(60_000);
    const name = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
      .filter((text) => /^[\p{L}\p{N} _-]+$/u.test(text));
    const path = fc
      .array(name, { minLength: 1, maxLength: 4 })
      .map((parts) => `t/${parts.map((p) => `${p.trim()}x`).join('/')}`);
    const file = fc.record({ path, content: fc.uint8Array({ maxLength: 2_000 }), mode: fc.constantFrom(0o644, 0o755) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(file, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 3_000 }),
        async (files, size) => {
          const bytes = gzipSync(
            tarOf(
              ...files.flatMap(({ path, content, mode }) => [
                paxHeader({ path }),
                tarEntry({ name: 'x', content: Buffer.from(content), mode }),
              ]),
            ),
          );
          const got = await read(bytes, null, size).catch((error: unknown) => error);
          // Two generated paths may be one to some file system; then it has to be refused, by that rule.
          if (got instanceof PackageRejected) {
            expect(got.why).to.match(/twice|differs|a file and a directory/);
            return;
          }
          expect((got as PackageContents).files).to.deep.equal(
            files
              .map(({ path, content, mode }) => ({
                path,
                size: content.length,
                sha256: sha256(Buffer.from(content)),
                mode: mode === 0o755 || /^(\x7fELF|#!)/.test(Buffer.from(content).toString('latin1')) ? '0755' : '0644',
              }))
              .toSorted((a, b) => compareCodePoints(a.path, b.path)),
          );
        },
      ),
      { numRuns: 300 },
    );
  });
});
