/**
 * What of a machine survives an update: preserved files, settings of setup.json, changed files
 * (contract 90).
 */
import { expect } from 'chai';
import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createKeys, ReleaseServer, type SourceFile } from '../../support/release-server.js';
import { install, remove, runAlike, scratch, type Ran } from './agent.js';

const keys = createKeys();

describe('update-agent: user files', () => {
  let server: ReleaseServer;
  let dir: string;
  const go = (...args: string[]): Promise<Ran> =>
    runAlike(['--server', server.url, '--dir', dir, '--channel', 'stable', ...args]);
  const read = (path: string): Promise<string> => readFile(join(dir, path), 'utf8');
  const write = async (path: string, content: string): Promise<void> => {
    await mkdir(dirname(join(dir, path)), { recursive: true, mode: 0o755 });
    await writeFile(join(dir, path), content);
  };
  const install10 = async (files: SourceFile[], more: { preserve?: string[]; setup?: object } = {}): Promise<void> => {
    const { setup, ...rest } = more;
    await install(dir, server.publish({ version: '1.0.0', files, ...rest, ...(setup && { setup: { ...setup } }) }));
    server.releases.length = 0;
  };

  beforeEach(async () => {
    server = new ReleaseServer(keys);
    await server.start();
    dir = await scratch();
  });
  afterEach(async () => {
    await server.stop();
    await remove(dir);
  });

  it('preserves files of the installed version’s patterns when the new version has no patterns (S04)', async () => {
    await install10([{ path: 'conf/app.json', content: '{"default":1}' }], { preserve: ['conf/*.json'] });
    await write('conf/app.json', '{"mine":1}');
    server.publish({ version: '1.1.0', files: [{ path: 'conf/app.json', content: '{"default":2}' }] });
    expect((await go()).code).to.equal(0);
    expect(await read('conf/app.json')).to.equal('{"mine":1}');
  });

  const CASES: [name: string, installed: string | null, onDisk: string, offered: string, kept: string | null][] = [
    ['a file of the user where a new one comes', null, 'mine', 'new', 'mine'],
    ['a packaged file that the user changed', 'old', 'old, changed', 'new', 'old, changed'],
    ['a packaged file as it was installed', 'old', 'old', 'new', null],
    ['a file of the user that equals the new one', null, 'new', 'new', null],
  ];
  for (const [name, installed, onDisk, offered, kept] of CASES)
    it(`${kept === null ? 'replaces' : 'keeps as .local'} ${name}`, async () => {
      await install10([
        { path: 'same', content: '1' },
        ...(installed === null ? [] : [{ path: 'etc/a.txt', content: installed }]),
      ]);
      await write('etc/a.txt', onDisk);
      server.publish({ version: '1.1.0', files: [{ path: 'etc/a.txt', content: offered }] });
      const ran = await go();
      expect(ran.code, ran.stderr).to.equal(0);
      expect(await read('etc/a.txt')).to.equal(offered);
      expect(await read('etc/a.txt.local').catch(() => null)).to.equal(kept);
      expect(ran.stderr.includes('it was saved as etc/a.txt.local')).to.equal(kept !== null);
    });

  it('numbers the .local files and never overwrites an existing file', async () => {
    await install10([{ path: 'a.txt', content: '1' }]);
    for (const n of [2, 3]) {
      await write('a.txt', `changed ${n}`);
      server.publish({ version: `1.${n}.0`, files: [{ path: 'a.txt', content: String(n) }] });
      expect((await go()).code).to.equal(0);
    }
    expect([await read('a.txt.local'), await read('a.txt.local.2')]).to.deep.equal(['changed 2', 'changed 3']);
  });

  it('updates to a small package of zeros with a compression ratio above 200 (S-ratio)', async () => {
    await install10([{ path: 'zeros.bin', content: '1' }]);
    server.publish({ version: '1.1.0', files: [{ path: 'zeros.bin', content: Buffer.alloc(2 << 20) }] });
    const ran = await go();
    expect(ran, ran.stderr).to.include({ code: 0, stdout: 'UPDATED: 1.0.0 -> 1.1.0\n' });
  });

  describe('a preserved folder that is not writable', () => {
    const files = (n: number): SourceFile[] => [
      { path: 'app.txt', content: String(n) },
      { path: 'data/seed.json', content: '{}' },
    ];

    it('updates when the folder is a link, and leaves the link target unchanged (S16)', async () => {
      await install10(files(1), { preserve: ['data/**'] });
      const volume = await scratch();
      await writeFile(join(volume, 'seed.json'), 'mine');
      await remove(join(dir, 'data'));
      await symlink(volume, join(dir, 'data'));
      server.publish({ version: '1.1.0', files: files(2), preserve: ['data/**'] });
      const ran = await go();
      expect(ran).to.include({ code: 0, stdout: 'UPDATED: 1.0.0 -> 1.1.0\n' });
      expect(await readFile(join(volume, 'seed.json'), 'utf8')).to.equal('mine');
      await remove(volume);
    });

    it('updates when the folder belongs to another user, and lists its missing files (S16)', async () => {
      await install10(files(1), { preserve: ['data/**'] });
      await remove(join(dir, 'data', 'seed.json'));
      await chmod(join(dir, 'data'), 0o777);
      server.publish({ version: '1.1.0', files: files(2), preserve: ['data/**'] });
      const ran = await go();
      expect(ran.code, ran.stderr).to.equal(0);
      expect(ran.stdout).to.include('WARNING: data/seed.json is preserved and was not created');
    });
  });

  describe('settings of setup.json', () => {
    const setup = {
      schema: 1,
      values: [
        {
          name: 'password',
          type: 'secret',
          targets: [
            { file: 'app.json', key: 'db:password' },
            { file: 'app.ini', key: 'db:password' },
          ],
        },
      ],
    };
    const packaged = (more: string): SourceFile[] => [
      { path: 'app.json', content: `{ "db": { "password": "changeme"${more} } }` },
      { path: 'app.ini', content: '[db]\npassword = changeme\n' },
    ];
    const fill = async (): Promise<void> => {
      await write('app.json', '{ "db": { "password": "s3cret" } }');
      await chmod(join(dir, 'app.json'), 0o600);
      await write('app.ini', '; mine\n[db]\npassword = s3cret\n');
    };

    it('leaves a settings file unchanged when the package did not change the file (S03)', async () => {
      await install10(packaged(''), { setup });
      await fill();
      server.publish({ version: '1.1.0', files: packaged(''), setup });
      expect((await go()).code).to.equal(0);
      expect(await read('app.json')).to.equal('{ "db": { "password": "s3cret" } }');
      expect(await read('app.ini')).to.equal('; mine\n[db]\npassword = s3cret\n');
    });

    it('merges the values into a file that the package changed, and applies the file’s mode (S03)', async () => {
      await install10(packaged(''), { setup });
      await fill();
      server.publish({ version: '1.1.0', files: packaged(', "pool": 5'), setup });
      expect((await go()).code).to.equal(0);
      expect(JSON.parse(await read('app.json'))).to.deep.equal({ db: { password: 's3cret', pool: 5 } });
      expect((await stat(join(dir, 'app.json'))).mode & 0o777).to.equal(0o600);
      expect(await read('app.json.local')).to.equal('{ "db": { "password": "s3cret" } }');
    });

    it('merges the values again at the next update', async () => {
      await install10(packaged(''), { setup });
      await fill();
      for (const [version, more] of [
        ['1.1.0', ', "pool": 5'],
        ['1.2.0', ', "pool": 6'],
      ] as const) {
        server.publish({ version, files: packaged(more), setup });
        expect((await go()).code).to.equal(0);
      }
      expect(JSON.parse(await read('app.json'))).to.deep.equal({ db: { password: 's3cret', pool: 6 } });
    });

    it('replaces a file that cannot be parsed, keeps the old file and reports the error', async () => {
      await install10(packaged(''), { setup });
      await write('app.json', '{ "db": ');
      server.publish({ version: '1.1.0', files: packaged(', "pool": 5'), setup });
      const ran = await go();
      expect(ran.code, ran.stderr).to.equal(0);
      expect(ran.stdout).to.match(/WARNING: app\.json: settings were not merged: /);
      expect(await read('app.json.local')).to.equal('{ "db": ');
    });
  });
});
