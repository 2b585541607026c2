/**
 * Whom root's agent believes (contract 90, whom it believes and where it writes): the attacks of
 * the table in docs/update-agent-trust.md, as three users, by the executable, and by the compiled
 * program where that was not built. Users are numbers: nothing is added to the system.
 */
import { expect } from 'chai';
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, lchown, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scaleRepeats } from '../../../support/repeat-budget.js';
import { createKeys, ReleaseServer, sha256, type SourceFile } from '../../../support/release-server.js';
import { waitUntil } from '../../../harness.js';
import { atTerminal, hasTerminal } from './terminal.js';
import { install, MAIN, offlinePackage, remove, scratch, treeOf, type Ran } from './agent.js';
import { isRequired } from '../../../support/requirements.js';

const EXECUTABLE = join(
  dirname(fileURLToPath(import.meta.url)),
  '..',
  '..',
  '..',
  '..',
  '..',
  'build',
  'agent',
  'update-agent-linux-x64',
);
const REQUIRED = isRequired('agent');
type Program = readonly [string, ...string[]];
const COMPILED: Readonly<Record<string, Program>> = { 'the compiled program': [process.execPath, MAIN] };
const BUILT: Readonly<Record<string, Program>> = { 'the executable': [EXECUTABLE] };
/**
 * The executable is the compiled program, and what users run; both where there is more time, as in
 * `.ci/run`.
 */
const PROGRAMS = { ...(existsSync(EXECUTABLE) && scaleRepeats(1) === 1 ? {} : COMPILED), ...BUILT };

const OWNER = 12_345;
const STRANGER = 23_456;
const SECRET = 'geheim-geheim-1';
const isRoot = process.getuid?.() === 0;
const keys = createKeys();
const pin = sha256(keys.spki);
const OLD: SourceFile[] = [{ path: 'app.txt', content: 'old' }];
const NEW: SourceFile[] = [{ path: 'app.txt', content: 'new' }];
const account = `Basic ${Buffer.from(`admin:${SECRET}`).toString('base64')}`;

interface Settings {
  env?: Record<string, string>;
  cwd?: string;
  uid?: number;
  started?: (pid: number) => void;
}

