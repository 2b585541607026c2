/**
 * Installers on the file system: what was built is placed, what somebody changed is left alone
 * (contract 60, installer).
 */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { FsInstallers } from '../../../adapters/fs/installers.js';
import { getRejection } from '../../harness.js';

const AGENT = 'update-agent-linux-x64';
const manifest = (version: string, more: object = {}): string =>
  JSON.stringify({
    schema: 1,
    version,
    generated_at: '2026-11-20T08:00:00.000Z',
    files: [{ name: AGENT, runtime: 'linux-x64', kind: 'agent', size: 5, sha256: 'a'.repeat(64), ...more }],
  });

describe('fs: installers', () => {
  let root: string;
  let installers: FsInstallers;
  const built = (name: string, text: string): Promise<void> => writeFile(join(root, 'built', name), text);
  const given = (name: string): Promise<string> => readFile(join(root, 'given', name), 'utf8');
  const text = async (encoding: 'br' | 'gzip' | null): Promise<string | null> => {
    const file = await installers.open(AGENT, encoding);
    if (file === null) return null;
    const pieces: Uint8Array[] = [];
    for await (const piece of file.read(0, file.size)) pieces.push(piece);
    return Buffer.concat(pieces).toString();
  };

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'aos-installers-'));
    await mkdir(join(root, 'built'));
    installers = new FsInstallers(join(root, 'given'), join(root, 'built'));
  });

  afterEach(() => rm(root, { recursive: true }));

  it('returns no installers before a build, and creates no folder', async () => {
    expect(await installers.place()).to.deep.equal([]);
    expect(await installers.readManifest()).to.equal(null);
    expect(await installers.open(AGENT, null)).to.equal(null);
    expect(await readdir(root)).to.deep.equal(['built']);
  });

  it('stores the built files once with the manifest last, and replaces them after a new build', async () => {
    await built(AGENT, 'one');
    await built(`${AGENT}.br`, 'one br');
    await built('installer.json', manifest('1.0.0'));
    expect(await installers.place()).to.deep.equal([AGENT, `${AGENT}.br`, 'installer.json']);
    expect(await installers.place()).to.deep.equal([]);
    expect([await text(null), await text('br'), await text('gzip')]).to.deep.equal(['one', 'one br', null]);
    expect((await installers.readManifest())?.version).to.equal('1.0.0');
    await built(AGENT, 'two, newer');
    await built('installer.json', manifest('1.1.0'));
    const again = new FsInstallers(join(root, 'given'), join(root, 'built'));
    expect(await again.place()).to.deep.equal([AGENT, 'installer.json']);
    expect((await installers.readManifest())?.version).to.equal('1.1.0');
    expect(await text(null)).to.equal('two, newer');
  });

  it('reports the version while it copies the files, and null when nothing remains to copy', async () => {
    expect(await installers.announce()).to.equal(false);
    await built(AGENT, 'one');
    await built('installer.json', manifest('1.0.0'));
    expect(await installers.announce()).to.equal(true);
    expect(installers.getPendingManifest()?.version).to.equal('1.0.0');
    expect(await installers.readManifest()).to.equal(null);
    await installers.place();
    expect(installers.getPendingManifest()).to.equal(null);
    expect(await installers.announce()).to.equal(false);
    expect(installers.getPendingManifest()).to.equal(null);
    await built(AGENT, 'two, newer');
    await built('installer.json', manifest('1.1.0'));
    expect(await installers.announce()).to.equal(true);
    expect([installers.getPendingManifest()?.version, (await installers.readManifest())?.version]).to.deep.equal([
      '1.1.0',
      '1.0.0',
    ]);
    await rm(join(root, 'built', AGENT));
    await mkdir(join(root, 'built', AGENT));
    await installers.place();
    expect(installers.getPendingManifest()).to.equal(null);
  });

  it('preserves files that were added or changed by others', async () => {
    await built(AGENT, 'one');
    await built('installer.json', manifest('1.0.0'));
    await mkdir(join(root, 'given'));
    await writeFile(join(root, 'given', AGENT), 'signed by hand');
    expect(await installers.place()).to.deep.equal(['installer.json']);
    await writeFile(join(root, 'given', 'installer.json'), manifest('0.9.0'));
    await built('installer.json', manifest('1.1.0'));
    expect(await installers.place()).to.deep.equal([]);
    expect(await given(AGENT)).to.equal('signed by hand');
    expect((await installers.readManifest())?.version).to.equal('0.9.0');
  });

  it('restores deleted files', async () => {
    await built(AGENT, 'one');
    await built('installer.json', manifest('1.0.0'));
    await installers.place();
    await rm(join(root, 'given', AGENT));
    expect(await installers.place()).to.deep.equal([AGENT]);
  });

  it('opens no path outside its folder, no hidden file and no link', async () => {
    await mkdir(join(root, 'given'));
    await writeFile(join(root, 'secret'), 'x');
    await writeFile(join(root, 'given', '.placed.json'), '{}');
    for (const name of ['../secret', '.placed.json', '', '..', 'a/b', 'x'.repeat(200)])
      expect(await installers.open(name, null), name).to.equal(null);
  });

  it('reports the error when the manifest cannot be read', async () => {
    await mkdir(join(root, 'given'));
    const cases = [
      '{',
      '[]',
      '{"schema":2}',
      manifest('1', { name: '../x' }),
      manifest('1', { sha256: 'x' }),
      manifest('1', { size: -0.5 }),
    ];
    for (const bad of cases) {
      await writeFile(join(root, 'given', 'installer.json'), bad);
      expect((await getRejection(installers.readManifest())).message, bad).to.match(/^installer\.json: /);
    }
  });
});
