/**
 * `server.json` on a disk that is full (contract 95, command line): the server goes on, and tells
 * its address later.
 */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replaceFile } from '../../../lib/files/replace-file.js';
import { PinoLogger } from '../../../adapters/node/logger.js';
import { ServerFileWriter } from '../../../config/compose/server-file.js';
import { getRejection, waitUntil } from '../../harness.js';

const URL = 'http://127.0.0.1:8080';
const LOG = PinoLogger.create({ level: 'silent' });

describe('server.json announcement', () => {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'aos-announcement-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const file = (): string => join(folder, 'server.json');
  const announcement = (): ServerFileWriter => new ServerFileWriter((url) => replaceFile(file(), url), LOG, 5);

  describe('on a full disk (with mount, as root)', () => {
    beforeEach(async function () {
      const mount = ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder];
      if (process.getuid?.() !== 0 || spawnSync('mount', mount).status !== 0) return this.skip();
      const { bavail, bsize } = await statfs(folder);
      return writeFile(join(folder, 'ballast'), Buffer.alloc(bavail * bsize));
    });
    afterEach(() => void spawnSync('umount', [folder]));

    it('is written when space is available again', async () => {
      const it = announcement();
      await it.publish(URL);
      expect(await readdir(folder)).to.deep.equal(['ballast']);
      await rm(join(folder, 'ballast'));
      await waitUntil('server.json is there', async () => (await readdir(folder)).includes('server.json'));
      await it.stop();
      expect(await readFile(file(), 'utf8')).to.equal(URL);
    });
  });

  it('aborts the start on any other error', async () => {
    const it = new ServerFileWriter((url) => replaceFile(join(folder, 'file', 'server.json'), url), LOG);
    await writeFile(join(folder, 'file'), '');
    expect(await getRejection(it.publish(URL))).to.include({ code: 'EEXIST' });
  });
});
