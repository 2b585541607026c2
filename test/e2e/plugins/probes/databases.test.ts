/**
 * Probes of real databases, each where this machine has its server (Debian: postgresql,
 * mariadb-server, redis-server).
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { validateProbe } from '../../../../plugins/probes/model/probe-schema.js';
import { probesOn } from '../../../plugins/probes/fixture.js';
import { waitUntil } from '../../../harness.js';

const FOLDERS = [
  ...(process.env['PATH'] ?? '').split(delimiter),
  '/usr/sbin',
  ...['13', '14', '15', '16', '17', '18'].map((version) => `/usr/lib/postgresql/${version}/bin`),
];
const find = (name: string): string | undefined =>
  FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path));

/** The user of a system account; PostgreSQL does not run as root. */
function account(name: string): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const [, , uid, gid] =
    readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((line) => line.startsWith(`${name}:`))
      ?.split(':') ?? [];
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

type Start = (folder: string, port: number) => ChildProcess;

const SERVERS: Readonly<Record<string, Start | null>> = {
  redis: ((program) =>
    program === undefined
      ? null
      : (folder: string, port: number) =>
          spawn(program, ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder], {
            stdio: 'ignore',
          }))(find('redis-server')),
  postgresql: ((program, initdb) =>
    program === undefined || initdb === undefined
      ? null
      : (folder: string, port: number) => {
          const user = account('postgres');
          if (user !== null) chownSync(folder, user.uid, user.gid);
          const [data, password] = [join(folder, 'data'), join(folder, 'password')];
          writeFileSync(password, 'secret', { mode: 0o644 });
          const made = ['-D', data, '-A', 'scram-sha-256', `--pwfile=${password}`, '-N'];
          execFileSync(initdb, made, { stdio: 'ignore', cwd: folder, ...user });
          const words = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder];
          return spawn(program, words, { stdio: 'ignore', cwd: folder, ...user });
        })(find('postgres'), find('initdb')),
  mysql: ((program, install) =>
    program === undefined || install === undefined
      ? null
      : (folder: string, port: number) => {
          const user = process.getuid?.() === 0 ? ['--user=root'] : [];
          const data = `--datadir=${join(folder, 'data')}`;
          execFileSync(install, ['--no-defaults', data, ...user], { stdio: 'ignore' });
          const words = ['--no-defaults', data, ...user, `--port=${port}`, '--bind-address=127.0.0.1'];
          return spawn(program, [...words, `--socket=${join(folder, 's')}`], { stdio: 'ignore' });
        })(find('mariadbd'), find('mariadb-install-db')),
};

describe('probes: databases', function () {
  const { asker } = probesOn(new MemoryStore());

  for (const [kind, start] of Object.entries(SERVERS))
    it(`accept a real ${kind} server, and fail when it is stopped`, async function () {
      if (start === null) this.skip();
      const folder = mkdtempSync(join(tmpdir(), 'aos-db-'));
      const probe = validateProbe({ kind, host: '127.0.0.1', port: await freePort(), timeout_ms: 30_000 });
      const server = start(folder, (probe as { port: number }).port);
      const ended = new Promise((resolve) => server.once('exit', resolve));
      try {
        await waitUntil('it answers', async () => (await asker.run(probe)).ok);
      } finally {
        server.kill('SIGKILL');
        await ended;
        rmSync(folder, { recursive: true, force: true });
      }
      expect(await asker.run(probe)).to.include({ ok: false, message: 'Connection refused' });
    });
});
