import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseCommand } from '../../adapters/cli/usage.js';
import { loadConfig } from '../../config/load.js';
import { compose, type Service } from '../../config/compose/compose.js';
import { waitUntil } from '../harness.js';
import { SHORT_RUN_NODE_OPTIONS } from './programs.js';
import { hasDefaultStart, PASSWORD_COST, prepareDataDir, prepareKeys } from './prepared-data-dir.js';
import { withTimeout } from './timeout.js';
import { startStopwatch } from './cpu-time.js';

export const CLI_PATH = fileURLToPath(new URL('../../main.js', import.meta.url));
/**
 * Adds options that speed up short runs. They slow down long-running services, so benchmarks set
 * `asUsersRunIt`.
 */
const buildProgram = (cli: string, asUsersRunIt = false): string[] => [
  ...(asUsersRunIt ? [] : SHORT_RUN_NODE_OPTIONS),
  cli,
];
export const CLI_PROGRAM = buildProgram(CLI_PATH);
export const ADMIN_ACCOUNT = { username: 'admin', password: 'correct-horse-battery-staple' };
export const SHARED_KEY = 'shared-key-for-tests-only-0123456789';

export interface CommandOutcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Returns a service's environment without the caller's `SVC_` settings. */
export function buildServiceEnv(dataDir: string, extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SVC_')));
  return {
    ...env,
    SVC_DATA_DIR: dataDir,
    SVC_PORT: '0',
    SVC_LOG_LEVEL: 'warn',
    SVC_ADMIN_USER: ADMIN_ACCOUNT.username,
    SVC_ADMIN_PASSWORD: ADMIN_ACCOUNT.password,
    SVC_SHARED_KEY: SHARED_KEY,
    // Without this, a start would copy the large output of `npm run build:agent`.
    SVC_SETUP__BUILT_AGENTS: 'build/none',
    ...extra,
  };
}

export function runCli(env: NodeJS.ProcessEnv, args: readonly string[], input = ''): Promise<CommandOutcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...CLI_PROGRAM, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin.end(input);
  });
}

/**
 * Runs `aos … --json` and parses the output.
 * @throws when it fails
 */
export async function runCliJson<T = Record<string, unknown>>(
  env: NodeJS.ProcessEnv,
  args: readonly string[],
  input = '',
): Promise<T> {
  const { code, stdout, stderr } = await runCli(env, [...args, '--json'], input);
  if (code !== 0) throw new Error(`aos ${args.join(' ')} → ${code}: ${stdout}${stderr}`);
  return JSON.parse(stdout) as T;
}

/**
 * Runs a plugin's command in this process on the same store, which is faster than starting the
 * program.
 */
export async function runPluginCommand<T = Record<string, unknown>>(
  env: NodeJS.ProcessEnv,
  words: readonly string[],
  input = '',
): Promise<T> {
  const configuration = await loadConfig({ env });
  const service = await compose('command', { configuration, threads: false });
  await service.boot();
  try {
    return (await runOnService(service, words, input)) as T;
  } finally {
    await service.stop();
  }
}

async function runOnService(service: Service, [domain = '', verb = '', ...words]: readonly string[], input = '') {
  const name = `${domain} ${verb}`;
  const found = service.kernel.listCommands().find(({ spec }) => spec.name === name);
  if (found === undefined || found.reason !== null) throw new Error(`aos ${name}: ${found?.reason ?? 'unknown'}`);
  const { args, options } = parseCommand(found.spec, words);
  return (await found.spec.run({ args, options, stdin: () => Promise.resolve(input) })).json;
}

const RESPONSE_TIMEOUT_MS = 100_000;

export interface ServiceResponse {
  status: number;
  body: Record<string, unknown>;
  headers: Headers;
}

/** Keeps the log of an in-process service out of the runner's output. */
export const QUIET_LOG_SETTINGS = { SVC_LOG_LEVEL: 'error', SVC_LOG__SLOW_MS: '60000' };

export class TestService {
  /** Runs services without the options for short runs. */
  static asUsersRunIt = false;
  child: ChildProcess | null = null;
  cli = CLI_PATH;
  url = '';
  stdout = '';
  stderr = '';
  #here: Service | null = null;
  private constructor(
    readonly dataDir: string,
    readonly env: NodeJS.ProcessEnv,
    private readonly own: boolean,
  ) {}

