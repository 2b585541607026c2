/** The real program in a temporary data directory: started by its command line, ready when it says so, ended by its id. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from '../../adapters/cli/usage.js';
import { loadConfig } from '../../config/load.js';
import { compose, type Service } from '../../config/compose/compose.js';
import { until } from '../harness.js';
import { SHORT_NODE } from './programs.js';
import { isUsual, PASSWORD_COST, prepare, prepareKeys } from './prepared.js';
import { within } from './within.js';
import { watch } from './work.js';

export const CLI = fileURLToPath(new URL('../../main.js', import.meta.url));
/**
 * How the program is run: most starts here live for seconds. A service that works for minutes is several times slower
 * with these options: benchmarks set `asUsersRunIt`.
 */
const programOf = (cli: string, asUsersRunIt = false): string[] => [...(asUsersRunIt ? [] : SHORT_NODE), cli];
export const PROGRAM = programOf(CLI);
export const ADMIN = { username: 'admin', password: 'correct-horse-battery-staple' };
export const SHARED_KEY = 'shared-key-for-tests-only-0123456789';

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Environment of a service of its own; nothing of the caller's `SVC_` settings leaks in. */
export function serviceEnv(dataDir: string, extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_')));
  return {
    ...env,
    SVC_DATA_DIR: dataDir,
    SVC_PORT: '0',
    SVC_LOG_LEVEL: 'warn',
    SVC_ADMIN_USER: ADMIN.username,
    SVC_ADMIN_PASSWORD: ADMIN.password,
    SVC_SHARED_KEY: SHARED_KEY,
    // A start would copy what `npm run build:agent` has made: some hundred megabytes.
    SVC_SETUP__BUILT_AGENTS: 'build/none',
    ...extra,
  };
}

/** `aos …` to its end. */
export function aos(env: NodeJS.ProcessEnv, args: readonly string[], input = ''): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...PROGRAM, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin.end(input);
  });
}

/** `aos … --json`, parsed. @throws when it fails */
export async function aosJson<T = Record<string, unknown>>(
  env: NodeJS.ProcessEnv,
  args: readonly string[],
  input = '',
): Promise<T> {
  const { code, stdout, stderr } = await aos(env, [...args, '--json'], input);
  if (code !== 0) throw new Error(`aos ${args.join(' ')} → ${code}: ${stdout}${stderr}`);
  return JSON.parse(stdout) as T;
}

/**
 * A plugin's command as `aos` runs it, on the same store, in this process: a test that only wants a project, a token or an
 * account does not pay for a start of the program. What `aos` itself does is tested by `aos` and `aosJson`.
 */
export async function command<T = Record<string, unknown>>(
  env: NodeJS.ProcessEnv,
  words: readonly string[],
  input = '',
): Promise<T> {
  const configuration = await loadConfig({ env });
  const service = await compose('command', { configuration, threads: false });
  await service.boot();
  try {
    return (await runOn(service, words, input)) as T;
  } finally {
    await service.stop();
  }
}

/** The answer of a plugin's command on a service that runs in this process. */
async function runOn(service: Service, [domain = '', verb = '', ...words]: readonly string[], input = '') {
  const name = `${domain} ${verb}`;
  const found = service.kernel.commands().find(({ spec }) => spec.name === name);
  if (found === undefined || found.reason !== null) throw new Error(`aos ${name}: ${found?.reason ?? 'unknown'}`);
  const { args, options } = parse(found.spec, words);
  return (await found.spec.run({ args, options, stdin: () => Promise.resolve(input) })).json;
}

/** Far beyond what any answer takes, and below what the suites of the browser have. */
const UNANSWERED_MS = 100_000;

export interface Answer {
  status: number;
  body: Record<string, unknown>;
  headers: Headers;
}

/** The log of a service in this process would come between the lines of the runner. */
export const QUIET = { SVC_LOG_LEVEL: 'error', SVC_LOG__SLOW_MS: '60000' };

export class TestService {
  /** Services run without the options of short tests. */
  static asUsersRunIt = false;
  child: ChildProcess | null = null;
  /** The program: another version of it, for tests of upgrades. */
  cli = CLI;
  url = '';
  stdout = '';
  stderr = '';
  /** The service itself, when it runs in this process. */
  #here: Service | null = null;
  private constructor(
    readonly dataDir: string,
    readonly env: NodeJS.ProcessEnv,
    private readonly own: boolean,
  ) {}

