/**
 * Compares the intake of Sentry envelopes with Bugsink (SQLite, gunicorn, its digesting process),
 * installed by pip.
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createEnvelopeSource } from '../support/sentry-envelope.js';
import { UNLIMITED, type Workload } from './measure.js';
import { startService, type Server } from './servers.js';
import { compare, type BenchOptions } from './throughput.js';

const PORT = 18_099;
const SETTINGS = `
BUGSINK["PHONEHOME"] = False
for quota in ("5_MINUTES", "HOUR", "MONTH"):
    BUGSINK["MAX_EVENTS_PER_" + quota] = BUGSINK["MAX_EVENTS_PER_PROJECT_PER_" + quota] = 1_000_000_000
`;
const CREATE =
  'from projects.models import Project; p = Project.objects.create(name="b", slug="b"); print(p.id, p.sentry_key.hex)';

export async function measurePeers(options: BenchOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'aos-peers-'));
  const servers: Server[] = [];
  try {
    const own = await startService(UNLIMITED);
    servers.push(own);
    await own.run?.(['project', 'create', 'bench']);
    const { token } = (await own.run?.(['token', 'create', '--name', 'b', '--scopes', 'bugtracker:report'])) ?? {};
    const peer = await startBugsink(folder);
    servers.push(peer.server);
    options.print(`\nSentry envelopes, until each server has processed them`);
    await compare(options, [
      { server: own, work: createWork('/api/1/envelope/', String(token)) },
      { server: peer.server, work: createWork(peer.path, peer.key) },
    ]);
  } finally {
    for (const server of servers) await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const createWork = (path: string, key: string): Workload => ({
  name: 'Sentry envelopes',
  method: 'POST',
  path,
  createBody: createEnvelopeSource(200, 4096),
  contentType: 'application/x-sentry-envelope',
  headers: { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${key}` },
});

async function startBugsink(folder: string): Promise<{ server: Server; path: string; key: string }> {
  const home = join(folder, 'home');
  const env = { ...process.env, PYTHONPATH: home };
  const bin = (program: string): string => join(folder, 'python', 'bin', program);
  const run = async (program: string, ...args: string[]): Promise<string> =>
    (await promisify(execFile)(program, args, { cwd: home, env })).stdout;
  await mkdir(home);
  await run('python3', '-m', 'venv', join(folder, 'python'));
  await run(bin('pip'), 'install', '--quiet', 'bugsink', 'gunicorn');
  await run(bin('bugsink-create-conf'), '--template=singleserver', '--host=127.0.0.1', `--base-dir=${home}`);
  await appendFile(join(home, 'bugsink_conf.py'), SETTINGS);
  await run(bin('bugsink-manage'), 'migrate');
  await run(bin('bugsink-manage'), 'migrate', '--database=snappea');
  const [, id = '', key = ''] =
    /^(\d+) (\w+)$/m.exec(await run(bin('bugsink-manage'), 'shell', '-v', '0', '-c', CREATE)) ?? [];
  const start = (program: string, ...args: string[]): ChildProcess =>
    spawn(bin(program), args, { cwd: home, env, stdio: 'ignore' });
  const workers = 2 * availableParallelism() + 1;
  const processes = [
    start('gunicorn', `--bind=127.0.0.1:${PORT}`, `--workers=${workers}`, 'bugsink.wsgi'),
    start('bugsink-runsnappea'),
  ];
  const url = `http://127.0.0.1:${PORT}`;
  while ((await fetch(url, { redirect: 'manual' }).catch(() => null)) === null) await pause(200);
  const server: Server = {
    name: 'Bugsink',
    url,
    pids: async () => (await Promise.all(processes.map(({ pid = 0 }) => listProcesses(pid)))).flat(),
    waitUntilDone: async () => {
      while ((await countFiles(join(home, 'ingestion'))) > 0) await pause(100);
    },
    stop: async () => processes.forEach((child) => void child.kill()),
  };
  return { server, path: `/api/${id}/envelope/`, key };
}

/** Returns the process and its descendants (Linux). */
async function listProcesses(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return [pid, ...(await Promise.all(children.split(' ').filter(Boolean).map(Number).map(listProcesses))).flat()];
}

async function countFiles(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).length;
}
