/**
 * Who reads the password hashes of the release store on this machine (contract 40, files). Real
 * users where the tests run as root.
 */
import { spawnSync } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { resolveAccessMode, type AccessMode } from '../../../../adapters/fs/access-mode.js';
import { correctModes } from '../../../../adapters/fs/file-modes.js';
import { FsReleaseStore } from '../../../../adapters/fs/release-store.js';
import { getRejection } from '../../../harness.js';

const ROOT = process.getuid?.() === 0;
const SERVICE = 61_001;
const STRANGER = 61_002;
const WEB = 61_003;
const TEXT = '# aos-access format=3 product=shop\nadmin:$2y$12$hash\n';

describe('.htpasswd on a machine with other users', () => {
  let data = '';
  const store = (): string => join(data, 'releases');
  const file = (): string => join(store(), 'shop', '.htpasswd');
  const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o7777).toString(8);
  const written = async (access: AccessMode): Promise<void> => {
    await correctModes({ dataDir: data, store: store(), others: [] }, access);
    await new FsReleaseStore(store(), access).access.write('shop', '.htpasswd', TEXT);
    await new FsReleaseStore(store(), access).access.write('shop', '.htaccess', TEXT);
  };
  const reads = (uid: number, gid: number, path = file()): boolean =>
    spawnSync('/bin/cat', [path], { uid, gid }).status === 0;

  beforeEach(async () => {
    data = await mkdtemp(join(tmpdir(), 'aos-readers-'));
    await mkdir(join(store(), 'shop'), { recursive: true });
  });
  afterEach(() => rm(data, { recursive: true, force: true }));

  it('is readable only by the service without a web server', async () => {
    await written(await resolveAccessMode({ web_group: null, web_path: null }));
    expect(await modeOf(file())).to.equal('600');
    expect(await modeOf(join(store(), 'shop', '.htaccess'))).to.equal('644');
  });

  it('stays readable with a web server and no configured group, so that an upgrade locks no one out', async () => {
    await writeFile(file(), TEXT, { mode: 0o644 });
    await written(await resolveAccessMode({ web_group: null, web_path: '/srv/releases' }));
    expect(await modeOf(file())).to.equal('644');
  });

  it('gets the current mode when written by an earlier version or left behind by a crash', async () => {
    const left = join(store(), 'shop', '.ht-019ab');
    for (const path of [file(), left]) await writeFile(path, TEXT, { mode: 0o644 });
    const gid = process.getgid?.() ?? 0;
    const access = await resolveAccessMode({ web_group: String(gid), web_path: null });
    await correctModes({ dataDir: data, store: store(), others: [] }, access);
    for (const path of [file(), left]) {
      expect(await modeOf(path)).to.equal('640');
      expect((await stat(path)).gid).to.equal(gid);
    }
    await correctModes(
      { dataDir: data, store: store(), others: [] },
      await resolveAccessMode({ web_group: null, web_path: null }),
    );
    for (const path of [file(), left]) expect(await modeOf(path)).to.equal('600');
  });

  it('resolves groups by name and by number, and reports invalid groups', async () => {
    const rejected = async (web_group: string): Promise<string> =>
      (await getRejection(resolveAccessMode({ web_group, web_path: null }))).message;
    expect(await rejected('no-such-group-here')).to.equal('is not a group of this machine');
    if (ROOT)
      expect(await resolveAccessMode({ web_group: 'root', web_path: null })).to.deep.equal({ mode: 0o640, gid: 0 });
    else
      expect(await rejected('4294967')).to.match(
        /^is a group that this process does not belong to: add its user to it/,
      );
  });

  describe('with other users on the machine', () => {
    before(function () {
      if (!ROOT) this.skip();
    });
    beforeEach(async () => {
      for (const path of [data, store(), join(store(), 'shop')]) await chown(path, SERVICE, SERVICE);
    });

    it('is readable by the service, by the web server through its group, and by no other user', async () => {
      await written(await resolveAccessMode({ web_group: null, web_path: null }));
      expect([reads(SERVICE, SERVICE), reads(STRANGER, STRANGER), reads(WEB, WEB)]).to.deep.equal([true, false, false]);
      await correctModes(
        { dataDir: data, store: store(), others: [] },
        await resolveAccessMode({ web_group: String(WEB), web_path: null }),
      );
      expect([reads(SERVICE, SERVICE), reads(STRANGER, STRANGER), reads(WEB, WEB)]).to.deep.equal([true, false, true]);
      await rm(file());
      await written(await resolveAccessMode({ web_group: String(WEB), web_path: '/srv' }));
      expect([reads(SERVICE, SERVICE), reads(STRANGER, STRANGER), reads(WEB, WEB)]).to.deep.equal([true, false, true]);
    });

    it('is owned by the service after any write, including by a command run as root', async () => {
      await written(await resolveAccessMode({ web_group: null, web_path: null }));
      expect(await stat(file())).to.include({ uid: SERVICE, gid: SERVICE });
      expect(reads(SERVICE, SERVICE)).to.equal(true);
    });

    it('is returned to the service after a command of an earlier version changed the owner to root', async () => {
      await writeFile(file(), TEXT);
      await chmod(file(), 0o644);
      await correctModes(
        { dataDir: data, store: store(), others: [] },
        await resolveAccessMode({ web_group: null, web_path: null }),
      );
      expect(await stat(file())).to.include({ uid: SERVICE });
      expect(reads(SERVICE, SERVICE)).to.equal(true);
    });
  });
});
