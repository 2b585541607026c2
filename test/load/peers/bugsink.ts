/**
 * Bugsink as its guide for one server sets it up: SQLite, gunicorn with two workers a core and one more, and the process
 * that digests events behind them. Its quotas are lifted, as our limits are, and it does not call home.
 */
import { appendFile, mkdir, readdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { answering, ended, environment, family, freePort } from './python.js';

const QUOTA = 1_000_000_000;
const SETTINGS = `
BUGSINK["PHONEHOME"] = False
for quota in ("5_MINUTES", "HOUR", "MONTH"):
    BUGSINK["MAX_EVENTS_PER_" + quota] = BUGSINK["MAX_EVENTS_PER_PROJECT_PER_" + quota] = ${QUOTA}
`;
const PROJECT = 'from projects.models import Project; p = Project.objects.create(name="bench", slug="bench")';
const shell = (python: string): string[] => ['shell', '--verbosity', '0', '-c', python];

export interface Peer {
  /** With its version. */
  name: string;
  url: string;
  path: string;
  headers: Record<string, string>;
  pids: () => Promise<number[]>;
  /** Resolves once all that it has taken is digested. */
  settled: () => Promise<void>;
  stop: () => Promise<void>;
}

/** @param folder an empty one. @throws NotToBeHad */
export async function bugsink(folder: string): Promise<Peer> {
  const python = await environment(join(folder, 'python'), ['bugsink', 'gunicorn']);
  const home = join(folder, 'bugsink');
  await mkdir(home);
  const conf = ['--template=singleserver', '--host=127.0.0.1', `--base-dir=${home}`];
  await python.run('bugsink-create-conf', conf, home);
  await appendFile(join(home, 'bugsink_conf.py'), SETTINGS);
  const manage = (...args: string[]): Promise<string> => python.run('bugsink-manage', args, home);
  await manage('migrate');
  await manage('migrate', '--database=snappea');
  const made = await manage(...shell(`${PROJECT}; print("made", p.id, p.sentry_key.hex)`));
  const [, id = '', key = ''] = /^made (\d+) (\w+)$/m.exec(made) ?? [];
  const port = await freePort();
  const workers = 2 * availableParallelism() + 1;
  const server = python.start('gunicorn', [`--bind=127.0.0.1:${port}`, `--workers=${workers}`, 'bugsink.wsgi'], home);
  const digester = python.start('bugsink-runsnappea', [], home);
  const stop = async (): Promise<void> => void (await Promise.all([server, digester].map(ended)));
  const url = `http://127.0.0.1:${port}`;
  try {
    await answering(url);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    name: `Bugsink ${await python.version('bugsink')}, gunicorn ${await python.version('gunicorn')}`,
    url,
    path: `/api/${id}/envelope/`,
    headers: { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${key}` },
    pids: async () => (await Promise.all([server, digester].map(({ pid = 0 }) => family(pid)))).flat(),
    settled: async () => {
      while ((await waiting(home)) > 0) await new Promise((resolve) => setTimeout(resolve, 100));
    },
    stop,
  };
}

/** Events that lie in files until they are digested. */
async function waiting(home: string): Promise<number> {
  const found = await readdir(join(home, 'ingestion'), { recursive: true, withFileTypes: true }).catch(() => []);
  return found.filter((entry) => entry.isFile()).length;
}