for (const [name, [command, ...first]] of Object.entries(PROGRAMS))
  describe(`update-agent: trust boundaries, ${name}`, function () {
    let honest: ReleaseServer;
    let evil: ReleaseServer;
    let work: string;
    let dir: string;
    let bin: string;
    let project: string;

    before(function () {
      if (!isRoot || process.platform !== 'linux') this.skip();
      if (command === EXECUTABLE && !REQUIRED && !existsSync(EXECUTABLE)) this.skip();
    });
    beforeEach(async () => {
      project = `t${randomBytes(6).toString('hex')}`;
      [honest, evil] = [new ReleaseServer(keys), new ReleaseServer(keys)];
      await Promise.all([honest.start(), evil.start()]);
      work = await scratch();
      await chmod(work, 0o755);
      dir = join(work, 'app');
      await mkdir(dir, { mode: 0o755 });
      const old = { version: '1.0.0', product: project, files: OLD };
      const next = { version: '1.1.0', product: project, files: NEW };
      await install(dir, honest.publish(old));
      await offlinePackage(join(work, 'package'), honest.publish(next), keys);
      for (const release of [old, next]) evil.publish(release);
      bin = join(work, 'bin');
      await mkdir(bin);
      await systemctl(bin, 'calls');
    });
    afterEach(async () => {
      await Promise.all([honest.stop(), evil.stop()]);
      await remove(`/etc/update-agent/${project}.json`);
      for (const base of ['/etc', '/var/lib']) await remove(join(base, project));
      await remove(work);
    });

    /** Writes who called it, with what, and its environment. */
    const systemctl = (folder: string, log: string): Promise<void> =>
      writeFile(
        join(folder, 'systemctl'),
        `#!/bin/sh\necho "$(id -u) $*" >> ${work}/${log}\nenv >> ${work}/${log}.env\n`,
        {
          mode: 0o755,
        },
      );

    function go(args: string[], { env = {}, cwd, uid, started }: Settings = {}): Promise<Ran> {
      const around = { PATH: `${bin}:/usr/bin:/bin`, HOME: join(work, 'home'), NO_PROXY: '127.0.0.1', ...env };
      const child = spawn(command, [...first, ...args], {
        env: around,
        cwd: cwd ?? work,
        uid,
        gid: uid,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const texts = { stdout: '', stderr: '' };
      child.stdout.on('data', (piece: Buffer) => (texts.stdout += piece.toString()));
      child.stderr.on('data', (piece: Buffer) => (texts.stderr += piece.toString()));
      if (child.pid !== undefined) started?.(child.pid);
      return new Promise((resolve, reject) => {
        child.once('error', reject);
        child.once('close', (code, signal) => resolve({ code, signal, ...texts }));
      });
    }
    const offline = (): string[] => ['--package', join(work, 'package', 'package.tar.gz'), '--pin', pin, '--dir', dir];

    async function give(path: string, uid: number): Promise<void> {
      for (const one of await readdir(path, { recursive: true })) await lchown(join(path, one), uid, uid);
      await chown(path, uid, uid);
    }

    async function says(folder: string, values: object, uid: number, mode = 0o600): Promise<void> {
      await mkdir(join(folder, '.update-agent'), { recursive: true, mode: 0o700 });
      await writeFile(join(folder, '.update-agent', 'agent.json'), JSON.stringify(values));
      await chmod(join(folder, '.update-agent', 'agent.json'), mode);
      await give(join(folder, '.update-agent'), uid);
    }

    async function rootSays(values: object, mode = 0o600): Promise<void> {
      await mkdir('/etc/update-agent', { recursive: true, mode: 0o755 });
      await writeFile(`/etc/update-agent/${project}.json`, JSON.stringify(values));
      await chmod(`/etc/update-agent/${project}.json`, mode);
    }
    const calls = (): Promise<string> => readFile(join(work, 'calls'), 'utf8').catch(() => '');

    describe('agent.json', () => {
      it('of the owner cannot redirect root’s password to another server', async () => {
        await says(dir, { server: evil.url, username: 'admin', project }, OWNER);
        await give(dir, OWNER);
        const env = { SVC_PASSWORD: SECRET };
        const bare = await go(['--dir', dir], { env });
        expect(bare.code, bare.stdout + bare.stderr).to.equal(64);
        expect(bare.stdout).to.match(
          /^WARNING: .*agent\.json is below a directory of another user \(12345\): its server, username, project are ignored/,
        );
        expect(bare.stderr).to.include('--server is missing');
        honest.allowed = [account];
        const named = await go(['--dir', dir, '--server', honest.url, '--username', 'admin'], { env });
        expect(named.code, named.stdout + named.stderr).to.equal(0);
        expect(named.stdout).to.include('UPDATED: 1.0.0 -> 1.1.0');
        expect((await stat(join(dir, 'app.txt'))).uid).to.equal(OWNER);
        expect(evil.asked).to.deep.equal([]);
      });

      it('of another user in a world-writable current directory is ignored by install', async () => {
        const open = join(work, 'open');
        await mkdir(open);
        await says(open, { server: evil.url, username: 'admin', project }, STRANGER);
        await chmod(open, 0o1777);
        const env = { SVC_PASSWORD: SECRET };
        for (const args of [
          ['--action', 'install', '--yes'],
          ['--current-version', '1.0.0', '--username', 'admin', '--project', project],
        ]) {
          const ran = await go(args, { cwd: open, env });
          expect(ran.code, ran.stdout + ran.stderr).to.be.oneOf([9, 64]);
          expect(ran.stderr).to.match(/--server is missing|open is writable by others/);
        }
        expect(evil.asked).to.deep.equal([]);
        expect(await readdir(open)).to.deep.equal(['.update-agent']);
      });

      it('of another user is ignored in a directory that root specifies', async () => {
        await says(dir, { server: evil.url, username: 'admin' }, STRANGER);
        const ran = await go(['--dir', dir], { env: { SVC_PASSWORD: SECRET } });
        expect(ran.code, ran.stdout).to.be.oneOf([9, 64]);
        expect(ran.stdout).to.match(/WARNING: .*belongs to another user \(23456\) and is ignored/);
        expect(evil.asked).to.deep.equal([]);
      });

      it('of the owner is ignored for another user', async () => {
        await says(dir, { server: evil.url }, OWNER, 0o644);
        await chmod(join(dir, '.update-agent'), 0o755);
        const ran = await go(['--dir', dir], { uid: STRANGER });
        expect(ran.code).to.be.oneOf([9, 64]);
        expect(evil.asked).to.deep.equal([]);
      });

      it('of the owner is used for the owner, and rejected when other users can write to it', async () => {
        await says(dir, { server: honest.url, project }, OWNER);
        await give(dir, OWNER);
        const ran = await go(['--dir', dir], { uid: OWNER });
        expect(ran.code, ran.stderr).to.equal(0);
        await chmod(join(dir, '.update-agent', 'agent.json'), 0o666);
        expect((await go(['--dir', dir], { uid: OWNER })).code).to.equal(64);
      });

      it('of root that the owner cannot read exits 9 with missing permissions (S-rights)', async () => {
        await give(dir, OWNER);
        await says(dir, { server: honest.url, project }, 0);
        const ran = await go(['--dir', dir], { uid: OWNER });
        expect(ran.code, ran.stderr).to.equal(9);
      });

      it('of the owner can add restrictions: require-signed', async () => {
        honest.keys = null;
        const unsigned = honest.publish({ version: '1.2.0', product: project, files: NEW });
        expect(unsigned.signature).to.equal(null);
        await says(dir, { 'require-signed': true }, OWNER);
        await give(dir, OWNER);
        expect((await go(['--dir', dir, '--server', honest.url])).code).to.equal(3);
      });

      it('of the owner cannot lift restrictions, and causes a warning for each allow-…', async () => {
        honest.keys = null;
        honest.publish({ version: '1.2.0', product: project, files: NEW });
        await says(dir, { 'allow-unsigned': true, allow_http: true, 'allow-targets': 'true', 'allow-all': {} }, OWNER);
        await give(dir, OWNER);
        const ran = await go(['--dir', dir, '--server', honest.url, '--require-signed']);
        expect(ran.code, ran.stdout + ran.stderr).to.equal(3);
        expect(ran.stdout).to.match(
          /^WARNING: .*: its allow-unsigned, allow-http, allow-targets, allow-all are ignored for root/,
        );
      });

      it('given by --config is used by root only if no other user can write to it', async () => {
        await give(dir, OWNER);
        const put = async (folder: string, uid: number): Promise<string> => {
          const file = join(folder, 'root.json');
          await writeFile(file, JSON.stringify({ server: evil.url, username: 'admin', project }), { mode: 0o600 });
          await chown(file, uid, uid);
          return file;
        };
        const env = { SVC_PASSWORD: SECRET };
        const theirs = join(work, 'theirs');
        await mkdir(theirs);
        const places: [file: string, says: RegExp][] = [
          [await put(dir, 0), /its server, username, project are ignored for root/],
          [await put(theirs, STRANGER), /belongs to another user \(23456\) and is ignored/],
        ];
        for (const [file, says] of places) {
          const ran = await go(['--dir', dir, '--config', file], { env });
          expect(ran.code, ran.stderr).to.equal(64);
          expect(ran.stdout).to.match(says);
        }
        expect(evil.asked).to.deep.equal([]);
        const own = join(work, 'own');
        await mkdir(own);
        expect((await go(['--dir', dir, '--config', await put(own, 0)], { env })).stdout).to.not.include('WARNING');
        expect(evil.asked).to.not.deep.equal([]);
      });

      it('with a key that other users can read causes a warning', async () => {
        await says(dir, { server: honest.url, 'license-key': 'ABCDE-FGHIJ' }, 0, 0o644);
        const ran = await go(['--dir', dir]);
        expect(ran.stdout).to.match(
          /WARNING: .*agent\.json contains a license key and is readable by others; run: chmod 600/,
        );
        await chmod(join(dir, '.update-agent', 'agent.json'), 0o600);
        expect((await go(['--dir', dir])).stdout).to.not.include('readable by others');
      });
    });

    describe('services', () => {
      it('in the owner’s file are not restarted as root', async () => {
        await says(dir, { restart: true, service: 'ssh.service' }, OWNER);
        await give(dir, OWNER);
        const ran = await go(offline());
        expect(ran.code, ran.stderr).to.equal(0);
        expect(ran.stdout).to.match(/WARNING: .*its restart, service are ignored for root/);
        const forced = await go([...offline(), '--restart']);
        expect(forced.code, forced.stderr).to.equal(0);
        expect(await calls()).to.equal('');
      });

      it('in root’s file are stopped and started, without root’s secrets in the environment', async () => {
        await give(dir, OWNER);
        await rootSays({ restart: true, service: 'shop.service', dir });
        const ran = await go(offline(), { env: { SVC_PASSWORD: SECRET, AWS_SECRET_ACCESS_KEY: SECRET } });
        expect(ran.code, ran.stdout + ran.stderr).to.equal(0);
        expect(ran.stdout).to.not.include('has no dir');
        expect(await calls()).to.equal('0 stop shop.service\n0 start shop.service\n');
        expect(await readFile(join(work, 'calls.env'), 'utf8')).to.not.include(SECRET);
      });

      it('require a file of root for this directory, writable only by root', async () => {
        await give(dir, OWNER);
        await rootSays({ restart: true, service: 'shop.service', dir: join(work, 'other') });
        const other = await go(offline());
        expect(other.code, other.stderr).to.equal(0);
        expect(other.stdout).to.match(/WARNING: .* is for .*other and is ignored for/);
        await rootSays({ restart: true, service: 'shop.service' }, 0o644);
        expect((await go(offline())).code).to.equal(64);
        await rootSays({ restart: true, service: 'shop.service' });
        await chown(`/etc/update-agent/${project}.json`, OWNER, OWNER);
        expect((await go(offline())).code).to.equal(64);
        expect(await calls()).to.equal('');
      });

      it('do not start a program of another user in PATH or the current directory', async () => {
        const theirs = join(work, 'theirs');
        await mkdir(theirs);
        await systemctl(theirs, 'stolen');
        await give(theirs, STRANGER);
        await writeFile(join(work, 'agent.json'), JSON.stringify({ service: 'shop.service' }), { mode: 0o600 });
        const args = [...offline(), '--restart', '--config', join(work, 'agent.json')];
        const ran = await go(args, { cwd: theirs, env: { PATH: `${theirs}::.:${bin}:/usr/bin:/bin` } });
        expect(ran.code, ran.stderr).to.equal(0);
        expect(await calls()).to.equal('0 stop shop.service\n0 start shop.service\n');
        expect(existsSync(join(work, 'stolen'))).to.equal(false);
      });
    });

    it('pass none of root’s secrets to the owner’s child process', async () => {
      await give(dir, OWNER);
      const held = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
      let root = 0;
      const secrets = { SVC_PASSWORD: SECRET, DATABASE_URL: SECRET, HTTPS_PROXY: `http://u:${SECRET}@127.0.0.1:9` };
      const running = go([...offline(), '--wait-for-pid', String(held.pid), '--username', 'admin'], {
        env: { ...secrets, SVC_PRODUCT_KEY: 'ABCDE-FGHIJ-KLMNO', SVC_SET_PASSWORD: SECRET, TZ: 'UTC' },
        started: (pid) => (root = pid),
      });
      try {
        let child = '';
        await waitUntil('the child is at work', async () => {
          child =
            (await readFile(`/proc/${root}/task/${root}/children`, 'utf8').catch(() => '')).trim().split(' ')[0] ?? '';
          return child !== '' && existsSync(join(dir, '.update-agent', 'staging'));
        });
        const environ = (await readFile(`/proc/${child}/environ`, 'utf8')).split('\0').filter((one) => one !== '');
        const names = environ.map((one) => one.split('=')[0]);
        expect(
          names.filter(
            (one) =>
              ![
                'PATH',
                'HOME',
                'LANG',
                'TZ',
                'USER',
                'UPDATE_AGENT_CHILD',
                'NODE_CHANNEL_FD',
                'NODE_CHANNEL_SERIALIZATION_MODE',
              ].includes(one ?? ''),
          ),
        ).to.deep.equal([]);
        const all = environ.join(' ') + (await readFile(`/proc/${child}/cmdline`, 'utf8'));
        expect(all).to.not.include(SECRET).and.not.include('ABCDE-FGHIJ');
        const status = await readFile(`/proc/${child}/status`, 'utf8');
        expect(status).to.match(/^Uid:\s12345\s12345\s12345\s12345$/m);
        expect(status).to.match(/^Groups:\s*$/m);
        // Its own session: it cannot type at root's terminal.
        expect((await readFile(`/proc/${child}/stat`, 'utf8')).split(') ')[1]?.split(' ')[3]).to.equal(child);
      } finally {
        held.kill('SIGKILL');
      }
      expect((await running).code).to.equal(0);
    });

    it('prompt for root’s password before the child uses the terminal', async function () {
      if (!hasTerminal) this.skip();
      await give(dir, OWNER);
      honest.allowed = [account];
      // Anyone who answers the question tells which processes there were then.
      const family = join(work, 'family');
      const ran = await atTerminal(
        ['--dir', dir, '--server', honest.url, '--username', 'admin', '--project', project],
        [{ when: 'Password of admin: ', type: `${SECRET}\n` }],
        { env: { PATH: '/usr/bin:/bin' }, command: [command, ...first], family },
      );
      expect(ran.code, ran.screen).to.equal(0);
      expect(ran.screen).to.include('UPDATED: 1.0.0 -> 1.1.0').and.not.include(SECRET);
      expect(await readFile(family, 'utf8'), 'children of the agent while it asks').to.equal('');
    });

    describe('--dir', () => {
      it('exits 9 for a symlink of the owner, at the end of the path or above it, and changes nothing', async () => {
        const home = join(work, 'home');
        await mkdir(home);
        const victims = join(work, 'victims');
        await mkdir(victims);
        execFileSync('cp', ['-a', dir, join(victims, 'app')]);
        await symlink(join(victims, 'app'), join(home, 'app'));
        await symlink(victims, join(home, 'link'));
        await give(home, OWNER);
        const before = await treeOf(victims);
        for (const typed of [join(home, 'app'), join(home, 'link', 'app'), join(home, 'link', 'new')])
          for (const action of ['update', 'install', 'recover', 'configure']) {
            const ran = await go([
              '--action',
              action,
              '--package',
              join(work, 'package', 'package.tar.gz'),
              '--pin',
              pin,
              '--dir',
              typed,
            ]);
            expect(ran.code, `${action} ${typed}: ${ran.stderr}`).to.equal(9);
            expect(ran.stderr).to.match(/is a link to .*nothing was changed/);
          }
        expect(await treeOf(victims)).to.deep.equal(before);
        expect(existsSync(join(victims, 'app', '.update-agent'))).to.equal(false);
        await give(victims, OWNER);
        expect((await go(['--dir', join(home, 'app'), '--action', 'recover'], { uid: OWNER })).code).to.equal(9);
      });

      it('exits 9 below a directory of another user, who could replace the installation', async () => {
        const theirs = join(work, 'theirs');
        await mkdir(theirs);
        execFileSync('cp', ['-a', dir, join(theirs, 'app')]);
        await give(join(theirs, 'app'), OWNER);
        await chown(theirs, STRANGER, STRANGER);
        for (const typed of [join(theirs, 'app'), join(theirs, 'new')]) {
          const ran = await go([
            '--action',
            'install',
            '--package',
            join(work, 'package', 'package.tar.gz'),
            '--pin',
            pin,
            '--dir',
            typed,
          ]);
          expect(ran.code, ran.stderr).to.equal(9);
          expect(ran.stderr).to.match(/theirs belongs to another user \(23456\); nothing was changed/);
        }
        expect(await readdir(theirs)).to.deep.equal(['app']);
      });
    });

    describe('setup.json', () => {
      const wants = async (target: object, product = project): Promise<void> => {
        const setup = { schema: 1, values: [{ name: 'x', default: 'planted', targets: [target] }] };
        await install(dir, honest.publish({ version: '1.0.0', product, files: OLD, setup }));
      };
      const configure = (...args: string[]): Promise<Ran> =>
        go(['--action', 'configure', '--dir', dir, '--yes', ...args]);

      it('rejects the location home as root', async () => {
        await mkdir(join(work, 'home'));
        await wants({ location: 'home', file: '.bashrc', format: 'env', key: 'PATH' });
        const ran = await configure('--allow-targets');
        expect(ran.code, ran.stderr).to.equal(1);
        expect(ran.stderr).to.include('the location home is not allowed as root');
        expect(await readdir(join(work, 'home'))).to.deep.equal([]);
      });

      it('rejects a slug that names a system directory', async () => {
        const before = await treeOf('/etc/profile.d').catch(() => null);
        await wants({ location: 'config', file: 'x.sh', format: 'env', key: 'PATH' }, 'profile.d');
        const ran = await configure('--allow-targets');
        expect(ran.code, ran.stderr).to.equal(1);
        expect(ran.stderr).to.include('profile.d is the name of a system directory');
        const named = await go([
          '--action',
          'install',
          '--project',
          'profile.d',
          '--server',
          honest.url,
          '--dir',
          join(work, 'n'),
          '--license-key',
          'ABCDE',
        ]);
        expect(named.code, named.stderr).to.equal(64);
        expect(await treeOf('/etc/profile.d').catch(() => null)).to.deep.equal(before);
      });

      it('leaves a directory that the agent did not create unchanged', async () => {
        await mkdir(join('/etc', project));
        await wants({ location: 'config', file: 'x.env', format: 'env', key: 'X' });
        const ran = await configure('--allow-targets');
        expect(ran.code, ran.stderr).to.equal(9);
        expect(ran.stderr).to.include(`/etc/${project} was not created by the agent`);
        expect(await readdir(join('/etc', project))).to.deep.equal([]);
        await writeFile(join('/etc', project, '.made-by-update-agent'), '');
        expect((await configure('--allow-targets')).code).to.equal(0);
      });

      it('accepts with --yes previously allowed targets, and no new targets', async () => {
        await wants({ location: 'config', file: 'x.env', format: 'env', key: 'X' });
        const rejected = await configure();
        expect(rejected.code, rejected.stderr).to.equal(64);
        expect(rejected.stderr).to.include(`/etc/${project}/x.env`).and.include('--allow-targets');
        expect(existsSync(join('/etc', project))).to.equal(false);
        expect((await configure('--allow-targets')).code).to.equal(0);
        expect(await readFile(join('/etc', project, 'x.env'), 'utf8')).to.equal('X=planted\n');
        const again = await configure('--set', 'x=other');
        expect(again.code, again.stderr).to.equal(0);
        expect(await readFile(join('/etc', project, 'x.env'), 'utf8')).to.equal('X=other\n');
        await wants({ location: 'data', file: 'y.env', format: 'env', key: 'X' });
        expect((await configure()).code).to.equal(64);
        expect(existsSync(join('/var/lib', project))).to.equal(false);
      });
    });

    it('ignores Node and OpenSSL environment variables in the executable', async function () {
      if (command !== EXECUTABLE) this.skip();
      // Anyone who opens one of these waits for ever.
      const pipe = join(work, 'pipe');
      execFileSync('mkfifo', [pipe]);
      const folder = join(work, 'written');
      const readers = ['OPENSSL_CONF', 'OPENSSL_CONF_INCLUDE', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'];
      const writers = [
        'NODE_V8_COVERAGE',
        'NODE_COMPILE_CACHE',
        'NODE_REDIRECT_WARNINGS',
        'NODE_ICU_DATA',
        'OPENSSL_MODULES',
      ];
      const env = {
        ...Object.fromEntries(readers.map((variable) => [variable, pipe])),
        ...Object.fromEntries(writers.map((variable) => [variable, folder])),
        NODE_OPTIONS: `--require ${pipe}`,
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
        NODE_PATH: folder,
        NODE_DEBUG_NATIVE: 'INSPECTOR_PROFILER',
        NODE_PENDING_DEPRECATION: '1',
      };
      const ran = await go(['--dir', dir, '--server', honest.url], { env });
      expect(ran.code, ran.stderr).to.equal(0);
      expect(ran.stderr).to.equal('');
      expect(ran.stdout).to.include('UPDATED: 1.0.0 -> 1.1.0');
      expect(existsSync(folder)).to.equal(false);
    });
  });