  /**
   * A service not started yet, in a directory as a first start leaves it (prepared.ts) unless the settings want another.
   * @param dataDir shared with another process; otherwise a temporary one, removed by `dispose`
   */
  static async create(
    extra: Record<string, string> = {},
    dataDir?: string,
    passwordCost?: number,
  ): Promise<TestService> {
    const service = await TestService.first(extra, dataDir);
    if (dataDir === undefined && isUsual(extra)) await prepare(service.dataDir, serviceEnv, passwordCost);
    return service;
  }

  /** The same in an empty directory: its start is the first. */
  static async first(extra: Record<string, string> = {}, dataDir?: string): Promise<TestService> {
    const dir = dataDir ?? (await mkdtemp(join(tmpdir(), 'aos-test-')));
    return new TestService(dir, serviceEnv(dir, extra), dataDir === undefined);
  }

  static async started(extra: Record<string, string> = {}, dataDir?: string): Promise<TestService> {
    const service = await TestService.create(extra, dataDir);
    await service.start();
    return service;
  }

  /**
   * The whole service, listening, in this process: for tests of what it answers, which neither end nor look at the
   * program. A start of the program costs three times as much.
   */
  static async here(extra: Record<string, string> = {}): Promise<TestService> {
    const service = await TestService.create({ ...QUIET, ...extra }, undefined, PASSWORD_COST);
    await service.startHere();
    return service;
  }

  /** The same in a directory with nothing but keys: its start is the first. */
  static async firstHere(extra: Record<string, string> = {}): Promise<TestService> {
    const service = await TestService.first({ ...QUIET, ...extra });
    await prepareKeys(service.dataDir, serviceEnv);
    await service.startHere();
    return service;
  }

  /** Starts what was created, or has ended, in this process: for tests of what it then answers. */
  async startHere(): Promise<void> {
    const configuration = await loadConfig({ env: { ...this.env, ...QUIET } });
    this.#here = await compose('serve', { configuration, passwordCost: PASSWORD_COST });
    this.url = (await this.#here.boot()).address ?? '';
  }

  /** Runs a job of a service in this process, after the run that is under way: each repeating job runs at the start. */
  async runJob(name: string): Promise<void> {
    const service = this.#here;
    if (service === null) throw new Error('the service is not in this process');
    await until(`a run of the job ${name} begins`, () => service.jobs.runNow(name));
  }

  /** Resolves with the milliseconds until it listened. */
  start(args: string[] = ['serve']): Promise<number> {
    const passed = watch();
    const words = [...programOf(this.cli, TestService.asUsersRunIt), ...args];
    const child = spawn(process.execPath, words, { env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    this.stdout = '';
    this.stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString('utf8')));
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => reject(new Error(`the service ended with ${code}: ${this.stdout}${this.stderr}`)));
      child.stdout.on('data', (chunk: Buffer) => {
        this.stdout += chunk.toString('utf8');
        const url = /^listening on (http\S+)$/m.exec(this.stdout)?.[1];
        if (url === undefined || this.url === url) return;
        this.url = url;
        resolve(passed());
      });
    });
  }

  /** Ends the process and waits for its end. Answers its exit code, null after a signal. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const child = this.child;
    this.child = null;
    this.url = '';
    await this.#here?.stop();
    this.#here = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    return new Promise((resolve) => {
      child.on('close', (code) => resolve(code));
      child.kill(signal);
    });
  }

  async dispose(): Promise<void> {
    await this.end('SIGKILL');
    if (this.own) await rm(this.dataDir, { recursive: true, force: true });
  }

  /** A plugin's command, beside the program or on the service in this process. */
  async command<T = Record<string, unknown>>(words: readonly string[], input = ''): Promise<T> {
    return this.#here === null ? command<T>(this.env, words, input) : ((await runOn(this.#here, words, input)) as T);
  }

  /** A project and a token with these scopes. */
  async token(scopes: string, project?: string): Promise<string> {
    const only = project === undefined ? [] : ['--project', project];
    const words = ['token', 'create', '--name', 'test', '--scopes', scopes, ...only];
    return (await this.command<{ token: string }>(words)).token;
  }

  async project(slug: string): Promise<void> {
    await this.command(['project', 'create', slug]);
  }

  async request(method: string, path: string, token: string | null, body?: unknown): Promise<Answer> {
    const asked = fetch(this.url + path, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const response = await within(`${method} ${path}`, UNANSWERED_MS, asked);
    const text = await response.text();
    return {
      status: response.status,
      body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
      headers: response.headers,
    };
  }
}