  /**
   * Creates a service without starting it, in a prepared directory (prepared-data-dir.ts) unless
   * the settings require another.
   * @param dataDir shared with another process; otherwise a temporary one, which `dispose` removes
   */
  static async create(
    extra: Record<string, string> = {},
    dataDir?: string,
    passwordCost?: number,
  ): Promise<TestService> {
    const service = await TestService.createEmpty(extra, dataDir);
    if (dataDir === undefined && hasDefaultStart(extra))
      await prepareDataDir(service.dataDir, buildServiceEnv, passwordCost);
    return service;
  }

  /** As `create`, in an empty directory, so that its start is the first. */
  static async createEmpty(extra: Record<string, string> = {}, dataDir?: string): Promise<TestService> {
    const dir = dataDir ?? (await mkdtemp(join(tmpdir(), 'aos-test-')));
    return new TestService(dir, buildServiceEnv(dir, extra), dataDir === undefined);
  }

  static async createStarted(extra: Record<string, string> = {}, dataDir?: string): Promise<TestService> {
    const service = await TestService.create(extra, dataDir);
    await service.start();
    return service;
  }

  /** Creates and starts a service in this process, which is faster than starting the program. */
  static async createInProcess(extra: Record<string, string> = {}): Promise<TestService> {
    const service = await TestService.create({ ...QUIET_LOG_SETTINGS, ...extra }, undefined, PASSWORD_COST);
    await service.startInProcess();
    return service;
  }

  /** As `createInProcess`, in a directory with only keys, so that its start is the first. */
  static async createEmptyInProcess(extra: Record<string, string> = {}): Promise<TestService> {
    const service = await TestService.createEmpty({ ...QUIET_LOG_SETTINGS, ...extra });
    await prepareKeys(service.dataDir, buildServiceEnv);
    await service.startInProcess();
    return service;
  }

  async startInProcess(): Promise<void> {
    const configuration = await loadConfig({ env: { ...this.env, ...QUIET_LOG_SETTINGS } });
    this.#here = await compose('serve', { configuration, passwordCost: PASSWORD_COST });
    this.url = (await this.#here.boot()).address ?? '';
  }

  /**
   * Runs a job of an in-process service after the current run, because each repeating job runs at
   * the start.
   */
  async runJob(name: string): Promise<void> {
    const service = this.#here;
    if (service === null) throw new Error('the service is not in this process');
    await waitUntil(`a run of the job ${name} begins`, () => service.jobs.runNow(name));
  }

  start(args: string[] = ['serve']): Promise<number> {
    const passed = startStopwatch();
    const words = [...buildProgram(this.cli, TestService.asUsersRunIt), ...args];
    const child = spawn(process.execPath, words, { env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    this.stdout = '';
    this.stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString('utf8')));
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (code) => reject(new Error(`the service exited with ${code}: ${this.stdout}${this.stderr}`)));
      child.stdout.on('data', (chunk: Buffer) => {
        this.stdout += chunk.toString('utf8');
        const url = /^listening on (http\S+)$/m.exec(this.stdout)?.[1];
        if (url === undefined || this.url === url) return;
        this.url = url;
        resolve(passed());
      });
    });
  }

  /** Ends the process and waits for its exit. Returns the exit code, or null after a signal. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
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
    await this.stop('SIGKILL');
    if (this.own) await rm(this.dataDir, { recursive: true, force: true });
  }

  async runCommand<T = Record<string, unknown>>(words: readonly string[], input = ''): Promise<T> {
    return this.#here === null
      ? runPluginCommand<T>(this.env, words, input)
      : ((await runOnService(this.#here, words, input)) as T);
  }

  async createToken(scopes: string, project?: string): Promise<string> {
    const only = project === undefined ? [] : ['--project', project];
    const words = ['token', 'create', '--name', 'test', '--scopes', scopes, ...only];
    return (await this.runCommand<{ token: string }>(words)).token;
  }

  async createProject(slug: string): Promise<void> {
    await this.runCommand(['project', 'create', slug]);
  }

  async request(method: string, path: string, token: string | null, body?: unknown): Promise<ServiceResponse> {
    const requested = fetch(this.url + path, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const response = await withTimeout(`${method} ${path}`, RESPONSE_TIMEOUT_MS, requested);
    const text = await response.text();
    return {
      status: response.status,
      body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
      headers: response.headers,
    };
  }
}
