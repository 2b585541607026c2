import { expect } from 'chai';
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  readDiscoveredFile,
  readConfiguredFile,
  readOwnedFile,
  requireRestrictedFile,
  requireOwnedFile,
} from '../../../lib/files/trusted-file.js';

const STRANGER = 54_321;

describe('lib: untrusted files', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-trusted-'));
    file = join(folder, 'key');
    await writeFile(file, 'text');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const said = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => '',
      ({ message }: Error) => message,
    );

  it('include files writable by everyone, or by a group other than the process’s or folder’s', async function () {
    if (process.platform === 'win32') this.skip();
    expect(await readOwnedFile(file)).to.equal('text');
    for (const mode of [0o600, 0o644, 0o660]) {
      await chmod(file, mode);
      expect(await said(requireOwnedFile(file)), mode.toString(8)).to.equal('');
    }
    await chmod(file, 0o602);
    for (const read of [readOwnedFile, readConfiguredFile, requireRestrictedFile, requireOwnedFile])
      expect(await said(read(file))).to.match(/key is writable by every user: .*chmod go-w/);
    if (process.geteuid?.() !== 0) return;
    await chown(file, 0, STRANGER);
    await chmod(file, 0o660);
    expect(await said(readOwnedFile(file))).to.contain(`is writable by group ${STRANGER}`);
    await chown(folder, 0, STRANGER);
    expect(await said(readOwnedFile(file))).to.equal('');
  });

  it('include files of another user, except that root trusts the owner of the folder (as root)', async function () {
    if (process.geteuid?.() !== 0) this.skip();
    await chown(file, STRANGER, STRANGER);
    expect(await said(readOwnedFile(file))).to.contain(`belongs to user ${STRANGER}, but this is user 0`);
    expect(await readConfiguredFile(file)).to.equal('text');
    await chown(folder, STRANGER, STRANGER);
    expect(await readOwnedFile(file)).to.equal('text');
  });

  it('include unnamed files in a folder where everyone may create files', async function () {
    if (process.platform === 'win32') this.skip();
    expect(await readDiscoveredFile(file)).to.equal('text');
    expect(await said(readDiscoveredFile(join(folder, 'none')))).to.contain('ENOENT');
    await chmod(folder, 0o777);
    expect(await said(readDiscoveredFile(file))).to.contain(`${folder} is writable by every user`);
    await chmod(folder, 0o1777);
    expect(await readDiscoveredFile(file)).to.equal('text');
    if (process.geteuid?.() !== 0) return;
    await chown(file, STRANGER, STRANGER);
    expect(await said(readDiscoveredFile(file))).to.contain(`belongs to user ${STRANGER}, but this is user 0`);
    await chmod(folder, 0o755);
    expect(await readDiscoveredFile(file)).to.equal('text');
  });

  it('include only folders in which everyone may replace every file, and no missing folder', async function () {
    if (process.platform === 'win32') this.skip();
    const shared = join(folder, 'shared');
    await mkdir(shared);
    await chmod(shared, 0o1777);
    expect(await said(requireRestrictedFile(shared))).to.equal('');
    await chmod(shared, 0o777);
    expect(await said(requireRestrictedFile(shared))).to.contain('is writable by every user');
    expect(await said(requireOwnedFile(shared, 'file'))).to.equal('');
    expect(await said(requireOwnedFile(join(folder, 'none')))).to.equal('');
    expect(await said(readConfiguredFile('/dev/null'))).to.equal('');
  });
});
