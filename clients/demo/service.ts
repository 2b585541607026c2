import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const CURRENT_FOLDER = dirname(fileURLToPath(import.meta.url));

export const print = (text = ''): void => void process.stdout.write(`${text}\n`);

export class DemoStopped extends Error {}

export function stopDemo(reason: string): never {
  throw new DemoStopped(reason);
}

export async function getServiceUrl(): Promise<string> {
  if (process.env['SVC_URL'] !== undefined) return process.env['SVC_URL'];
  const file = join(process.env['SVC_DATA_DIR'] ?? 'data', 'server.json');
  try {
    return (JSON.parse(await readFile(file, 'utf8')) as { url: string }).url;
  } catch {
    return stopDemo(`No running service found (${file} is not there). Start it with: npm start`);
  }
}

export async function runAosCommand(args: readonly string[], input = ''): Promise<Record<string, unknown>> {
  const cli = join(CURRENT_FOLDER, '..', '..', 'main.js');
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [cli, ...args, '--json'], { stdio: ['pipe', 'pipe', 'inherit'] });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(stdout) as Record<string, unknown>);
      else reject(new DemoStopped(`aos ${args.join(' ')} → exit ${code}: ${stdout}`));
    });
    child.stdin.end(input);
  });
}

export async function callApi<T>(url: string, token: string, method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as T & { error?: { message: string; fields?: object } };
  if (!response.ok) stopDemo(`${method} ${path} → ${response.status}: ${JSON.stringify(answer.error)}`);
  return answer;
}

export class DemoTokens {
  readonly #made: string[] = [];

  async create(name: string, scopes: string, ...more: string[]): Promise<string> {
    const words = ['token', 'create', '--name', `demo ${name}`, '--scopes', scopes, '--expires-in', '3600'];
    const { id, token } = await runAosCommand([...words, ...more]);
    this.#made.push(String(id));
    return String(token);
  }

  async revoke(): Promise<void> {
    for (const id of this.#made.splice(0)) await runAosCommand(['token', 'revoke', id]);
  }
}
