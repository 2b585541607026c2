/** Litestream with `deploy/litestream.yml`, and an S3-compatible server, built by prepare.sh. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { findPackageRoot } from '../../../../../config/load.js';
import { waitUntil } from '../../../../harness.js';
import { buildCleanEnv, runAndGetOutput } from '../../../../support/programs.js';
import { isAvailable } from '../../../../support/requirements.js';

const TOOLS = process.env['SVC_TEST_LITESTREAM'] ?? join(tmpdir(), `aos-test-litestream-${userInfo().uid}`);
const LITESTREAM = join(TOOLS, 'litestream');
const CONFIG = ['-config', join(findPackageRoot(), 'deploy', 'litestream.yml')];
const S3_BUCKET = 'aos';

export const hasLitestream = (): boolean => isAvailable('litestream', existsSync(join(TOOLS, '.complete')));

export class Litestream {
  log = '';
  #child: ChildProcess | null = null;
  readonly #env: NodeJS.ProcessEnv;

  constructor(
    private readonly store: string,
    replicaUrl: string,
  ) {
    const keys = { LITESTREAM_ACCESS_KEY_ID: 'key', LITESTREAM_SECRET_ACCESS_KEY: 'secret' };
    this.#env = buildCleanEnv({ ...keys, AOS_STORE: store, AOS_REPLICA_URL: replicaUrl });
    // A machine's setting for the real service, which the client of Litestream rejects.
    delete this.#env['AWS_CA_BUNDLE'];
  }

  start(): void {
    const child = spawn(LITESTREAM, ['replicate', ...CONFIG], { env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (this.log += String(chunk)));
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null) return;
    child.kill(signal);
    await once(child, 'close');
  }

  /** @throws when the replica has no snapshot yet, or the restored file is damaged */
  async restore(to = this.store): Promise<void> {
    const words = ['restore', ...CONFIG, '-integrity-check', 'full', '-o', to, this.store];
    await runAndGetOutput(LITESTREAM, words, { cwd: TOOLS, env: this.#env });
  }
}

export interface S3Server {
  replicaUrl: string;
  stop: () => Promise<void>;
}

export async function startS3Server(): Promise<S3Server> {
  const words = ['-backend', 'memory', '-initialbucket', S3_BUCKET, '-host', '127.0.0.1:0'];
  const child = spawn(join(TOOLS, 'gofakes3'), words, { stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (log += String(chunk)));
  const findPort = (): string | undefined => /port: (\d+)/.exec(log)?.[1];
  await waitUntil('the S3 server listens', () => findPort() !== undefined);
  const endpoint = `http://127.0.0.1:${findPort()}`;
  return {
    replicaUrl: `s3://${S3_BUCKET}/store?endpoint=${endpoint}&region=us-east-1&forcePathStyle=true`,
    stop: async () => {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}
