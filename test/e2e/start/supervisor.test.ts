/**
 * The service under a supervisor that listens as systemd does: its words, and that they end when
 * the event loop stands still.
 */
import { expect } from 'chai';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPackageRoot } from '../../../config/load.js';
import { readSupervisorEnv } from '../../../config/supervisor-env.js';
import { prepareDataDir } from '../../support/prepared-data-dir.js';
import { buildServiceEnv } from '../../support/service.js';

/** Prints each datagram on a line of its own. */
const LISTENER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('bound', flush=True)
while True:
    data, fds, flags, addr = socket.recv_fds(s, 4096, 4)
    for fd in fds:
        import os
        os.close(fd)
    print(data.decode().strip(), flush=True)
`;

describe('service supervisor', () => {
  it('is detected by its environment variables, only for its own child process', () => {
    expect(readSupervisorEnv({}, 7)).to.equal(null);
    expect(readSupervisorEnv({ NOTIFY_SOCKET: '' }, 7)).to.equal(null);
    expect(readSupervisorEnv({ NOTIFY_SOCKET: 'relative' }, 7)).to.equal(null);
    const socket = '/run/systemd/notify';
    expect(readSupervisorEnv({ NOTIFY_SOCKET: socket }, 7)).to.deep.equal({ socket, everyMs: null });
    const watched = { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '60000000' };
    expect(readSupervisorEnv(watched, 7)).to.deep.equal({ socket, everyMs: 20_000 });
    expect(readSupervisorEnv({ ...watched, WATCHDOG_PID: '7' }, 7)?.everyMs).to.equal(20_000);
    expect(readSupervisorEnv({ ...watched, WATCHDOG_PID: '8' }, 7)?.everyMs).to.equal(null);
    expect(readSupervisorEnv({ ...watched, WATCHDOG_USEC: 'x' }, 7)?.everyMs).to.equal(null);
  });

  describe('receives notifications from the running service', () => {
    let folder: string;
    const children: ChildProcess[] = [];
    before(async function () {
      for (const program of ['systemd-notify', 'python3']) {
        if (spawnSync(program, ['--version']).error) this.skip();
      }
      folder = await mkdtemp(join(tmpdir(), 'aos-notify-'));
    });
    afterEach(() => {
      for (const child of children.splice(0)) child.kill('SIGKILL');
    });
    after(() => (folder === undefined ? undefined : rm(folder, { recursive: true })));

    it('when it is ready, alive and stopping', async function () {
      const socket = join(folder, 'notify');
      const listener = spawn('python3', ['-c', LISTENER, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
      children.push(listener);
      let words = '';
      const heard = (pattern: RegExp): Promise<void> =>
        new Promise((resolve, reject) => {
          const look = (): boolean => pattern.test(words);
          if (look()) return resolve();
          const onData = (): void => {
            if (!look()) return;
            listener.stdout.off('data', onData);
            resolve();
          };
          listener.stdout.on('data', onData);
          listener.once('exit', () => reject(new Error(`the listener ended; it heard ${words}`)));
        });
      listener.stdout.on('data', (data: Buffer) => (words += data.toString()));
      await heard(/bound/);

      await prepareDataDir(join(folder, 'data'), buildServiceEnv);
      const service = spawn(process.execPath, [join(findPackageRoot(), 'dist', 'main.js'), 'serve'], {
        env: {
          ...process.env,
          NODE_V8_COVERAGE: undefined,
          NOTIFY_SOCKET: socket,
          WATCHDOG_USEC: '600000',
          SVC_DATA_DIR: join(folder, 'data'),
          SVC_PORT: '0',
          SVC_ADMIN_PASSWORD: 'a password for the test',
        },
        stdio: 'ignore',
      });
      children.push(service);
      await heard(/READY=1/);
      await heard(/READY=1\n(?:.*\n)*WATCHDOG=1\n(?:.*\n)*WATCHDOG=1/);
      expect(words).not.to.include('STOPPING=1');

      const ended = new Promise<number | null>((resolve) => service.once('exit', (code) => resolve(code)));
      service.kill('SIGTERM');
      await heard(/STOPPING=1/);
      expect(await ended).to.equal(0);
    });
  });
});
