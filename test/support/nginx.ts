import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from '../harness.js';

export interface Nginx {
  url: string;
  pid: number;
  stop: () => Promise<void>;
}

/**
 * @param inside content of its single `server` block
 * @returns null if nginx is not installed
 */
export async function startNginx(inside: string): Promise<Nginx | null> {
  if (spawnSync('nginx', ['-v'], { stdio: 'ignore' }).error !== undefined) return null;
  const home = await mkdtemp(join(tmpdir(), 'aos-nginx-'));
  const port = await findFreePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${home};`);
  await writeFile(
    join(home, 'nginx.conf'),
    `daemon off; master_process off; pid ${home}/pid; error_log stderr error;
     events { worker_connections 256; }
     http { access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000; ${temporary.join(' ')}
       server { listen 127.0.0.1:${port}; ${inside} } }`,
  );
  const child = spawn('nginx', ['-p', home, '-c', join(home, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await waitUntil('nginx listens', () => isListening(port));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await gone;
    await rm(home, { recursive: true });
  };
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.once('error', () => resolve(false)).once('connect', () => socket.destroy());
  });
