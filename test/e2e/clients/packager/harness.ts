/** The packager, as a process or in this one, and a service that answers what a test wants. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ConsoleStream } from '../../../../clients/packager/console.js';
import { runCommand } from '../../../../clients/packager/run.js';
import { resolveProgram } from '../../../support/bundled-programs.js';

/** As users run it. */
export const COMPILED = fileURLToPath(new URL('../../../../clients/packager/packager.js', import.meta.url));
const BUNDLED = resolveProgram('clients/packager/packager.js', 'packager.cjs');

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface How {
  cwd?: string;
  program?: string;
}

/** The program, without this test's own settings. */
export function startPackager(
  args: readonly string[],
  env: Record<string, string> = {},
  { cwd, program = BUNDLED }: How = {},
): Promise<Finished> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { ...inherited(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** The same without a process: for what does not need one. */
export async function packager(args: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
  const texts = { stdout: '', stderr: '' };
  const sink = (name: keyof typeof texts): ConsoleStream => ({ write: (text) => (texts[name] += text) });
  const code = await runCommand(args, { ...inherited(), ...env }, { stdout: sink('stdout'), stderr: sink('stderr') });
  return { code, ...texts };
}

const inherited = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_') && name !== 'SOURCE_DATE_EPOCH'),
  );

export interface Upload {
  url: URL;
  headers: IncomingHttpHeaders;
  body: Buffer;
  sha256: string;
}

/** A service that knows `latest.json` and `publish`. */
export class FakeService {
  readonly uploads: Upload[] = [];
  readonly asked: { url: URL; headers: IncomingHttpHeaders }[] = [];
  latest: (response: ServerResponse) => void = (response) =>
    answer(response, 200, { schema: 1, product: 'shop', channel: 'stable', latest: null, releases: [] });
  publish: (response: ServerResponse) => void = (response) =>
    answer(response, 201, { status: 'success', signed: true, closed_items: [], warnings: [], manifest_files: 1 });
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      if (request.method === 'GET') {
        this.asked.push({ url, headers: request.headers });
        this.latest(response);
        return;
      }
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const body = Buffer.concat(parts);
        this.uploads.push({
          url,
          headers: request.headers,
          body,
          sha256: createHash('sha256').update(body).digest('hex'),
        });
        this.publish(response);
      });
    });
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

export async function writeTree(root: string, tree: Readonly<Record<string, string | Buffer>>): Promise<void> {
  for (const [path, content] of Object.entries(tree)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
    await chmod(join(root, path), 0o644);
  }
}
